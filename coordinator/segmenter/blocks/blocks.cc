#include "coordinator/segmenter/blocks/blocks.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/links/dim_links.h"
#include "coordinator/ir/shape.h"
#include "coordinator/segmenter/blocks/boundary_placement.h"
#include "coordinator/segmenter/direction/hash.h"
#include "coordinator/segmenter/direction/root_order.h"

namespace meshwright::segmenter {
namespace {

using ir::DimLink;
using ir::DotRole;
using ir::Module;
using ir::Opcode;
using ir::ValueId;

// Of a block with more roots the rest is as good as these.
constexpr size_t kMostRoots = 256;
constexpr int kMostSinkSteps = 4;

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
        states_(module.size()),
        order_(module.size()) {}

  BlockGraph Run() {
    for (ValueId id = 0; id < module_.size(); ++id) {
      const ir::Instruction& it = module_.at(id);
      if (IsOpaque(it)) ++graph_.barriers[it.attributes().opcode()];
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
    std::vector<int> labels;  // by output dimension
    int row_operand = 0;      // the activation side
  };

  void Visit(ValueId id) {
    order_.Follow(id, module_.at(id).operands);
    if (ir::IsContraction(module_, id)) {
      if (!Join(id)) Open(id);
      return;
    }
    Follow(id);
  }

  // Rule (a), first half; also the contraction half of rule (b).
  bool Join(ValueId id) {
    const ir::Instruction& it = module_.at(id);
    const ir::DotDims dims = ir::ContractionDimsOf(module_, id);
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
    // A batch dimension a parameter has too is a dimension of experts; groups
    // of a convolution go on as the columns they came as.
    for (int side = 0; side < 2 && it.opcode == Opcode::kDot; ++side) {
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
    const int number = order_.Open(id);  // its place in roots_
    groups_.push_back(order_.GroupOf(number));
    block_roots_.push_back({number});
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
      CountBarrier(it);
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
      if (it.opcode != Opcode::kReduce) CountBarrier(it);
      out.inside = false;
    }
  }

  // Operations nobody knows are counted wherever they stand, all others where
  // they end a split.
  static bool IsOpaque(const ir::Instruction& it) {
    return it.opcode == Opcode::kCustomCall ||
           (it.opcode == Opcode::kUnknown && !it.operands.empty());
  }
  void CountBarrier(const ir::Instruction& it) {
    if (!IsOpaque(it)) ++graph_.barriers[it.attributes().opcode()];
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
    const auto& roots = block_roots_[block];
    for (size_t i = 0; i < std::min(roots.size(), kMostRoots); ++i) {
      const Root& it = roots_[roots[i]];
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
    const ir::DotDims numbers = ir::ContractionDimsOf(module_, root.id);
    const int side = rows ? root.row_operand : 1 - root.row_operand;
    // A weight's groups are its columns; a batch without a weight is a row.
    const bool batch = rows == (module_.at(root.id).opcode == Opcode::kDot);
    for (const ir::DotDims::Dim& dim : numbers.side[side]) {
      if (dim.role == DotRole::kFree ||
          (batch && dim.role == DotRole::kBatch)) {
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
    return order_.Unrelated(groups_[a], groups_[b]);
  }

  int Merge(int a, int b) {
    blocks_.Union(a, b);
    const int merged = blocks_.Find(a);
    const int other = merged == a ? b : a;
    groups_[merged] = order_.Join(groups_[a], groups_[b]);
    auto& into = block_roots_[merged];
    auto& from = block_roots_[other];
    if (into.size() < from.size()) into.swap(from);
    into.insert(into.end(), from.begin(), from.end());
    return merged;
  }

  int Depth(int block) const { return groups_[block].most_depth; }

  // Gives the union-find blocks their place in the sequence.
  void Number() {
    std::map<int, std::vector<ValueId>> contractions;
    for (const Root& root : roots_) {
      contractions[blocks_.Find(states_[root.id].block)].push_back(root.id);
    }
    for (const auto& [id, block] : joined_) {
      contractions[blocks_.Find(block)].push_back(id);
    }
    index_of_.assign(block_roots_.size(), -1);
    for (auto& [block, ids] : contractions) std::sort(ids.begin(), ids.end());
    for (int id : Sequence()) {
      index_of_[id] = static_cast<int>(graph_.blocks.size());
      ParallelBlock block;
      block.depth = Depth(id);
      block.contractions = contractions[id];
      for (int root : block_roots_[id]) block.roots.push_back(roots_[root].id);
      std::sort(block.roots.begin(), block.roots.end());
      graph_.blocks.push_back(std::move(block));
    }
  }

  // The blocks in dependency order, one stack of layers after the other: each
  // behind what it reads, of which the deepest comes first, so that an encoder
  // is finished before the decoder that reads its end begins.
  std::vector<int> Sequence() const {
    std::vector<std::set<int>> reads(block_roots_.size());
    std::vector<char> is_read(block_roots_.size(), 0);
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (states_[id].block < 0) continue;
      const int block = blocks_.Find(states_[id].block);
      for (ValueId operand : module_.at(id).operands) {
        if (states_[operand].block < 0) continue;
        const int source = blocks_.Find(states_[operand].block);
        if (source != block && reads[block].insert(source).second) {
          is_read[source] = 1;
        }
      }
    }
    std::vector<uint64_t> hash(block_roots_.size(), 0);
    std::vector<int> ends;
    for (size_t block = 0; block < block_roots_.size(); ++block) {
      const int id = static_cast<int>(block);
      for (int root : block_roots_[block]) {
        hash[block] += base::Mix(0, hashes_[roots_[root].id]);
      }
      if (blocks_.Find(id) == id && !is_read[block]) ends.push_back(id);
    }
    const auto deepest_first = [&](int a, int b) {
      return std::make_tuple(-Depth(a), hash[a], a) <
             std::make_tuple(-Depth(b), hash[b], b);
    };
    std::sort(ends.begin(), ends.end(), deepest_first);
    std::reverse(ends.begin(), ends.end());
    struct Visit {
      int block;
      std::vector<int> left;  // to visit, last one first
    };
    std::vector<int> sequence;
    std::vector<char> seen(block_roots_.size(), 0);
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
    for (size_t block = 0; block < block_roots_.size(); ++block) {
      const int id = static_cast<int>(block);
      if (blocks_.Find(id) == id) walk(id);
    }
    return sequence;
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
      graph_.home[id] = FirstConsumer(id);
    }
    for (ValueId id = module_.size() - 1; id >= 0; --id) SinkAcrossBorder(id);
    std::vector<int> derived(module_.size(), -1);
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (states_[id].block < 0 || graph_.inside[id]) continue;
      derived[id] = index_of_[blocks_.Find(states_[id].block)];
    }
    SettleBorderHomes(module_, direction_, derived, graph_.home);
    for (ValueId id = module_.size() - 1; id >= 0; --id) {
      if (direction_.forward[id] && !direction_.has_contraction[id]) {
        graph_.home[id] = FirstConsumer(id);
      }
    }
    for (const int home : graph_.home) {
      if (home >= 0) ++graph_.blocks[home].operators;
    }
  }

  int FirstConsumer(ValueId id) const {
    int first = -1;
    for (ValueId user : module_.at(id).users) {
      if (!direction_.forward[user] || graph_.home[user] < 0) continue;
      if (first < 0 || graph_.home[user] < first) first = graph_.home[user];
    }
    return first;
  }

  // Inside the block, but nothing of the block reads it.
  bool LeavesBlock(ValueId id, int block) const {
    if (!graph_.inside[id] || graph_.home[id] != block ||
        ir::IsContraction(module_, id)) {
      return false;
    }
    const auto& users = module_.at(id).users;
    return std::none_of(users.begin(), users.end(), [&](ValueId user) {
      return direction_.forward[user] && graph_.home[user] == block;
    });
  }

  // The square a norm begins with: result and operands both cross to the next
  // block, so it goes with its consumer and one tensor crosses instead of two.
  void SinkAcrossBorder(ValueId id) {
    const int block = graph_.home[id];
    if (!LeavesBlock(id, block)) return;
    int consumer = -1;  // behind the last block
    bool read = false;
    for (ValueId user : module_.at(id).users) {
      if (!direction_.forward[user]) continue;
      read = true;
      if (graph_.home[user] >= 0 &&
          (consumer < 0 || graph_.home[user] < consumer)) {
        consumer = graph_.home[user];
      }
    }
    if (!read) return;
    if (!OperandsCross(id, block, kMostSinkSteps)) return;
    graph_.home[id] = consumer;
    graph_.inside[id] = 0;
  }

  // What the value is made of crosses anyway, itself or, where only the value
  // reads it (a convert before the square), what it is made of.
  bool OperandsCross(ValueId id, int block, int steps) const {
    for (ValueId operand : module_.at(id).operands) {
      if (!graph_.inside[operand] || graph_.home[operand] != block) continue;
      const auto& users = module_.at(operand).users;
      const bool crosses =
          std::any_of(users.begin(), users.end(), [&](ValueId user) {
            return user != id && direction_.forward[user] &&
                   (graph_.home[user] != block || LeavesBlock(user, block));
          });
      if (crosses) continue;
      const bool own =
          std::all_of(users.begin(), users.end(), [&](ValueId user) {
            return user == id || !direction_.forward[user];
          });
      if (!own || steps == 0 || module_.at(operand).operands.empty() ||
          ir::IsContraction(module_, operand) ||
          !OperandsCross(operand, block, steps - 1)) {
        return false;
      }
    }
    return true;
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
      if (module_.at(id).opcode != Opcode::kConvolution) continue;
      for (const DimLink& link : ir::DimLinks(module_, id, 1)) {
        if (link.groups == 0 || state.labels[link.out] < 0) continue;
        sizes[labels_.Find(state.labels[link.out])].emplace(link.groups, id);
      }
    }
    for (ParallelBlock& block : graph_.blocks) DescribeBlock(sizes, block);
    HashBlocks();
  }

  void DescribeBlock(std::map<int, std::map<int64_t, ValueId>>& sizes,
                     ParallelBlock& out) {
    std::vector<const Root*> roots;
    for (ValueId id : out.roots) {
      roots.push_back(&*std::lower_bound(
          roots_.begin(), roots_.end(), id,
          [](const Root& root, ValueId wanted) { return root.id < wanted; }));
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
        for (const ir::ContractedPair& pair :
             ir::ContractedDims(module_, root->id)) {
          splits.push_back({pair.lhs, pair.rhs, -1});
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
  RootOrder order_;
  UnionFind blocks_;
  UnionFind labels_;
  std::vector<Root> roots_;
  std::vector<std::vector<int>> block_roots_;  // by union-find block
  std::vector<RootOrder::Group> groups_;       // likewise
  std::map<ValueId, int> joined_;
  std::set<int> expert_labels_;
  std::set<int> joined_columns_;
  std::vector<int> index_of_;  // union-find block -> sequence index
  BlockGraph graph_;
};

}  // namespace

BlockGraph BuildBlocks(const Module& module, const Direction& direction,
                       const std::vector<uint64_t>& hashes,
                       const std::vector<int64_t>& axis_sizes) {
  return BlockBuilder(module, direction, hashes, axis_sizes).Run();
}

}  // namespace meshwright::segmenter
