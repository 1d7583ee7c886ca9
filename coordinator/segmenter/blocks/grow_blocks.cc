#include "coordinator/segmenter/blocks/grow_blocks.h"

#include <algorithm>
#include <utility>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/links/dim_links.h"
#include "coordinator/ir/shape.h"
#include "coordinator/segmenter/direction/root_order.h"

namespace meshwright::segmenter {
namespace {

using ir::DimLink;
using ir::DotRole;
using ir::Module;
using ir::Opcode;
using ir::ValueId;

// Of a block with more roots the rest is as good as these.
constexpr size_t kMaxRoots = 256;

// Operations nobody knows are counted wherever they stand, all others where
// they end a split.
bool IsOpaque(const ir::Instruction& it) {
  return it.opcode == Opcode::kCustomCall ||
         (it.opcode == Opcode::kUnknown && !it.operands.empty());
}

class BlockGrower {
 public:
  BlockGrower(const Module& module, const ForwardBackward& passes,
              const std::vector<int64_t>& axis_sizes)
      : module_(module),
        passes_(passes),
        axis_sizes_(axis_sizes),
        order_(module.size()) {
    states_.resize(module.size());
  }

  GrownBlocks Run() {
    for (const ValueId id : module_.ids()) {
      const ir::Instruction& it = module_.at(id);
      if (IsOpaque(it)) ++grown_.barriers[it.attributes().opcode()];
      if (!passes_.forward[id]) continue;
      if (passes_.has_contraction[id]) Visit(id);
    }
    for (const RootOrder::Group& group : groups_) {
      grown_.depths.push_back(group.max_depth);
    }
    grown_.is_cut_short = order_.is_cut_short();
    return std::move(grown_);
  }

 private:
  using ValueState = GrownBlocks::Value;
  using Root = GrownBlocks::Root;

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
    const ir::DotDims dims = ir::GetContractionDims(module_, id);
    if (dims.count(DotRole::kBatch) == 0) return false;
    std::optional<int> joined;
    for (int side = 0; side < 2; ++side) {
      const ValueState& state = states_[it.operands[side]];
      if (!state.inside || !CarriesBatch(dims, side, state)) continue;
      const int block = blocks_.Find(*state.block);
      if (!joined.has_value()) {
        joined = block;
      } else if (*joined != block) {
        if (Unrelated(*joined, block)) {
          joined = Merge(*joined, block);
        } else if (Depth(block) > Depth(*joined)) {
          joined = block;
        }
      }
    }
    if (!joined.has_value()) return false;
    ValueState& out = states_[id];
    out.block = *joined;
    out.inside = true;
    out.labels.resize(it.shape.rank());
    for (int side = 0; side < 2; ++side) {
      const ValueState& state = states_[it.operands[side]];
      if (!state.inside || blocks_.Find(*state.block) != *joined) continue;
      for (size_t dim = 0; dim < dims.side[side].size(); ++dim) {
        const std::optional<int> target = dims.side[side][dim].output;
        if (target.has_value()) SetLabel(out, *target, state.labels[dim]);
      }
    }
    // A free dimension of a weight is a column here as it is in a root.
    for (int side = 0; side < 2; ++side) {
      if (passes_.batch_derived[it.operands[side]]) continue;
      for (const ir::DotDims::Dim& dim : dims.side[side]) {
        if (dim.role != DotRole::kFree) continue;
        std::optional<int>& label = out.labels[*dim.output];
        if (label.has_value()) continue;
        label = labels_.Add();
        joined_columns_.insert(*label);
      }
    }
    // A batch dimension a parameter has too is a dimension of experts; groups
    // of a convolution go on as the columns they came as.
    for (int side = 0; side < 2 && it.opcode == Opcode::kDot; ++side) {
      const ValueState& other = states_[it.operands[1 - side]];
      if (passes_.batch_derived[it.operands[side]] || !other.inside ||
          passes_.recomputable[it.operands[side]]) {
        continue;
      }
      for (size_t dim = 0; dim < dims.side[side].size(); ++dim) {
        if (dims.side[side][dim].role != DotRole::kBatch) continue;
        const std::optional<int> label =
            other.labels[*dims.side[side][dim].partner];
        if (label.has_value()) {
          grown_.expert_labels.insert(labels_.Find(*label));
        }
      }
    }
    grown_.joined[id] = *joined;
    return true;
  }

  bool CarriesBatch(const ir::DotDims& dims, int side,
                    const ValueState& state) const {
    for (size_t dim = 0; dim < dims.side[side].size(); ++dim) {
      if (dims.side[side][dim].role == DotRole::kBatch &&
          !state.labels[dim].has_value()) {
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
    root.row_operand = !passes_.batch_derived[it.operands[0]] &&
                               passes_.batch_derived[it.operands[1]]
                           ? 1
                           : 0;
    ValueState& out = states_[id];
    out.block = blocks_.Add();
    out.inside = true;
    for (int dim = 0; dim < it.shape.rank(); ++dim) {
      root.labels.push_back(labels_.Add());
    }
    out.labels.assign(root.labels.begin(), root.labels.end());
    const int number = order_.Open(id);  // its place in grown_.roots
    groups_.push_back(order_.MakeGroup(number));
    grown_.block_roots.push_back({number});
    grown_.roots.push_back(std::move(root));
  }

  // Rules (b), (c), (d), (e) for everything that is no contraction.
  void Follow(ValueId id) {
    const ir::Instruction& it = module_.at(id);
    std::optional<size_t> source;  // the deepest-rooted operand
    for (size_t i = 0; i < it.operands.size(); ++i) {
      const ValueState& state = states_[it.operands[i]];
      if (!state.block.has_value()) continue;
      if (!source.has_value()) {
        source = i;
        continue;
      }
      const ValueState& best = states_[it.operands[*source]];
      const int a = blocks_.Find(*best.block);
      const int b = blocks_.Find(*state.block);
      if (a == b) {
        // Behind a reduction of the same block stays behind it.
        if (best.inside && !state.inside) source = i;
      } else if (best.inside && state.inside && ir::IsElementwise(it.opcode) &&
                 Unrelated(a, b)) {
        Merge(a, b);
        UnifyLabels(states_[it.operands[*source]], states_[it.operands[i]]);
      } else if (Depth(b) > Depth(a)) {
        source = i;
      }
    }
    if (!source.has_value()) return;
    const ValueState& from = states_[it.operands[*source]];
    ValueState& out = states_[id];
    out.block = blocks_.Find(*from.block);
    if (!from.inside ||
        ReducesSplitDimension(id, static_cast<int>(*source), from)) {
      return;
    }
    const std::vector<int64_t>* dims = ir::CollectUniformDims(it.shape);
    out.inside = dims != nullptr;
    if (dims == nullptr) {
      CountBarrier(it);
      return;
    }
    out.labels.resize(dims->size());
    for (size_t i = 0; i < it.operands.size(); ++i) {
      const ValueState& state = states_[it.operands[i]];
      if (!state.inside || blocks_.Find(*state.block) != *out.block) continue;
      for (const DimLink& link : ir::FindDimLinks(module_, id, i)) {
        SetLabel(out, link.out, state.labels[link.in]);
      }
    }
    const bool kept = std::any_of(
        out.labels.begin(), out.labels.end(),
        [](const std::optional<int>& label) { return label.has_value(); });
    if (!kept) {
      if (it.opcode != Opcode::kReduce) CountBarrier(it);
      out.inside = false;
    }
  }

  void CountBarrier(const ir::Instruction& it) {
    if (!IsOpaque(it)) ++grown_.barriers[it.attributes().opcode()];
  }

  // Rule (d).
  bool ReducesSplitDimension(ValueId id, int operand,
                             const ValueState& from) const {
    if (module_.at(id).opcode != Opcode::kReduce) return false;
    std::vector<char> kept(from.labels.size(), 0);
    for (const DimLink& link : ir::FindDimLinks(module_, id, operand)) {
      kept[link.in] = 1;
    }
    const std::set<int> split = SplitLabels(blocks_.Find(*from.block));
    for (size_t dim = 0; dim < from.labels.size(); ++dim) {
      const std::optional<int> label = from.labels[dim];
      if (!kept[dim] && label.has_value() &&
          (split.contains(labels_.Find(*label)) ||
           joined_columns_.contains(*label))) {
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
    const auto& roots = grown_.block_roots[block];
    for (size_t i = 0; i < std::min(roots.size(), kMaxRoots); ++i) {
      const Root& it = grown_.roots[roots[i]];
      for (const bool rows : {true, false}) {
        const std::vector<int> dims = FindOutputDims(module_, grown_, it, rows);
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

  void SetLabel(ValueState& state, int dim, std::optional<int> label) {
    if (!label.has_value()) return;
    if (state.labels[dim].has_value()) {
      UnionLabels(*state.labels[dim], *label);
    } else {
      state.labels[dim] = label;
    }
  }

  void UnifyLabels(const ValueState& a, const ValueState& b) {
    for (size_t i = 0; i < std::min(a.labels.size(), b.labels.size()); ++i) {
      if (a.labels[i].has_value() && b.labels[i].has_value()) {
        UnionLabels(*a.labels[i], *b.labels[i]);
      }
    }
  }

  void UnionLabels(int a, int b) {
    const bool experts = grown_.IsExpert(a) || grown_.IsExpert(b);
    labels_.Union(a, b);
    if (experts) grown_.expert_labels.insert(labels_.Find(a));
  }

  bool Unrelated(int a, int b) const {
    return order_.Unrelated(groups_[a], groups_[b]);
  }

  int Merge(int a, int b) {
    blocks_.Union(a, b);
    const int merged = blocks_.Find(a);
    const int other = merged == a ? b : a;
    groups_[merged] = order_.Join(groups_[a], groups_[b]);
    auto& into = grown_.block_roots[merged];
    auto& from = grown_.block_roots[other];
    if (into.size() < from.size()) into.swap(from);
    into.insert(into.end(), from.begin(), from.end());
    return merged;
  }

  int Depth(int block) const { return groups_[block].max_depth; }

  const Module& module_;
  const ForwardBackward& passes_;
  const std::vector<int64_t>& axis_sizes_;

  GrownBlocks grown_;
  std::vector<ValueState>& states_ = grown_.values;
  UnionFind& blocks_ = grown_.blocks;
  UnionFind& labels_ = grown_.labels;
  RootOrder order_;
  std::vector<RootOrder::Group> groups_;  // by block
  std::set<int> joined_columns_;
};

}  // namespace

std::vector<int> FindOutputDims(const Module& module, const GrownBlocks& grown,
                                const GrownBlocks::Root& root, bool rows) {
  std::vector<int> dims;
  const ir::DotDims numbers = ir::GetContractionDims(module, root.id);
  const int side = rows ? root.row_operand : 1 - root.row_operand;
  // A weight's groups are its columns; a batch without a weight is a row.
  const bool batch = rows == (module.at(root.id).opcode == Opcode::kDot);
  for (const ir::DotDims::Dim& dim : numbers.side[side]) {
    if (dim.role == DotRole::kFree || (batch && dim.role == DotRole::kBatch)) {
      dims.push_back(*dim.output);
    }
  }
  std::sort(dims.begin(), dims.end());
  std::erase_if(dims,
                [&](int dim) { return grown.IsExpert(root.labels[dim]); });
  return dims;
}

GrownBlocks GrowBlocks(const Module& module, const ForwardBackward& passes,
                       const std::vector<int64_t>& axis_sizes) {
  return BlockGrower(module, passes, axis_sizes).Run();
}

}  // namespace meshwright::segmenter
