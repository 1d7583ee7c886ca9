#include "coordinator/segmenter/segments/gradient_flow.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace meshwright::segmenter {
namespace {

using ir::ValueId;

void TakeEarlier(const std::optional<SegmentIndex>& other,
                 std::optional<SegmentIndex>& into) {
  if (other.has_value()) into = std::min(into.value_or(*other), *other);
}

class FlowFinder {
 public:
  explicit FlowFinder(const Placement& at) : at_(at) {}

  GradientFlow Run() {
    FindOutputOwners();
    FindFlow();
    return std::move(flow_);
  }

 private:
  // The segment that updates a parameter: the first that reads it.
  void FindOutputOwners() {
    flow_.output_owner.resize(at_.module.size());
    for (size_t p = 0; p < at_.module.parameters.size(); ++p) {
      const std::optional<int> output = at_.passes.state_output[p];
      if (!output.has_value()) continue;
      std::optional<SegmentIndex> owner;
      for (ValueId user : at_.module.at(at_.module.parameters[p]).users) {
        if (!at_.passes.forward[user]) continue;
        TakeEarlier(at_.plan.owner[user].FindSegment(), owner);
      }
      if (!owner.has_value()) continue;
      flow_.output_owner[at_.module.outputs[*output]] = owner;
    }
  }

  bool IsWeightGradient(ValueId id, const GradientMatch& match) const {
    return !match.recomputation &&
           !at_.passes.batch_derived[at_.module.at(match.forward)
                                         .operands[match.differentiated]];
  }

  void FindFlow() {
    flow_.from.resize(at_.module.size());
    flow_.to.resize(at_.module.size());
    flow_.reaches.resize(at_.module.size());
    for (const ValueId id : at_.module.ids().Reversed()) {
      if (!at_.Backward(id)) continue;
      flow_.reaches[id] = flow_.output_owner[id];
      if (at_.has_prologue && flow_.output_owner[id] == kPrologue) {
        flow_.to[id] = kPrologue;
      }
      for (ValueId user : at_.module.at(id).users) {
        if (!at_.Backward(user)) continue;
        const auto match = at_.gradients.find(user);
        if (match != at_.gradients.end()) {
          flow_.to[id] = std::max(flow_.to[id], ForwardOwner(match->second));
          continue;
        }
        if (!at_.Carries(user)) continue;
        TakeEarlier(flow_.reaches[user], flow_.reaches[id]);
        flow_.to[id] = std::max(flow_.to[id], flow_.to[user]);
      }
    }
    for (const ValueId id : at_.module.ids()) {
      if (!at_.Backward(id)) continue;
      const auto match = at_.gradients.find(id);
      if (match != at_.gradients.end()) {
        if (!IsWeightGradient(id, match->second) &&
            !match->second.recomputation) {
          flow_.from[id] = {ForwardOwner(match->second)};
        }
        continue;
      }
      for (ValueId operand : at_.module.at(id).operands) {
        if (!at_.Carries(operand)) continue;
        // A gradient that has been handed to a later segment comes from there.
        const bool handed =
            !at_.gradients.contains(operand) && !flow_.from[operand].IsNone() &&
            flow_.to[id].has_value() && flow_.to[operand] > flow_.to[id];
        flow_.from[id].Join(handed ? GradientSource{flow_.to[operand]}
                                   : flow_.from[operand]);
      }
    }
    for (const ValueId id : at_.module.ids().Reversed()) {
      if (IsSummand(id)) flow_.from[id] = {.several = true};
    }
  }

  std::optional<SegmentIndex> ForwardOwner(const GradientMatch& match) const {
    return at_.plan.owner[match.forward].FindSegment();
  }

  bool IsAdd(ValueId id) const {
    return at_.module.at(id).attributes().opcode() == "add";
  }

  // A sum of one segment's gradients that only a sum over segments reads: part
  // of that one, or the segment whose gradients come first would differ.
  bool IsSummand(ValueId id) const {
    const ir::Instruction& it = at_.module.at(id);
    if (!IsAdd(id) || !at_.Carries(id) || !flow_.from[id].segment.has_value() ||
        it.users.empty()) {
      return false;
    }
    return std::all_of(it.users.begin(), it.users.end(), [&](ValueId user) {
      return IsAdd(user) && at_.Carries(user) && flow_.from[user].several &&
             flow_.to[user] == flow_.to[id];
    });
  }

  const Placement& at_;
  GradientFlow flow_;
};

}  // namespace

GradientFlow FindGradientFlow(const Placement& at) {
  return FlowFinder(at).Run();
}

void GradientSource::Join(const GradientSource& from) {
  if (from.IsNone() || from == *this) return;
  *this = IsNone() ? from : GradientSource{.several = true};
}

}  // namespace meshwright::segmenter
