#include "coordinator/segmenter/blocks/blocks.h"

#include <algorithm>
#include <utility>

#include "base/fingerprint.h"
#include "coordinator/segmenter/blocks/block_candidates.h"
#include "coordinator/segmenter/blocks/block_sequence.h"
#include "coordinator/segmenter/blocks/grow_blocks.h"
#include "coordinator/segmenter/blocks/owner_blocks.h"
#include "coordinator/segmenter/direction/hash.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::ValueId;

// The blocks in sequence, with their contractions.
std::vector<ParallelBlock> ListBlocks(const GrownBlocks& grown,
                                      const std::vector<int>& sequence) {
  std::map<int, std::vector<ValueId>> contractions;
  for (const GrownBlocks::Root& root : grown.roots) {
    contractions[*grown.FindBlock(root.id)].push_back(root.id);
  }
  for (const auto& [id, block] : grown.joined) {
    contractions[grown.blocks.Find(block)].push_back(id);
  }
  std::vector<ParallelBlock> blocks;
  for (const int it : sequence) {
    ParallelBlock block;
    block.depth = grown.depths[it];
    block.contractions = std::move(contractions[it]);
    std::sort(block.contractions.begin(), block.contractions.end());
    for (int root : grown.block_roots[it]) {
      block.roots.push_back(grown.roots[root].id);
    }
    std::sort(block.roots.begin(), block.roots.end());
    blocks.push_back(std::move(block));
  }
  return blocks;
}

// Equal blocks: equal operations joined alike. Values from outside, or from
// before the roots (a norm, whose like in the first layer has no root above
// it), count by shape only.
void HashBlocks(const Module& module, const std::vector<uint64_t>& hashes,
                BlockGraph& graph) {
  std::vector<uint64_t> values(module.size(), 0);
  for (const ValueId id : module.ids()) {
    if (!graph.inside[id]) continue;
    const ir::Instruction& it = module.at(id);
    uint64_t hash = hashes[id];
    for (ValueId operand : it.operands) {
      const bool own = graph.inside[operand] &&
                       graph.owner_block[operand] == graph.owner_block[id];
      hash = base::Mix(
          hash, own ? values[operand] : HashShape(module.at(operand).shape));
    }
    values[id] = hash;
    graph.blocks[*graph.owner_block[id]].hash += base::Mix(1, hash);
  }
}

}  // namespace

BlockGraph BuildBlocks(const Module& module, const ForwardBackward& passes,
                       const std::vector<uint64_t>& hashes,
                       const std::vector<int64_t>& axis_sizes) {
  GrownBlocks grown = GrowBlocks(module, passes, axis_sizes);
  const std::vector<int> sequence = OrderBlocks(module, grown, hashes);
  BlockGraph graph;
  graph.blocks = ListBlocks(grown, sequence);
  graph.barriers = std::move(grown.barriers);
  graph.is_cut_short = grown.is_cut_short;
  std::vector<std::optional<int>> index_of(grown.block_roots.size());
  for (size_t i = 0; i < sequence.size(); ++i) {
    index_of[sequence[i]] = static_cast<int>(i);
  }
  AssignOwners(module, passes, grown, index_of, graph);
  FindCandidates(module, grown, graph.blocks);
  HashBlocks(module, hashes, graph);
  return graph;
}

}  // namespace meshwright::segmenter
