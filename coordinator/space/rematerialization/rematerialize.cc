#include "coordinator/space/rematerialization/rematerialize.h"

#include <algorithm>
#include <utility>

#include "coordinator/segmenter/segment_view.h"
#include "coordinator/space/rematerialization/forward_backward_barrier.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;

// Running it twice gives the same value and does nothing else.
bool IsPure(ir::Opcode opcode) {
  switch (opcode) {
    case ir::Opcode::kUnknown:
    case ir::Opcode::kCarry:
    case ir::Opcode::kCollective:
    case ir::Opcode::kConditional:
    case ir::Opcode::kCustomCall:
    case ir::Opcode::kLoopResult:
    case ir::Opcode::kWhile:
      return false;
    default:
      return true;
  }
}

class RematerializationFinder : segmenter::SegmentView {
 public:
  RematerializationFinder(const Analysis& analysis, const SegmentGraph& graph,
                          const std::vector<int>& exits)
      : SegmentView(analysis, graph), exits_(exits), able_(count_, false) {}

  Rematerialization Find() {
    if (!FindReaders()) return {};
    FindAble();
    for (int i = 0; i < count_; ++i) {
      if (At(i).loop != scope_) out_.reader[i] = false;
    }
    MarkAgain();
    if (!FreesAny()) return {};
    out_.handed.assign(count_, false);
    out_.entrance.assign(count_, false);
    for (int i = 0; i < count_; ++i) {
      if (!out_.recomputed[i]) continue;
      for (int operand : Operands(i)) {
        out_.entrance[operand] |=
            !out_.recomputed[operand] && !IsRecomputable(operand);
      }
    }
    return std::move(out_);
  }

 private:
  template <typename Test>
  bool AnyOperand(int i, Test test) const {
    const auto& operands = Operands(i);
    return std::any_of(operands.begin(), operands.end(), test);
  }

  // The readers behind the barrier; false where there is none, or gradients
  // come into more than one scope.
  bool FindReaders() {
    ForwardBackwardBarrier barrier =
        FindForwardBackwardBarrier(analysis_, graph_);
    if (barrier.empty()) return false;
    for (const segmenter::BoundaryPair& exit : barrier.exits) {
      out_.gradients.push_back(exit.gradient);
    }
    out_.reader = std::move(barrier.behind);
    scope_ = At(out_.gradients[0]).loop;
    return std::all_of(out_.gradients.begin(), out_.gradients.end(),
                       [&](int it) { return At(it).loop == scope_; });
  }

  // Forward values, and what only the backward pass reads but no gradient is
  // needed for (the mask of a ReLU).
  void FindAble() {
    std::vector<char> active(count_,
                             false);  // a boundary activation is above it
    for (int i = 0; i < count_; ++i) {
      if (out_.reader[i] || IsRecomputable(i)) continue;
      if (IsInput(i)) {
        active[i] = IsForward(i) && !IsArgument(i);
        continue;
      }
      active[i] = AnyOperand(i, [&](int o) { return active[o]; });
      const bool known = !AnyOperand(i, [&](int o) {
        return !able_[o] && !IsForward(o) && !IsRecomputable(o);
      });
      able_[i] = known && (IsForward(i) || active[i]) && IsPure(At(i).opcode) &&
                 At(i).loop == scope_;
    }
  }

  // The operands of readers, and all that computing them takes.
  void MarkAgain() {
    out_.recomputed.assign(count_, false);
    for (int exit : exits_) out_.recomputed[exit] = able_[exit];
    for (int i = count_; i-- > graph_.input_count;) {
      const auto& users = Users(i);
      out_.recomputed[i] |=
          able_[i] && std::any_of(users.begin(), users.end(), [&](int user) {
            return out_.reader[user] || out_.recomputed[user];
          });
    }
  }

  // Something is recomputed that is more than an entrance rearranged.
  bool FreesAny() const {
    for (int i = graph_.input_count; i < count_; ++i) {
      if (!out_.recomputed[i]) continue;
      const ir::Opcode opcode = At(i).opcode;
      if (!ir::IsLayout(opcode) && opcode != ir::Opcode::kBroadcast) {
        return true;
      }
    }
    return false;
  }

  const std::vector<int>& exits_;
  std::optional<ir::LoopId> scope_;
  std::vector<char> able_;
  Rematerialization out_;
};

}  // namespace

Rematerialization FindRematerialization(const Analysis& analysis,
                                        const SegmentGraph& graph,
                                        const std::vector<int>& exits) {
  return RematerializationFinder(analysis, graph, exits).Find();
}

}  // namespace meshwright::space
