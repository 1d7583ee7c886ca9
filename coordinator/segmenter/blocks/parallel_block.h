// ParallelBlock: a group of forward operations that one split decides
// (blocks.h).
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_PARALLEL_BLOCK_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_PARALLEL_BLOCK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/ir/module.h"
#include "coordinator/segmenter/blocks/strategy.h"

namespace meshwright::segmenter {

struct ParallelBlock {
  std::vector<ir::ValueId> roots;
  std::vector<ir::ValueId> contractions;  // roots and joined ones, ascending
  int operators = 0;                      // forward operations it owns
  int depth = 0;                          // contraction depth of the roots
  uint64_t hash = 0;                      // equal blocks hash alike
  // Candidate dimensions per kind, outermost first: one split per root, and
  // the sizes that must divide wherever the dimension goes.
  struct Candidate {
    std::vector<RootSplit> splits;
    std::map<int64_t, ir::ValueId> sizes;  // size -> an operation that has it
  };
  std::map<StrategyKind, std::vector<Candidate>> candidates;
};

struct BlockGraph {
  std::vector<ParallelBlock> blocks;
  std::vector<std::optional<int>> owner_block;  // by ValueId: block index
  std::vector<char> inside;  // by ValueId: follows from a root of its owner
  std::map<std::string, int> barriers;  // opcodes that end splits
  bool is_cut_short = false;            // root_order.h
};

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_PARALLEL_BLOCK_H_
