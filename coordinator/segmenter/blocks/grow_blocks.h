// GrowBlocks: which forward values follow a split of which roots.
//
// Concept: values are visited in dependency order. A contraction opens a block
// or joins one (rule a). Any other operation follows its deepest-rooted operand
// (c) and merges unrelated blocks where they meet (b). It leaves its block
// behind a reduction of a split dimension (d), and loses the dimensions that no
// link leads to (e). A label stands for one dimension of a root and all
// dimensions that dimension links lead it to.
// In -> Out: module, passes -> GrownBlocks. Blocks and labels are numbers of
// union-find sets: compare them through FindBlock and Label.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_GROW_BLOCKS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_GROW_BLOCKS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/ir/module.h"
#include "coordinator/segmenter/blocks/union_find.h"
#include "coordinator/segmenter/direction/forward_backward.h"

namespace meshwright::segmenter {

struct GrownBlocks {
  struct Value {
    std::optional<int> block;  // the block it is in, or was derived from
    bool inside = false;       // false: derived, behind a reduction (rule d)
    std::vector<std::optional<int>> labels;  // by dimension
  };
  struct Root {
    ir::ValueId id;
    std::vector<int> labels;  // by output dimension
    int row_operand = 0;      // the activation side
  };

  std::vector<Value> values;  // by ValueId
  UnionFind blocks;
  UnionFind labels;
  std::vector<Root> roots;                    // ascending by id
  std::vector<std::vector<int>> block_roots;  // by block
  std::vector<int> depths;                    // by block
  std::map<ir::ValueId, int> joined;          // contraction that is no root
  std::set<int> expert_labels;
  std::map<std::string, int> barriers;  // opcodes that end splits
  bool is_cut_short = false;            // root_order.h

  // None: no root leads to it.
  std::optional<int> FindBlock(ir::ValueId id) const {
    if (!values[id].block.has_value()) return std::nullopt;
    return blocks.Find(*values[id].block);
  }
  bool IsExpert(int label) const {
    return expert_labels.contains(labels.Find(label));
  }
};

// `axis_sizes` are the mesh axes larger than one.
GrownBlocks GrowBlocks(const ir::Module& module, const ForwardBackward& passes,
                       const std::vector<int64_t>& axis_sizes);

// Output dimensions of a root outermost first: its rows, or its columns.
std::vector<int> FindOutputDims(const ir::Module& module,
                                const GrownBlocks& grown,
                                const GrownBlocks::Root& root, bool rows);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_GROW_BLOCKS_H_
