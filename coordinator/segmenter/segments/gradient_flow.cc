#include "coordinator/segmenter/segments/gradient_flow.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace meshwright::segmenter {
namespace {

using ir::ValueId;

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
    flow_.output_owner.assign(at_.module.size(), kNoSegment);
    std::vector<int> owners(at_.module.parameters.size(), kFarSegment);
    for (size_t p = 0; p < at_.module.parameters.size(); ++p) {
      for (ValueId user : at_.module.at(at_.module.parameters[p]).users) {
        if (at_.passes.forward[user] && at_.plan.owner[user] >= 0) {
          owners[p] = std::min(owners[p], at_.plan.owner[user]);
        }
      }
      const std::optional<int> output = at_.passes.state_output[p];
      if (owners[p] == kFarSegment || !output.has_value()) continue;
      flow_.output_owner[at_.module.outputs[*output]] = owners[p];
    }
  }

  bool IsWeightGradient(ValueId id, const GradientMatch& match) const {
    return !match.recomputation &&
           !at_.passes.batch_derived[at_.module.at(match.forward)
                                         .operands[match.differentiated]];
  }

  void FindFlow() {
    flow_.from.assign(at_.module.size(), kFarSegment);
    flow_.to.assign(at_.module.size(), kNoSegment);
    flow_.reaches.assign(at_.module.size(), kFarSegment);
    for (ValueId id = at_.module.size() - 1; id >= 0; --id) {
      if (!at_.Backward(id)) continue;
      flow_.reaches[id] = flow_.output_owner[id] == kNoSegment
                              ? kFarSegment
                              : flow_.output_owner[id];
      if (at_.has_prologue && flow_.output_owner[id] == 0) flow_.to[id] = 0;
      for (ValueId user : at_.module.at(id).users) {
        if (!at_.Backward(user)) continue;
        const auto match = at_.gradients.find(user);
        if (match != at_.gradients.end()) {
          flow_.to[id] =
              std::max(flow_.to[id], at_.plan.owner[match->second.forward]);
          continue;
        }
        if (!at_.Carries(user)) continue;
        flow_.reaches[id] = std::min(flow_.reaches[id], flow_.reaches[user]);
        flow_.to[id] = std::max(flow_.to[id], flow_.to[user]);
      }
    }
    for (ValueId id = 0; id < at_.module.size(); ++id) {
      if (!at_.Backward(id)) continue;
      const auto match = at_.gradients.find(id);
      if (match != at_.gradients.end()) {
        if (!IsWeightGradient(id, match->second) &&
            !match->second.recomputation) {
          flow_.from[id] = at_.plan.owner[match->second.forward];
        }
        continue;
      }
      for (ValueId operand : at_.module.at(id).operands) {
        if (!at_.Carries(operand)) continue;
        // A gradient that has been handed to a later segment comes from there.
        const bool handed = !at_.gradients.contains(operand) &&
                            flow_.from[operand] != kFarSegment &&
                            flow_.to[operand] > flow_.to[id] &&
                            flow_.to[operand] != kNoSegment &&
                            flow_.to[id] != kNoSegment;
        JoinSegments(handed ? flow_.to[operand] : flow_.from[operand],
                     flow_.from[id]);
      }
    }
    for (ValueId id = at_.module.size() - 1; id >= 0; --id) {
      if (IsSummand(id)) flow_.from[id] = kSeveralSegments;
    }
  }

  bool IsAdd(ValueId id) const {
    return at_.module.at(id).attributes().opcode() == "add";
  }

  // A sum of one segment's gradients that only a sum over segments reads: part
  // of that one, or the segment whose gradients come first would differ.
  bool IsSummand(ValueId id) const {
    const ir::Instruction& it = at_.module.at(id);
    if (!IsAdd(id) || !at_.Carries(id) || flow_.from[id] == kFarSegment ||
        flow_.from[id] == kSeveralSegments || it.users.empty()) {
      return false;
    }
    return std::all_of(it.users.begin(), it.users.end(), [&](ValueId user) {
      return IsAdd(user) && at_.Carries(user) &&
             flow_.from[user] == kSeveralSegments &&
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

void JoinSegments(int from, int& into) {
  if (from == kFarSegment || from == into) return;
  into = into == kFarSegment ? from : kSeveralSegments;
}

}  // namespace meshwright::segmenter
