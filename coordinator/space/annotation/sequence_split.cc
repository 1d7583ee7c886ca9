#include "coordinator/space/annotation/sequence_split.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "coordinator/segmenter/segment_view.h"
#include "coordinator/space/annotation/respecify.h"

namespace meshwright::space {
namespace {

using ir::ValueId;
using segmenter::Analysis;
using segmenter::BoundaryPair;
using segmenter::GradientMatch;
using segmenter::RootSplit;
using segmenter::SegmentGraph;
using segmenter::Strategy;
using segmenter::StrategyKind;

class SequenceSplitter : segmenter::SegmentView {
 public:
  SequenceSplitter(const Analysis& analysis, const SegmentGraph& graph,
                   const std::vector<const Strategy*>& strategies,
                   const SegmentAnnotation& plain, int axis, const Mesh& mesh)
      : SegmentView(analysis, graph),
        strategies_(strategies),
        axis_(axis),
        respecifier_(analysis, graph, plain, axis, mesh),
        label_(count_, kWhole),
        closed_(count_, 0) {
    for (int i = 0; i < count_; ++i) index_[Origin(i)] = i;
  }

  AxisAnnotation Run() {
    CloseAttention();
    CloseArguments();
    SeedBlocks();
    Spread();
    SeedGradients();
    Spread();
    SplitGradients();
    for (int i = 0; i < count_; ++i) {
      if (label_[i] >= 0) respecifier_.Change(i, label_[i]);
    }
    return respecifier_.Finish();
  }

 private:
  std::optional<int> FindIndex(ValueId id) const {
    const auto found = index_.find(id);
    if (found == index_.end()) return std::nullopt;
    return found->second;
  }

  // ---- what stays as it is ----

  bool IsRoot(ValueId forward) const {
    const std::optional<int> block = analysis_.blocks.owner_block[forward];
    if (!block.has_value()) return false;
    const auto& roots = analysis_.blocks.blocks[*block].roots;
    return std::binary_search(roots.begin(), roots.end(), forward);
  }

  // A contraction that joined a block, or a gradient of one.
  bool IsJoined(int i) const {
    if (IsForward(i)) return !IsRoot(Origin(i));
    const auto match = analysis_.gradients.find(Origin(i));
    return match == analysis_.gradients.end() || !IsRoot(match->second.forward);
  }

  // Whether the contraction adds up what the axis' devices have computed, so
  // that what a block split ends in it: the way back from experts.
  bool AddsUp(int i) const {
    if (!IsContraction(i) || respecifier_.Before(i) >= 0) return false;
    const ir::DotDims dims =
        ir::GetContractionDims(analysis_.module, Origin(i));
    for (int side : {0, 1}) {
      const int dim = respecifier_.Asked(i, side);
      if (dim >= 0 && dims.side[side][dim].role == ir::DotRole::kContracting) {
        return true;
      }
    }
    return false;
  }

  // Whether operand number k of a gradient is that of such a sum, which its
  // devices want whole again.
  bool BringsBack(int i, int value) const {
    const auto match = analysis_.gradients.find(Origin(i));
    if (IsForward(i) || match == analysis_.gradients.end()) return false;
    const std::optional<int> forward = FindIndex(match->second.forward);
    return forward.has_value() && AddsUp(*forward) &&
           Operands(i)[match->second.cotangent_operand] == value;
  }

  // Values that lead from or to a joined contraction with no other one between.
  void CloseAttention() {
    std::vector<char> after(count_, 0), before(count_, 0);
    for (int i = graph_.input_count; i < count_; ++i) {
      if (IsContraction(i)) continue;
      for (int operand : Operands(i)) {
        if (IsForward(operand) != IsForward(i)) continue;
        after[i] |= IsContraction(operand)
                        ? IsJoined(operand) && !AddsUp(operand)
                        : after[operand];
      }
    }
    for (int i = count_ - 1; i >= 0; --i) {
      if (IsContraction(i)) continue;
      for (int user : Users(i)) {
        if (IsForward(user) != IsForward(i)) continue;
        before[i] |= IsContraction(user)
                         ? IsJoined(user) && !BringsBack(user, i)
                         : before[user];
      }
    }
    for (int i = 0; i < count_; ++i) closed_[i] = after[i] | before[i];
  }

  void CloseArguments() {
    for (int i = 0; i < graph_.input_count; ++i) {
      if (IsArgument(i)) closed_[i] = 1;
    }
  }

  bool CanLabel(int i, int dim) const {
    return dim >= 0 && label_[i] < 0 && !closed_[i] && respecifier_.IsOpen(i) &&
           !IsContraction(i) && !ir::IsLoopBoundary(At(i).opcode) &&
           respecifier_.Fits(i, dim);
  }

  // ---- flattened tokens ----
  //
  // Where a layer takes [batch, sequence, ...] as [tokens, ...], parts of the
  // tokens are parts of the batch. Its contractions are split so; what is in
  // front of the reshape there, and behind the one back, along the sequence.

  // Of the dimensions that a reshape of `value` splits one of `size` into, from
  // the outermost on, the next that can be split; else the outermost.
  int Inner(int value, int outermost, int64_t size) const {
    const std::vector<int64_t>& dims = At(value).shape.dims;
    if (outermost < 0 || dims[outermost] >= size) return outermost;
    int64_t product = dims[outermost];
    for (int dim = outermost + 1; dim < static_cast<int>(dims.size()); ++dim) {
      product *= dims[dim];
      if (product > size) break;
      if (respecifier_.Fits(value, dim)) return dim;
    }
    return outermost;
  }

  // The link of a reshape to dimension `dim` of its result, or to one merged
  // with it; null where it is no reshape.
  std::optional<ir::DimLink> ReshapeLink(int value, int dim) const {
    if (IsInput(value) || At(value).opcode != ir::Opcode::kReshape) {
      return std::nullopt;
    }
    std::optional<ir::DimLink> found;
    for (const ir::DimLink& link : Links(value, 0)) {
      if (link.out <= dim && (!found.has_value() || link.out > found->out)) {
        found = link;
      }
    }
    return found;
  }
  int64_t OperandSize(int reshape, int dim) const {
    return At(Operands(reshape)[0]).shape.dims[dim];
  }

  // The dimension that the readers of a value split so are split along.
  int Behind(int value, int dim) const {
    const auto link = ReshapeLink(value, dim);
    if (!link.has_value() || link->out != dim) return dim;
    return Inner(value, dim, OperandSize(value, link->in));
  }

  // The dimension that a value is split along whose readers are split so.
  int Before(int value, int dim) const {
    const auto link = ReshapeLink(value, dim);
    if (!link.has_value() || link->out == dim) return dim;
    const int inner = Inner(value, link->out, OperandSize(value, link->in));
    return inner == dim && CanLabel(value, link->out) ? link->out : dim;
  }

  // Of operand k of a value with that split.
  int Above(int value, int k, int dim) const {
    const int operand = Operands(value)[k];
    const int pulled = respecifier_.PullThrough(value, k, dim);
    if (At(value).opcode != ir::Opcode::kReshape) return pulled;
    return Inner(operand, pulled, At(value).shape.dims[dim]);
  }

  // Tokens that only contractions read, which want them whole: gathered in
  // front of the reshape.
  bool IsFlattened(int value, int dim) const {
    const auto link = ReshapeLink(value, dim);
    if (!link.has_value() || link->out != dim ||
        OperandSize(value, link->in) >= At(value).shape.dims[dim]) {
      return false;
    }
    const auto& users = Users(value);
    return std::all_of(users.begin(), users.end(),
                       [&](int user) { return IsContraction(user); });
  }

  // ---- where it begins ----

  void Seed(int i, int dim) {
    if (dim >= 0) dim = Before(i, dim);
    if (!CanLabel(i, dim)) return;
    if (IsFlattened(i, dim)) {
      Seed(Operands(i)[0], Above(i, 0, dim));
      return;
    }
    label_[i] = dim;
    open_.push_back(i);
  }
  void SeedUsers(int i, int dim) {
    dim = Behind(i, dim);
    for (const auto& [user, operand] : Uses(i)) {
      if (IsContraction(user)) continue;
      Seed(user, respecifier_.PushThrough(user, operand, dim));
    }
  }

  // The row dimensions of a root, the ones behind the outermost first.
  std::vector<RootSplit> Rows(int block, size_t root) const {
    std::vector<RootSplit> rows;
    const auto& candidates = analysis_.blocks.blocks[block].candidates;
    const auto found = candidates.find(StrategyKind::kRows);
    if (found == candidates.end()) return rows;
    for (const auto& candidate : found->second) {
      rows.push_back(candidate.splits[root]);
    }
    if (rows.size() > 1)
      std::rotate(rows.begin(), rows.begin() + 1, rows.end());
    return rows;
  }

  template <typename Visit>
  void ForEachRoot(Visit visit) const {
    const int first = analysis_.plan.segments[graph_.segment].first_block;
    for (size_t b = 0; b < strategies_.size(); ++b) {
      const int block = first + static_cast<int>(b);
      const StrategyKind kind = strategies_[b]->axes[axis_].kind;
      if (kind == StrategyKind::kRows || kind == StrategyKind::kReplicated) {
        continue;
      }
      const auto& roots = analysis_.blocks.blocks[block].roots;
      for (size_t r = 0; r < roots.size(); ++r) {
        const std::optional<int> root = FindIndex(roots[r]);
        if (root.has_value()) visit(*root, Rows(block, r));
      }
    }
  }

  void SeedBlocks() {
    ForEachRoot([&](int root, const std::vector<RootSplit>& rows) {
      for (const RootSplit& row : rows) {
        const int out = row.out.value_or(kWhole);
        if (!respecifier_.Fits(root, out)) continue;
        const auto& operands = Operands(root);
        Seed(operands[0], row.lhs.value_or(kWhole));
        Seed(operands[1], row.rhs.value_or(kWhole));
        if (respecifier_.Before(root) < 0) SeedUsers(root, out);
        return;
      }
    });
  }

  // The gradient of a root's activation, and what its gradients are made of.
  void SeedGradients() {
    for (int i = graph_.input_count; i < count_; ++i) {
      const auto found = analysis_.gradients.find(Origin(i));
      if (found == analysis_.gradients.end()) continue;
      const GradientMatch& match = found->second;
      if (match.recomputation || !IsRoot(match.forward)) continue;
      const std::optional<int> root = FindIndex(match.forward);
      if (!root.has_value()) continue;
      const int g = Operands(i)[match.cotangent_operand];
      for (const segmenter::Use& use : Uses(*root)) {
        SeedAlike(g, match.cotangent_dims, use);
      }
      const int source = Operands(*root)[match.differentiated];
      if (respecifier_.Before(i) >= 0 || label_[source] < 0) continue;
      SeedUsers(i, FindPlace(match.output_dims, label_[source]));
    }
  }

  static int FindPlace(const std::vector<std::optional<int>>& dims,
                       int wanted) {
    const auto at = std::find(dims.begin(), dims.end(), wanted);
    return at == dims.end() ? kWhole : static_cast<int>(at - dims.begin());
  }

  // The cotangent of a root is split as what reads the root is.
  void SeedAlike(int cotangent, const std::vector<std::optional<int>>& dims,
                 const segmenter::Use& use) {
    const int label = label_[use.user];
    if (label < 0) return;
    const int out = respecifier_.PullThrough(use.user, use.operand, label);
    Seed(cotangent, FindPlace(dims, out));
  }

  // ---- where it goes ----

  void Spread() {
    while (!open_.empty()) {
      const int value = open_.back();
      open_.pop_back();
      SeedUsers(value, label_[value]);
      if (IsInput(value)) continue;
      const auto& operands = Operands(value);
      for (size_t k = 0; k < operands.size(); ++k) {
        Seed(operands[k], Above(value, static_cast<int>(k), label_[value]));
      }
    }
  }

  // A gradient crosses split like its activation.
  void SplitGradients() {
    for (const BoundaryPair& pair : graph_.boundary_pairs()) {
      const int wanted = label_[pair.activation];
      if (label_[pair.gradient] == wanted) continue;
      label_[pair.gradient] = kWhole;
      if (wanted >= 0 && respecifier_.IsOpen(pair.gradient) &&
          respecifier_.Fits(pair.gradient, wanted)) {
        label_[pair.gradient] = wanted;
      } else {
        label_[pair.activation] = kWhole;
      }
    }
  }

  const std::vector<const Strategy*>& strategies_;
  const int axis_;
  Respecifier respecifier_;
  std::unordered_map<ValueId, int> index_;
  std::vector<int> label_;  // by value: the dimension to split, or kWhole
  std::vector<char> closed_;
  std::vector<int> open_;
};

}  // namespace

SegmentAnnotation SplitSequence(const Analysis& analysis,
                                const SegmentGraph& graph,
                                const std::vector<const Strategy*>& strategies,
                                const SegmentAnnotation& plain,
                                const Mesh& mesh) {
  SegmentAnnotation split = plain;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (mesh[axis] < 2) continue;
    split.axes[axis] = SequenceSplitter(analysis, graph, strategies, split,
                                        static_cast<int>(axis), mesh)
                           .Run();
  }
  return split;
}

}  // namespace meshwright::space
