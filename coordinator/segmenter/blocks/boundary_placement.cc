#include "coordinator/segmenter/blocks/boundary_placement.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "coordinator/ir/links/contraction_dims.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

class BoundaryPlacer {
 public:
  BoundaryPlacer(const Module& module, const ForwardBackward& passes,
                 const std::vector<int>& derived, std::vector<int>& owners)
      : module_(module), passes_(passes), derived_(derived), owners_(owners) {}

  void Run() {
    FindGroups();
    std::map<int, std::vector<ValueId>> behind;  // by block
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (group_[id] >= 0 && owners_[id] > group_[id]) {
        behind[group_[id]].push_back(id);
      }
    }
    for (const auto& [block, values] : behind) Settle(block, values);
  }

 private:
  // What only a later block's norm or add reads, belongs with that one.
  void FindGroups() {
    group_ = derived_;
    for (ValueId id = module_.size() - 1; id >= 0; --id) {
      if (derived_[id] < 0) continue;
      int group = -1;
      bool one = true;
      for (ValueId user : module_.at(id).users) {
        if (!passes_.forward[user]) continue;
        one &= group_[user] >= 0 && (group < 0 || group == group_[user]);
        group = group_[user];
      }
      if (one && group > derived_[id]) group_[id] = group;
    }
  }

  bool Crosses(ValueId id) const {
    return !passes_.recomputable[id] &&
           module_.at(id).opcode != Opcode::kParameter;
  }

  bool Before(ValueId id, int block) const {
    return owners_[id] >= 0 && owners_[id] <= block;
  }

  int ReadersBehind(ValueId id, int block) const {
    const auto& users = module_.at(id).users;
    return static_cast<int>(
        std::count_if(users.begin(), users.end(), [&](ValueId user) {
          return passes_.forward[user] && !Before(user, block);
        }));
  }

  // Contractions of several blocks read the value: it crosses from the first
  // of them to the others.
  bool Shared(ValueId id) const {
    int reader = -1;
    for (ValueId user : module_.at(id).users) {
      if (!passes_.forward[user] || !FeedsContraction(user)) continue;
      if (reader >= 0 && owners_[user] != reader) return true;
      reader = owners_[user];
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
  void Settle(int block, const std::vector<ValueId>& values) {
    std::unordered_map<ValueId, int> readers;  // behind the boundary
    std::vector<int> previous;
    int crossing = 0;
    int best = 0;
    size_t count = 0;
    for (ValueId id : values) {
      std::vector<ValueId> operands = module_.at(id).operands;
      std::sort(operands.begin(), operands.end());
      operands.erase(std::unique(operands.begin(), operands.end()),
                     operands.end());
      const bool reachable =
          std::all_of(operands.begin(), operands.end(), [&](ValueId operand) {
            return Before(operand, block) || IsSideFeed(operand);
          });
      if (!reachable || ir::IsLoopBoundary(module_.at(id).opcode)) break;
      for (ValueId operand : operands) {
        if (!Crosses(operand) || !Before(operand, block)) continue;
        const auto [found, added] = readers.emplace(operand, 0);
        if (added) found->second = ReadersBehind(operand, block);
        if (--found->second == 0) --crossing;
      }
      if (Shared(id)) --crossing;
      previous.push_back(owners_[id]);
      owners_[id] = block;
      readers[id] = ReadersBehind(id, block);
      if (readers[id] > 0) ++crossing;
      if (crossing < best) {
        best = crossing;
        count = previous.size();
      }
    }
    for (size_t i = count; i < previous.size(); ++i)
      owners_[values[i]] = previous[i];
  }

  // Neither in a block nor behind one: goes where its reader goes.
  bool IsSideFeed(ValueId id) const { return !passes_.has_contraction[id]; }

  static constexpr int kMaxSteps = 8;

  const Module& module_;
  const ForwardBackward& passes_;
  const std::vector<int>& derived_;
  std::vector<int>& owners_;
  std::vector<int> group_;
};

}  // namespace

void PlaceAtBoundaries(const Module& module, const ForwardBackward& passes,
                       const std::vector<int>& derived,
                       std::vector<int>& owners) {
  BoundaryPlacer(module, passes, derived, owners).Run();
}

}  // namespace meshwright::segmenter
