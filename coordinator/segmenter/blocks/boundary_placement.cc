#include "coordinator/segmenter/blocks/boundary_placement.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "coordinator/ir/links/contraction_dims.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

class BoundaryPlacer {
 public:
  BoundaryPlacer(const Module& module, const ForwardBackward& passes,
                 const std::vector<std::optional<int>>& derived,
                 std::vector<std::optional<int>>& owners)
      : module_(module), passes_(passes), derived_(derived), owners_(owners) {}

  void Run() {
    FindGroups();
    CountReaders();
    std::map<int, std::vector<ValueId>> behind;  // by block
    for (const ValueId id : module_.ids()) {
      if (group_[id].has_value() && owners_[id] > group_[id]) {
        behind[*group_[id]].push_back(id);
      }
    }
    for (const auto& [block, values] : behind) {
      PassBlocks(block);
      MoveBestPrefix(block, values);
    }
  }

 private:
  // Values that only a later block's norm or add reads belong with that one.
  void FindGroups() {
    group_ = derived_;
    for (const ValueId id : module_.ids().Reversed()) {
      if (!derived_[id].has_value()) continue;
      std::optional<int> group;
      bool one = true;
      for (ValueId user : module_.at(id).users) {
        if (!passes_.forward[user]) continue;
        one &= group_[user].has_value() &&
               (!group.has_value() || group == group_[user]);
        group = group_[user];
      }
      if (one && group.has_value() && group > derived_[id]) {
        group_[id] = group;
      }
    }
  }

  bool Crosses(ValueId id) const {
    return !passes_.recomputable[id] &&
           module_.at(id).opcode != Opcode::kParameter;
  }

  bool Before(ValueId id, int block) const {
    return owners_[id].has_value() && *owners_[id] <= block;
  }

  // readers_behind_ of a boundary that nothing is before.
  void CountReaders() {
    readers_behind_.assign(module_.size(), 0);
    for (const ValueId id : module_.ids()) {
      if (!passes_.forward[id]) continue;
      CountReads(id, 1);
      if (owners_[id].has_value()) by_owner_.emplace_back(*owners_[id], id);
    }
    std::sort(by_owner_.begin(), by_owner_.end());
  }

  // The boundary is behind `block` now; values that have been moved before it
  // are counted already.
  void PassBlocks(int block) {
    for (; passed_ < by_owner_.size(); ++passed_) {
      const auto [owner, id] = by_owner_[passed_];
      if (owner > block) return;
      if (owners_[id] == owner) CountReads(id, -1);
    }
  }

  void CountReads(ValueId reader, int by) {
    for (ValueId operand : DistinctOperands(reader)) {
      readers_behind_[operand] += by;
    }
  }

  std::vector<ValueId> DistinctOperands(ValueId id) const {
    std::vector<ValueId> operands = module_.at(id).operands;
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()),
                   operands.end());
    return operands;
  }

  // Contractions of several blocks read the value: it crosses from the first
  // of them to the others.
  bool Shared(ValueId id) const {
    std::optional<ValueId> reader;
    for (ValueId user : module_.at(id).users) {
      if (!passes_.forward[user] || !FeedsContraction(user)) continue;
      if (owners_[reader.value_or(user)] != owners_[user]) return true;
      reader = user;
    }
    return false;
  }
  bool FeedsContraction(ValueId id) const {
    for (int steps = 0; steps < kMaxSteps; ++steps) {
      if (ir::IsContraction(module_, id)) return true;
      const ir::Instruction& it = module_.at(id);
      if (it.users.size() != 1 ||
          !(ir::IsLayout(it.opcode) || it.opcode == Opcode::kConvert)) {
        return false;
      }
      id = it.users[0];
    }
    return false;
  }

  // Moves the best prefix of `values` to `block`.
  void MoveBestPrefix(int block, const std::vector<ValueId>& values) {
    std::unordered_map<ValueId, int> readers;  // behind the boundary
    std::vector<std::optional<int>> previous;
    int crossing = 0;
    int best = 0;
    size_t count = 0;
    for (ValueId id : values) {
      const std::vector<ValueId> operands = DistinctOperands(id);
      const bool reachable =
          std::all_of(operands.begin(), operands.end(), [&](ValueId operand) {
            return Before(operand, block) || IsSideFeed(operand);
          });
      if (!reachable || ir::IsLoopBoundary(module_.at(id).opcode)) break;
      for (ValueId operand : operands) {
        if (!Crosses(operand) || !Before(operand, block)) continue;
        int& left =
            readers.emplace(operand, readers_behind_[operand]).first->second;
        if (--left == 0) --crossing;
      }
      if (Shared(id)) --crossing;
      previous.push_back(owners_[id]);
      owners_[id] = block;
      readers[id] = readers_behind_[id];
      if (readers[id] > 0) ++crossing;
      if (crossing < best) {
        best = crossing;
        count = previous.size();
      }
    }
    for (size_t i = 0; i < count; ++i) CountReads(values[i], -1);
    for (size_t i = count; i < previous.size(); ++i)
      owners_[values[i]] = previous[i];
  }

  // Neither in a block nor behind one: goes where its reader goes.
  bool IsSideFeed(ValueId id) const { return !passes_.has_contraction[id]; }

  static constexpr int kMaxSteps = 8;

  const Module& module_;
  const ForwardBackward& passes_;
  const std::vector<std::optional<int>>& derived_;
  std::vector<std::optional<int>>& owners_;
  std::vector<std::optional<int>> group_;
  std::vector<int> readers_behind_;  // by ValueId: forward ones, distinct
  std::vector<std::pair<int, ValueId>> by_owner_;
  size_t passed_ = 0;  // of by_owner_
};

}  // namespace

void PlaceAtBoundaries(const Module& module, const ForwardBackward& passes,
                       const std::vector<std::optional<int>>& derived,
                       std::vector<std::optional<int>>& owners) {
  BoundaryPlacer(module, passes, derived, owners).Run();
}

}  // namespace meshwright::segmenter
