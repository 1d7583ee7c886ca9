#include "coordinator/segmenter/blocks/owner_blocks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/segmenter/blocks/boundary_placement.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::ValueId;

constexpr int kMaxMoveSteps = 4;

class OwnerAssigner {
 public:
  OwnerAssigner(const Module& module, const ForwardBackward& passes,
                BlockGraph& graph)
      : module_(module), passes_(passes), graph_(graph) {}

  void Run(const GrownBlocks& grown,
           const std::vector<std::optional<int>>& index_of) {
    staying_.assign(module_.size(), 0);
    crossing_.resize(module_.size());
    graph_.owner_block.assign(module_.size(), std::nullopt);
    graph_.inside.assign(module_.size(), 0);
    for (const ValueId id : module_.ids().Reversed()) {
      if (!passes_.forward[id]) continue;
      if (grown.values[id].inside) {
        graph_.owner_block[id] = index_of[*grown.FindBlock(id)];
        graph_.inside[id] = 1;
        continue;
      }
      graph_.owner_block[id] = FirstConsumer(id);
    }
    for (const ValueId id : module_.ids().Reversed()) MoveToConsumer(id);
    std::vector<std::optional<int>> derived(module_.size());
    for (const ValueId id : module_.ids()) {
      const std::optional<int> block = grown.FindBlock(id);
      if (block.has_value() && !graph_.inside[id])
        derived[id] = index_of[*block];
    }
    PlaceAtBoundaries(module_, passes_, derived, graph_.owner_block);
    for (const ValueId id : module_.ids().Reversed()) {
      if (passes_.forward[id] && !passes_.has_contraction[id]) {
        graph_.owner_block[id] = FirstConsumer(id);
      }
    }
    for (const std::optional<int>& block : graph_.owner_block) {
      if (block.has_value()) ++graph_.blocks[*block].operators;
    }
  }

 private:
  std::optional<int> FirstConsumer(ValueId id) const {
    std::optional<int> first;
    for (ValueId user : module_.at(id).users) {
      const std::optional<int>& owner = graph_.owner_block[user];
      if (!passes_.forward[user] || !owner.has_value()) continue;
      if (!first.has_value() || owner < first) first = owner;
    }
    return first;
  }

  // Inside the block, but nothing of the block reads it. Readers leave a block
  // and never come back, so that none is looked at twice after it has left.
  bool LeavesBlock(ValueId id, int block) {
    if (!graph_.inside[id] || graph_.owner_block[id] != block ||
        ir::IsContraction(module_, id)) {
      return false;
    }
    const auto& users = module_.at(id).users;
    size_t& staying = staying_[id];
    for (; staying < users.size(); ++staying) {
      const ValueId user = users[staying];
      if (passes_.forward[user] && graph_.owner_block[user] == block) {
        return false;
      }
    }
    return true;
  }

  // A reader of the value, other than `id`, has left the block or is about to.
  // A crossing value never stops crossing: two such readers are remembered.
  bool Crosses(ValueId value, int block, ValueId id) {
    Readers& known = crossing_[value];
    if (known.first.value_or(id) != id || known.second.has_value()) {
      return true;
    }
    for (ValueId user : module_.at(value).users) {
      if (user == id || !passes_.forward[user] ||
          (graph_.owner_block[user] == block && !LeavesBlock(user, block))) {
        continue;
      }
      (known.first.has_value() ? known.second : known.first) = user;
      return true;
    }
    return false;
  }

  // Written in more bytes for a later block: the operand crosses in its place.
  bool WidensForConsumer(ValueId id) const {
    const ir::Instruction& it = module_.at(id);
    return it.opcode == ir::Opcode::kConvert &&
           module_.at(it.operands[0]).shape.byte_size() <
               it.shape.byte_size() &&
           FirstConsumer(id).has_value();
  }

  // The square a norm begins with: result and operands both cross to the next
  // block, so it goes with its consumer and one tensor crosses instead of two.
  // Likewise the conversion in front of it, which is the larger one.
  void MoveToConsumer(ValueId id) {
    if (!graph_.inside[id]) return;
    const int block = *graph_.owner_block[id];
    if (!LeavesBlock(id, block)) return;
    const auto& users = module_.at(id).users;
    const bool read =
        std::any_of(users.begin(), users.end(),
                    [&](ValueId user) { return passes_.forward[user] != 0; });
    if (!read ||
        (!WidensForConsumer(id) && !OperandsCross(id, block, kMaxMoveSteps))) {
      return;
    }
    graph_.owner_block[id] = FirstConsumer(id);
    graph_.inside[id] = 0;
  }

  // Operands of the value cross anyway, themselves or, where only the value
  // reads one (a convert before the square), by its own operands.
  bool OperandsCross(ValueId id, int block, int steps) {
    for (ValueId operand : module_.at(id).operands) {
      if (!graph_.inside[operand] || graph_.owner_block[operand] != block)
        continue;
      if (Crosses(operand, block, id)) continue;
      const auto& users = module_.at(operand).users;
      const bool own = std::all_of(
          users.begin(), users.end(),
          [&](ValueId user) { return user == id || !passes_.forward[user]; });
      if (!own || steps == 0 || module_.at(operand).operands.empty() ||
          ir::IsContraction(module_, operand) ||
          !OperandsCross(operand, block, steps - 1)) {
        return false;
      }
    }
    return true;
  }

  const Module& module_;
  const ForwardBackward& passes_;
  BlockGraph& graph_;
  // By ValueId: the first reader that may be in the block still, by its number.
  std::vector<size_t> staying_;
  struct Readers {
    std::optional<ValueId> first;
    std::optional<ValueId> second;
  };
  std::vector<Readers> crossing_;  // by ValueId
};

}  // namespace

void AssignOwners(const Module& module, const ForwardBackward& passes,
                  const GrownBlocks& grown,
                  const std::vector<std::optional<int>>& index_of,
                  BlockGraph& graph) {
  OwnerAssigner(module, passes, graph).Run(grown, index_of);
}

}  // namespace meshwright::segmenter
