#include "coordinator/segmenter/blocks.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "coordinator/ir/dim_links.h"
#include "coordinator/segmenter/hash.h"

namespace meshwright::segmenter {
namespace {

using ir::DimLink;
using ir::DotRole;
using ir::Module;
using ir::Opcode;
using ir::ValueId;

class UnionFind {
 public:
  int Add() {
    parent_.push_back(static_cast<int>(parent_.size()));
    return parent_.back();
  }
  int Find(int x) const {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  void Union(int a, int b) { parent_[Find(b)] = Find(a); }

 private:
  mutable std::vector<int> parent_;
};

// What is known of one forward value while blocks grow.
struct ValueState {
  int block = -1;           // the block it is in, or was derived from
  bool inside = false;      // false: derived, behind a reduction (rule d)
  std::vector<int> labels;  // by dimension: a label, or -1
};

class BlockBuilder {
 public:
  BlockBuilder(const Module& module, const Direction& direction,
               const std::vector<uint64_t>& hashes,
               const std::vector<int64_t>& axis_sizes)
      : module_(module),
        direction_(direction),
        hashes_(hashes),
        axis_sizes_(axis_sizes),
        states_(module.size()) {}

  BlockGraph Run() {
    reached_.resize(module_.size());
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (!direction_.forward[id]) continue;
      if (direction_.has_contraction[id]) Visit(id);
    }
    Number();
    PlaceTheRest();
    Describe();
    return std::move(graph_);
  }

 private:
  struct Root {
    ValueId id = 0;
    int depth = 0;
    std::vector<int> labels;  // by output dimension
    int row_operand = 0;      // the activation side
    std::set<int> ancestors;  // roots above it
  };

  void Visit(ValueId id) {
    // The roots above a value: what "no path between them" asks.
    for (ValueId operand : module_.at(id).operands) {
      reached_[id].insert(reached_[operand].begin(), reached_[operand].end());
    }
    if (ir::IsContraction(module_, id)) {
      if (!Join(id)) Open(id);
      return;
    }
    Follow(id);
  }

  // Rule (a), first half; also the contraction half of rule (b).
  bool Join(ValueId id) {
    const ir::Instruction& it = module_.at(id);
    if (it.opcode != Opcode::kDot) return false;
    const ir::DotDims dims = ir::DotDimsOf(module_, id);
    if (dims.count(DotRole::kBatch) == 0) return false;
    int joined = -1;
    for (int side = 0; side < 2; ++side) {
      const ValueState& state = states_[it.operands[side]];
      if (!state.inside || !CarriesBatch(dims, side, state)) continue;
      const int block = blocks_.Find(state.block);
      if (joined < 0) {
        joined = block;
      } else if (joined != block) {
        if (Unrelated(joined, block)) {
          joined = Merge(joined, block);
        } else if (Depth(block) > Depth(joined)) {
          joined = block;
        }
      }
    }
    if (joined < 0) return false;
    ValueState& out = states_[id];
    out.block = joined;
    out.inside = true;
    out.labels.assign(it.shape.rank(), -1);
    for (int side = 0; side < 2; ++side) {
      const ValueState& state = states_[it.operands[side]];
      if (!state.inside || blocks_.Find(state.block) != joined) continue;
      for (size_t dim = 0; dim < dims.side[side].size(); ++dim) {
        const int target = dims.side[side][dim].output;
        if (target >= 0) SetLabel(out, target, state.labels[dim]);
      }
    }
    // A free dimension of a weight is a column here as it is in a root.
    for (int side = 0; side < 2; ++side) {
      if (direction_.batch_derived[it.operands[side]]) continue;
      for (const ir::DotDims::Dim& dim : dims.side[side]) {
        if (dim.role != DotRole::kFree || out.labels[dim.output] >= 0) continue;
        out.labels[dim.output] = labels_.Add();
        joined_columns_.insert(out.labels[dim.output]);
      }
    }
    // A batch dimension a parameter has too is a dimension of experts.
    for (int side = 0; side < 2; ++side) {
      const ValueState& other = states_[it.operands[1 - side]];
      if (direction_.batch_derived[it.operands[side]] || !other.inside ||
          direction_.recomputable[it.operands[side]]) {
        continue;
      }
      for (size_t dim = 0; dim < dims.side[side].size(); ++dim) {
        if (dims.side[side][dim].role != DotRole::kBatch) continue;
        const int label = other.labels[dims.side[side][dim].partner];
        if (label >= 0) expert_labels_.insert(labels_.Find(label));
      }
    }
    joined_[id] = joined;
    return true;
  }

  bool CarriesBatch(const ir::DotDims& dims, int side,
                    const ValueState& state) const {
    for (size_t dim = 0; dim < dims.side[side].size(); ++dim) {
      if (dims.side[side][dim].role == DotRole::kBatch &&
          state.labels[dim] < 0) {
        return false;
      }
    }
    return true;
  }

  // Rule (a), second half.
  void Open(ValueId id) {
    const ir::Instruction& it = module_.at(id);
    Root root;
    root.id = id;
    root.depth = 1;
    for (int ancestor : reached_[id]) {
      root.depth = std::max(root.depth, roots_[ancestor].depth + 1);
    }
    root.ancestors = reached_[id];
    root.row_operand = !direction_.batch_derived[it.operands[0]] &&
                               direction_.batch_derived[it.operands[1]]
                           ? 1
                           : 0;
    ValueState& out = states_[id];
    out.block = blocks_.Add();
    out.inside = true;
    for (int dim = 0; dim < it.shape.rank(); ++dim) {
      root.labels.push_back(labels_.Add());
    }
    out.labels = root.labels;
    reached_[id].insert(static_cast<int>(roots_.size()));
    block_roots_.push_back({static_cast<int>(roots_.size())});
    roots_.push_back(std::move(root));
  }

  // Rules (b), (c), (d), (e) for everything that is no contraction.
  void Follow(ValueId id) {
    const ir::Instruction& it = module_.at(id);
    int source = -1;  // operand number of the deepest-rooted operand
    for (size_t i = 0; i < it.operands.size(); ++i) {
      const ValueState& state = states_[it.operands[i]];
      if (state.block < 0) continue;
      if (source < 0) {
        source = static_cast<int>(i);
        continue;
      }
      const ValueState& best = states_[it.operands[source]];
      const int a = blocks_.Find(best.block);
      const int b = blocks_.Find(state.block);
      if (a == b) {
        // Behind a reduction of the same block stays behind it.
        if (best.inside && !state.inside) source = static_cast<int>(i);
      } else if (best.inside && state.inside && ir::IsElementwise(it.opcode) &&
                 Unrelated(a, b)) {
        Merge(a, b);
        UnifyLabels(states_[it.operands[source]], states_[it.operands[i]]);
      } else if (Depth(b) > Depth(a)) {
        source = static_cast<int>(i);
      }
    }
    if (source < 0) return;
    const ValueState& from = states_[it.operands[source]];
    ValueState& out = states_[id];
    out.block = blocks_.Find(from.block);
    if (!from.inside || ReducesSplitDimension(id, source, from)) return;
    const std::vector<int64_t>* dims = ir::UniformDims(it.shape);
    out.inside = dims != nullptr;
    if (dims == nullptr) {
      ++graph_.barriers[it.attributes().opcode()];
      return;
    }
    out.labels.assign(dims->size(), -1);
    for (size_t i = 0; i < it.operands.size(); ++i) {
      const ValueState& state = states_[it.operands[i]];
      if (!state.inside || blocks_.Find(state.block) != out.block) continue;
      for (const DimLink& link : ir::DimLinks(module_, id, i)) {
        SetLabel(out, link.out, state.labels[link.in]);
      }
    }
    const bool kept = std::any_of(out.labels.begin(), out.labels.end(),
                                  [](int label) { return label >= 0; });
    if (!kept) {
      if (it.opcode != Opcode::kReduce)
        ++graph_.barriers[it.attributes().opcode()];
      out.inside = false;
    }
  }

  // Rule (d).
  bool ReducesSplitDimension(ValueId id, int operand,
                             const ValueState& from) const {
    if (module_.at(id).opcode != Opcode::kReduce) return false;
    std::vector<char> kept(from.labels.size(), 0);
    for (const DimLink& link : ir::DimLinks(module_, id, operand)) {
      kept[link.in] = 1;
    }
    const std::set<int> split = SplitLabels(blocks_.Find(from.block));
    for (size_t dim = 0; dim < from.labels.size(); ++dim) {
      if (!kept[dim] && from.labels[dim] >= 0 &&
          (split.contains(labels_.Find(from.labels[dim])) ||
           joined_columns_.contains(from.labels[dim]))) {
        return true;
      }
    }
    return false;
  }

  // The labels a strategy may split: of each root the outermost row and column
  // that some axis divides, or, so that a mesh that divides nothing finds the
  // same blocks, the outermost ones.
  std::set<int> SplitLabels(int block) const {
    std::set<int> split;
    for (int root : block_roots_[block]) {
      const Root& it = roots_[root];
      for (const auto& dims : {RowDims(it), ColumnDims(it)}) {
        if (dims.empty()) continue;
        const auto divisible =
            std::find_if(dims.begin(), dims.end(), [&](int dim) {
              return Divides(module_.at(it.id).shape.dims[dim]);
            });
        const int dim = divisible == dims.end() ? dims.front() : *divisible;
        split.insert(labels_.Find(it.labels[dim]));
      }
    }
    return split;
  }

  bool Divides(int64_t size) const {
    return std::any_of(
        axis_sizes_.begin(), axis_sizes_.end(),
        [&](int64_t parts) { return size > 0 && size % parts == 0; });
  }

  // Output dimensions of a root by kind, outermost first.
  std::vector<int> RowDims(const Root& root) const {
    return OutputDims(root, /*rows=*/true);
  }
  std::vector<int> ColumnDims(const Root& root) const {
    return OutputDims(root, /*rows=*/false);
  }
  std::vector<int> OutputDims(const Root& root, bool rows) const {
    std::vector<int> dims;
    if (module_.at(root.id).opcode == Opcode::kConvolution) {
      const auto links = ir::DimLinks(module_, root.id, rows ? 0 : 1);
      for (const DimLink& link : links) dims.push_back(link.out);
      return dims;
    }
    const ir::DotDims numbers = ir::DotDimsOf(module_, root.id);
    const int side = rows ? root.row_operand : 1 - root.row_operand;
    for (const ir::DotDims::Dim& dim : numbers.side[side]) {
      if (dim.role == DotRole::kFree || (rows && dim.role == DotRole::kBatch)) {
        dims.push_back(dim.output);
      }
    }
    std::sort(dims.begin(), dims.end());
    std::erase_if(dims, [&](int dim) {
      return expert_labels_.contains(labels_.Find(root.labels[dim]));
    });
    return dims;
  }

  void SetLabel(ValueState& state, int dim, int label) {
    if (label < 0) return;
    if (state.labels[dim] >= 0) {
      UnionLabels(state.labels[dim], label);
    } else {
      state.labels[dim] = label;
    }
  }

  void UnifyLabels(const ValueState& a, const ValueState& b) {
    for (size_t i = 0; i < std::min(a.labels.size(), b.labels.size()); ++i) {
      if (a.labels[i] >= 0 && b.labels[i] >= 0) {
        UnionLabels(a.labels[i], b.labels[i]);
      }
    }
  }

  void UnionLabels(int a, int b) {
    const bool experts = expert_labels_.contains(labels_.Find(a)) ||
                         expert_labels_.contains(labels_.Find(b));
    labels_.Union(a, b);
    if (experts) expert_labels_.insert(labels_.Find(a));
  }

  bool Unrelated(int a, int b) const {
    for (int x : block_roots_[a]) {
      for (int y : block_roots_[b]) {
        if (roots_[x].ancestors.contains(y) ||
            roots_[y].ancestors.contains(x)) {
          return false;
        }
      }
    }
    return true;
  }

  int Merge(int a, int b) {
    blocks_.Union(a, b);
    const int merged = blocks_.Find(a);
    const int other = merged == a ? b : a;
    auto& into = block_roots_[merged];
    into.insert(into.end(), block_roots_[other].begin(),
                block_roots_[other].end());
    return merged;
  }

  int Depth(int block) const {
    int depth = 0;
    for (int root : block_roots_[block]) {
      depth = std::max(depth, roots_[root].depth);
    }
    return depth;
  }

  // Gives the union-find blocks their place in the sequence.
  void Number() {
    std::map<int, std::vector<ValueId>> contractions;
    for (const Root& root : roots_) {
      contractions[blocks_.Find(states_[root.id].block)].push_back(root.id);
    }
    for (const auto& [id, block] : joined_) {
      contractions[blocks_.Find(block)].push_back(id);
    }
    struct Entry {
      int depth;
      uint64_t hash;
      int block;
    };
    std::vector<Entry> order;
    for (auto& [block, ids] : contractions) {
      std::sort(ids.begin(), ids.end());
      uint64_t hash = 0;
      for (int root : block_roots_[block]) {
        hash += base::Mix(0, hashes_[roots_[root].id]);
      }
      order.push_back({Depth(block), hash, block});
    }
    std::stable_sort(
        order.begin(), order.end(), [](const Entry& a, const Entry& b) {
          return std::tie(a.depth, a.hash) < std::tie(b.depth, b.hash);
        });
    index_of_.assign(block_roots_.size(), -1);
    for (const Entry& entry : order) {
      index_of_[entry.block] = static_cast<int>(graph_.blocks.size());
      ParallelBlock block;
      block.depth = entry.depth;
      block.contractions = contractions[entry.block];
      for (int root : block_roots_[entry.block]) {
        block.roots.push_back(roots_[root].id);
      }
      std::sort(block.roots.begin(), block.roots.end());
      graph_.blocks.push_back(std::move(block));
      union_block_.push_back(entry.block);
    }
  }

  // What no root reaches, and what lies behind a reduction, goes to its first
  // consumer; without one it stays where it came from.
  void PlaceTheRest() {
    graph_.home.assign(module_.size(), -1);
    graph_.inside.assign(module_.size(), 0);
    for (ValueId id = module_.size() - 1; id >= 0; --id) {
      if (!direction_.forward[id]) continue;
      const ValueState& state = states_[id];
      if (state.inside) {
        graph_.home[id] = index_of_[blocks_.Find(state.block)];
        graph_.inside[id] = 1;
        continue;
      }
      int first = -1;
      for (ValueId user : module_.at(id).users) {
        if (!direction_.forward[user] || graph_.home[user] < 0) continue;
        if (first < 0 || graph_.home[user] < first) first = graph_.home[user];
      }
      graph_.home[id] = first;
    }
    for (ValueId id = module_.size() - 1; id >= 0; --id) SinkAcrossBorder(id);
    for (const int home : graph_.home) {
      if (home >= 0) ++graph_.blocks[home].operators;
    }
  }

  // The square a norm begins with: result and operands both cross to the next
  // block, so it goes with its consumer and one tensor crosses instead of two.
  void SinkAcrossBorder(ValueId id) {
    if (!graph_.inside[id] || ir::IsContraction(module_, id)) return;
    const int block = graph_.home[id];
    int consumer = -1;
    for (ValueId user : module_.at(id).users) {
      if (!direction_.forward[user]) continue;
      if (graph_.home[user] == block) return;
      if (graph_.home[user] >= 0 &&
          (consumer < 0 || graph_.home[user] < consumer)) {
        consumer = graph_.home[user];
      }
    }
    if (consumer < 0) return;
    for (ValueId operand : module_.at(id).operands) {
      if (!graph_.inside[operand] || graph_.home[operand] != block) continue;
      const auto& users = module_.at(operand).users;
      const bool crosses =
          std::any_of(users.begin(), users.end(), [&](ValueId user) {
            return user != id && direction_.forward[user] &&
                   graph_.home[user] != block;
          });
      if (!crosses) return;
    }
    graph_.home[id] = consumer;
    graph_.inside[id] = 0;
  }

  void Describe() {
    // The sizes every label takes, for the question whether it divides.
    std::map<int, std::map<int64_t, ValueId>> sizes;
    for (ValueId id = 0; id < module_.size(); ++id) {
      const ValueState& state = states_[id];
      if (!state.inside) continue;
      const std::vector<int64_t>& dims = *ir::UniformDims(module_.at(id).shape);
      for (size_t dim = 0; dim < state.labels.size(); ++dim) {
        if (state.labels[dim] >= 0) {
          sizes[labels_.Find(state.labels[dim])].emplace(dims[dim], id);
        }
      }
    }
    for (size_t i = 0; i < graph_.blocks.size(); ++i) {
      DescribeBlock(union_block_[i], sizes, graph_.blocks[i]);
    }
    HashBlocks();
  }

  void DescribeBlock(int block,
                     std::map<int, std::map<int64_t, ValueId>>& sizes,
                     ParallelBlock& out) {
    std::vector<const Root*> roots;
    for (ValueId id : out.roots) {
      for (const Root& root : roots_) {
        if (root.id == id) roots.push_back(&root);
      }
    }
    const auto add = [&](StrategyKind kind, auto dims_of) {
      size_t ranks = 0;
      std::vector<std::vector<int>> dims;
      for (const Root* root : roots) {
        dims.push_back(dims_of(*root));
        ranks = std::max(ranks, dims.back().size());
      }
      for (size_t rank = 0; rank < ranks; ++rank) {
        ParallelBlock::Candidate candidate;
        for (size_t r = 0; r < roots.size(); ++r) {
          if (rank >= dims[r].size()) break;
          const int dim = dims[r][rank];
          candidate.splits.push_back(SplitAlongOutput(roots[r]->id, dim));
          const auto& found = sizes[labels_.Find(roots[r]->labels[dim])];
          candidate.sizes.insert(found.begin(), found.end());
        }
        if (candidate.splits.size() == roots.size()) {
          out.candidates[kind].push_back(std::move(candidate));
        }
      }
    };
    add(StrategyKind::kRows, [&](const Root& root) { return RowDims(root); });
    add(StrategyKind::kColumns,
        [&](const Root& root) { return ColumnDims(root); });
    add(StrategyKind::kExperts, [&](const Root& root) {
      std::vector<int> dims;
      for (size_t dim = 0; dim < root.labels.size(); ++dim) {
        if (expert_labels_.contains(labels_.Find(root.labels[dim]))) {
          dims.push_back(static_cast<int>(dim));
        }
      }
      return dims;
    });
    AddContractionCandidates(roots, out);
  }

  void AddContractionCandidates(const std::vector<const Root*>& roots,
                                ParallelBlock& out) {
    for (size_t rank = 0;; ++rank) {
      ParallelBlock::Candidate candidate;
      for (const Root* root : roots) {
        const ir::Instruction& it = module_.at(root->id);
        std::vector<RootSplit> splits;
        if (it.opcode == Opcode::kDot) {
          const ir::DotDims dims = ir::DotDimsOf(module_, root->id);
          for (size_t dim = 0; dim < dims.side[0].size(); ++dim) {
            if (dims.side[0][dim].role != DotRole::kContracting) continue;
            splits.push_back(
                {static_cast<int>(dim), dims.side[0][dim].partner, -1});
          }
        } else {
          const auto& numbers = it.attributes().convolution_dimension_numbers();
          splits.push_back(
              {static_cast<int>(numbers.input_feature_dimension()),
               static_cast<int>(numbers.kernel_input_feature_dimension()), -1});
        }
        if (rank >= splits.size()) break;
        candidate.splits.push_back(splits[rank]);
        candidate.sizes.emplace(
            module_.at(it.operands[0]).shape.dims[splits[rank].lhs], root->id);
      }
      if (candidate.splits.size() != roots.size()) return;
      out.candidates[StrategyKind::kContraction].push_back(
          std::move(candidate));
    }
  }

  RootSplit SplitAlongOutput(ValueId root, int out) const {
    RootSplit split;
    split.out = out;
    for (int side = 0; side < 2; ++side) {
      for (const DimLink& link : ir::DimLinks(module_, root, side)) {
        if (link.out == out) (side == 0 ? split.lhs : split.rhs) = link.in;
      }
    }
    return split;
  }

  // Equal blocks: equal operations joined alike. What comes from outside, or
  // from before the roots (a norm, whose like in the first layer has no root
  // above it), counts by shape only.
  void HashBlocks() {
    std::vector<uint64_t> values(module_.size(), 0);
    for (ParallelBlock& block : graph_.blocks) block.hash = 0;
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (!graph_.inside[id]) continue;
      const ir::Instruction& it = module_.at(id);
      uint64_t hash = hashes_[id];
      for (ValueId operand : it.operands) {
        const bool own =
            graph_.inside[operand] && graph_.home[operand] == graph_.home[id];
        hash = base::Mix(
            hash, own ? values[operand] : HashShape(module_.at(operand).shape));
      }
      values[id] = hash;
      graph_.blocks[graph_.home[id]].hash += base::Mix(1, hash);
    }
  }

  const Module& module_;
  const Direction& direction_;
  const std::vector<uint64_t>& hashes_;
  const std::vector<int64_t>& axis_sizes_;

  std::vector<ValueState> states_;
  std::vector<std::set<int>> reached_;  // roots at or above a value
  UnionFind blocks_;
  UnionFind labels_;
  std::vector<Root> roots_;
  std::vector<std::vector<int>> block_roots_;  // by union-find block
  std::map<ValueId, int> joined_;
  std::set<int> expert_labels_;
  std::set<int> joined_columns_;
  std::vector<int> index_of_;     // union-find block -> sequence index
  std::vector<int> union_block_;  // and back
  BlockGraph graph_;
};

}  // namespace

const char* StrategyName(StrategyKind kind) {
  switch (kind) {
    case StrategyKind::kRows:
      return "rows";
    case StrategyKind::kColumns:
      return "columns";
    case StrategyKind::kContraction:
      return "contraction";
    case StrategyKind::kExperts:
      return "experts";
    case StrategyKind::kReplicated:
      return "replicated";
  }
  return "replicated";
}

BlockGraph BuildBlocks(const Module& module, const Direction& direction,
                       const std::vector<uint64_t>& hashes,
                       const std::vector<int64_t>& axis_sizes) {
  return BlockBuilder(module, direction, hashes, axis_sizes).Run();
}

StrategySet StrategiesFor(const Module& module, const ParallelBlock& block,
                          int64_t parts) {
  StrategySet set;
  for (const StrategyKind kind :
       {StrategyKind::kRows, StrategyKind::kColumns, StrategyKind::kContraction,
        StrategyKind::kExperts}) {
    const auto found = block.candidates.find(kind);
    if (found == block.candidates.end()) continue;
    std::string reason;
    bool kept = false;
    for (const ParallelBlock::Candidate& candidate : found->second) {
      const auto bad = std::find_if(
          candidate.sizes.begin(), candidate.sizes.end(),
          [&](const auto& size) { return size.first % parts != 0; });
      if (bad == candidate.sizes.end()) {
        set.strategies.push_back({kind, candidate.splits});
        kept = true;
        break;
      }
      if (reason.empty()) {
        reason = absl::StrCat("a dimension of size ", bad->first, " at ",
                              module.at(bad->second).name(),
                              " does not divide by ", parts);
      }
    }
    if (!kept) set.lost.push_back({kind, reason});
  }
  if (set.strategies.empty()) {
    set.strategies.push_back({StrategyKind::kReplicated,
                              std::vector<RootSplit>(block.roots.size())});
  }
  return set;
}

}  // namespace meshwright::segmenter
