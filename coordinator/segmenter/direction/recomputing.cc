#include "coordinator/segmenter/direction/recomputing.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::ValueId;

constexpr int kMaxOperations = 1024;
// Together, per value of the module and for nothing.
constexpr int64_t kMaxTogether = 16;
constexpr int64_t kFreeTogether = 1'000'000;

class Limiter {
 public:
  explicit Limiter(const Module& module)
      : module_(module), tree_(module.size()), seen_by_(module.size()) {}

  // The rest of `marked` under a limit, and how much that recomputes.
  std::pair<std::vector<char>, int64_t> Limit(std::vector<char> marked,
                                              int limit) {
    std::fill(seen_by_.begin(), seen_by_.end(), std::nullopt);
    int64_t together = 0;
    for (const ValueId id : module_.ids()) {
      if (!marked[id]) continue;
      tree_[id] = 1;
      for (ValueId operand : module_.at(id).operands) {
        marked[id] &= marked[operand];
        tree_[id] = std::min(tree_[id] + tree_[operand], kMaxOperations + 1);
      }
      if (!marked[id]) continue;
      // A tree counts what is read twice twice: only then look closer, at
      // kMaxOperations values at most.
      if (tree_[id] > limit) tree_[id] = CountAbove(id, limit);
      if (tree_[id] > limit) marked[id] = 0;
    }
    for (const ValueId id : module_.ids()) {
      if (!marked[id]) continue;
      for (ValueId user : module_.at(id).users) {
        if (!marked[user]) together += tree_[id];
      }
    }
    return {std::move(marked), together};
  }

 private:
  // Values at or above `id`; more than `limit` of them are not counted.
  int CountAbove(ValueId id, int limit) {
    int count = 0;
    std::vector<ValueId> stack = {id};
    seen_by_[id] = id;
    while (!stack.empty() && count <= limit) {
      const ValueId at = stack.back();
      stack.pop_back();
      ++count;
      for (ValueId operand : module_.at(at).operands) {
        if (std::exchange(seen_by_[operand], id) != id) {
          stack.push_back(operand);
        }
      }
    }
    return count;
  }

  const Module& module_;
  std::vector<int> tree_;  // by ValueId: operations of the tree above it
  std::vector<std::optional<ValueId>> seen_by_;
};

}  // namespace

bool LimitRecomputing(const Module& module, std::vector<char>& recomputable) {
  Limiter limiter(module);
  const int64_t max_together = kFreeTogether + kMaxTogether * module.size();
  for (int limit = kMaxOperations; limit > 0; limit /= 2) {
    auto [marked, together] = limiter.Limit(recomputable, limit);
    if (together > max_together && limit > 1) continue;
    recomputable = std::move(marked);
    return limit < kMaxOperations;
  }
  return false;
}

}  // namespace meshwright::segmenter
