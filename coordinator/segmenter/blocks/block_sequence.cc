#include "coordinator/segmenter/blocks/block_sequence.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/fingerprint.h"

namespace meshwright::segmenter {

std::vector<int> OrderBlocks(const ir::Module& module, const GrownBlocks& grown,
                             const std::vector<uint64_t>& hashes) {
  std::vector<std::set<int>> reads(grown.block_roots.size());
  std::vector<char> is_read(grown.block_roots.size(), 0);
  for (const ir::ValueId id : module.ids()) {
    const std::optional<int> block = grown.FindBlock(id);
    if (!block.has_value()) continue;
    for (ir::ValueId operand : module.at(id).operands) {
      const std::optional<int> source = grown.FindBlock(operand);
      if (source.has_value() && source != block &&
          reads[*block].insert(*source).second) {
        is_read[*source] = 1;
      }
    }
  }
  std::vector<uint64_t> hash(grown.block_roots.size(), 0);
  std::vector<int> ends;
  for (size_t block = 0; block < grown.block_roots.size(); ++block) {
    const int id = static_cast<int>(block);
    for (int root : grown.block_roots[block]) {
      hash[block] += base::Mix(0, hashes[grown.roots[root].id]);
    }
    if (grown.blocks.Find(id) == id && !is_read[block]) ends.push_back(id);
  }
  const auto deepest_first = [&](int a, int b) {
    return std::make_tuple(-grown.depths[a], hash[a], a) <
           std::make_tuple(-grown.depths[b], hash[b], b);
  };
  std::sort(ends.begin(), ends.end(), deepest_first);
  std::reverse(ends.begin(), ends.end());
  struct Visit {
    int block;
    std::vector<int> left;  // to visit, last one first
  };
  std::vector<int> sequence;
  std::vector<char> seen(grown.block_roots.size(), 0);
  std::vector<Visit> stack;
  const auto push = [&](int block) {
    if (seen[block]) return;
    seen[block] = 1;
    Visit visit{block, {reads[block].begin(), reads[block].end()}};
    std::sort(visit.left.begin(), visit.left.end(), deepest_first);
    std::reverse(visit.left.begin(), visit.left.end());
    stack.push_back(std::move(visit));
  };
  const auto walk = [&](int end) {
    push(end);
    while (!stack.empty()) {
      std::vector<int>& left = stack.back().left;
      if (!left.empty()) {
        const int next = left.back();
        left.pop_back();
        push(next);
      } else {
        sequence.push_back(stack.back().block);
        stack.pop_back();
      }
    }
  };
  for (int end : ends) walk(end);
  // Merged blocks that read one another have no end; they come last.
  for (size_t block = 0; block < grown.block_roots.size(); ++block) {
    const int id = static_cast<int>(block);
    if (grown.blocks.Find(id) == id) walk(id);
  }
  return sequence;
}

}  // namespace meshwright::segmenter
