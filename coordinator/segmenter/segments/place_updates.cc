#include <algorithm>
#include <vector>

#include "coordinator/segmenter/segments/placement_steps.h"

namespace meshwright::segmenter {
namespace {

using ir::Opcode;
using ir::ValueId;

class UpdatePlacer {
 public:
  UpdatePlacer(const GradientFlow& flow, Placement& at)
      : flow_(flow), at_(at) {}

  void Run() {
    FindShares();
    PlaceUpwards();
    PlaceDownwards();
  }

 private:
  // Updates go with their parameter, the gradient of the loss and what is kept
  // for the backward pass with their reader.
  void PlaceUpwards() {
    for (const ValueId id : at_.module.ids().Reversed()) {
      if (at_.passes.forward[id] || !at_.Owned(id) ||
          at_.plan.owner[id].IsSegment()) {
        continue;
      }
      if (at_.scalar_like[id]) continue;
      if (!flow_.to[id].has_value() && flow_.reaches[id].has_value()) {
        const bool stays = joins_sum_[id] && !IsRearrangedForSum(id);
        at_.plan.owner[id] = stays ? *made_[id].segment : *flow_.reaches[id];
        continue;
      }
      GoToReader(id);
    }
  }

  // A share that is only moved or converted on its way to the sum is so there:
  // compilers fuse that into what adds it up.
  bool IsRearrangedForSum(ValueId id) const {
    const ir::Instruction& it = at_.module.at(id);
    const bool moves = ir::IsLayout(it.opcode) &&
                       !ir::IsLoopBoundary(it.opcode) &&
                       it.opcode != Opcode::kOptimizationBarrier;
    return moves && !it.users.empty() &&
           std::all_of(it.users.begin(), it.users.end(), [&](ValueId user) {
             return at_.plan.owner[user] == *flow_.reaches[id];
           });
  }

  // made_[v], of what leads to updates only: the segment of the gradients it is
  // made of. joins_sum_[v]: one segment's share of a sum over several, the
  // gradient of a parameter that these read. It stays where it is made: only
  // the parameter's gradient leaves, not what that is made of.
  void FindShares() {
    made_.resize(at_.module.size());
    joins_sum_.assign(at_.module.size(), 0);
    const auto updates = [&](ValueId id) {
      return at_.Carries(id) && !flow_.to[id].has_value() &&
             !at_.plan.owner[id].IsSegment() && flow_.reaches[id].has_value();
    };
    for (const ValueId id : at_.module.ids()) {
      if (!updates(id)) continue;
      for (ValueId operand : at_.module.at(id).operands) {
        if (!at_.Carries(operand)) continue;
        const Owner owner = at_.plan.owner[operand];
        made_[id].Join(owner.IsSegment() ? GradientSource{owner.segment()}
                                         : made_[operand]);
      }
    }
    for (const ValueId id : at_.module.ids().Reversed()) {
      if (!updates(id) || made_[id].several) continue;
      GradientSource reader;  // of what is no gradient itself
      for (ValueId user : at_.module.at(id).users) {
        if (!updates(user)) continue;
        joins_sum_[id] |= made_[user].several || joins_sum_[user];
        reader.Join(made_[user]);
      }
      if (!made_[id].IsNone()) continue;
      made_[id] = reader;
      joins_sum_[id] &= reader.segment.has_value();
    }
  }

  // To the last of the segments that read it, if any does.
  void GoToReader(ValueId id) {
    for (ValueId user : at_.module.at(id).users) {
      if (!at_.Owned(user) || !at_.plan.owner[user].IsSegment()) continue;
      Owner& owner = at_.plan.owner[id];
      const SegmentIndex reader = at_.plan.owner[user].segment();
      if (!owner.IsSegment() || owner.segment() < reader) owner = reader;
    }
  }

  // The rest, sums over a segment's gradients among it, stays where it came
  // from; scalars of several segments meet in the last one.
  void PlaceDownwards() {
    for (const ValueId id : at_.module.ids()) {
      if (at_.passes.forward[id] || !at_.Owned(id) ||
          at_.plan.owner[id].IsSegment()) {
        continue;
      }
      const auto [lowest, highest] = at_.ListOperandOwners(id);
      const bool scalar = at_.scalar_like[id];
      if (!highest.has_value()) {
        if (scalar) at_.plan.owner[id] = ReaderOfScalar(id);
      } else if (highest != lowest && scalar) {
        at_.plan.owner[id] = at_.Glue();
      } else {
        at_.plan.owner[id] = *highest;
      }
    }
    // A value that reads state only (a running statistic) goes to its reader.
    for (const ValueId id : at_.module.ids().Reversed()) {
      if (at_.passes.forward[id] || !at_.Owned(id) ||
          at_.plan.owner[id].IsSegment()) {
        continue;
      }
      GoToReader(id);
      if (!at_.plan.owner[id].IsSegment()) at_.plan.owner[id] = at_.tail;
    }
  }

  // A scalar made of nothing owned goes to its reader; with several of them to
  // the scalars' segment.
  SegmentIndex ReaderOfScalar(ValueId id) {
    Owner owner;
    for (ValueId user : at_.module.at(id).users) {
      if (!at_.Owned(user) || !at_.plan.owner[user].IsSegment()) continue;
      if (owner.IsSegment() && at_.plan.owner[user] != owner) return at_.Glue();
      owner = at_.plan.owner[user];
    }
    return owner.IsSegment() ? owner.segment() : at_.tail;
  }

  const GradientFlow& flow_;
  Placement& at_;
  std::vector<GradientSource> made_;
  std::vector<char> joins_sum_;
};

}  // namespace

void PlaceUpdates(const GradientFlow& flow, Placement& at) {
  UpdatePlacer(flow, at).Run();
}

}  // namespace meshwright::segmenter
