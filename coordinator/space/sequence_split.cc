#include "coordinator/space/sequence_split.h"

#include <algorithm>
#include <unordered_map>

#include "coordinator/ir/dim_links.h"
#include "coordinator/space/resplit.h"

namespace meshwright::space {
namespace {

using ir::ValueId;
using segmenter::Analysis;
using segmenter::BorderPair;
using segmenter::GradientMatch;
using segmenter::RootSplit;
using segmenter::SegmentGraph;
using segmenter::Strategy;
using segmenter::StrategyKind;

class SequenceSplitter {
 public:
  SequenceSplitter(const Analysis& analysis, const SegmentGraph& graph,
                   const std::vector<const Strategy*>& strategies,
                   const SegmentAnnotation& plain, int axis, const Mesh& mesh)
      : analysis_(analysis),
        graph_(graph),
        strategies_(strategies),
        axis_(axis),
        resplit_(analysis, graph, plain, axis, mesh),
        count_(static_cast<int>(graph.values.size())),
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
    SettleBorders();
    for (int i = 0; i < count_; ++i) {
      if (label_[i] >= 0) resplit_.Change(i, label_[i]);
    }
    return resplit_.Finish();
  }

 private:
  ValueId Origin(int i) const { return graph_.values[i].origin; }
  const ir::Instruction& At(int i) const {
    return analysis_.module.at(Origin(i));
  }
  bool IsForward(int i) const { return analysis_.direction.forward[Origin(i)]; }
  bool IsContraction(int i) const {
    return !graph_.is_input(i) &&
           ir::IsContraction(analysis_.module, Origin(i));
  }
  int IndexOf(ValueId id) const {
    const auto found = index_.find(id);
    return found == index_.end() ? -1 : found->second;
  }

  // ---- what stays as it is ----

  bool IsRoot(ValueId forward) const {
    const int home = analysis_.blocks.home[forward];
    if (home < 0) return false;
    const auto& roots = analysis_.blocks.blocks[home].roots;
    return std::find(roots.begin(), roots.end(), forward) != roots.end();
  }

  // A contraction that joined a block, or a gradient of one.
  bool IsJoined(int i) const {
    if (IsForward(i)) return !IsRoot(Origin(i));
    const auto match = analysis_.gradients.find(Origin(i));
    return match == analysis_.gradients.end() || !IsRoot(match->second.forward);
  }

  // What leads from or to a joined contraction with no other one between.
  void CloseAttention() {
    std::vector<char> after(count_, 0), before(count_, 0);
    for (int i = graph_.input_count; i < count_; ++i) {
      if (IsContraction(i)) continue;
      for (int operand : graph_.values[i].operands) {
        if (IsForward(operand) != IsForward(i)) continue;
        after[i] |= IsContraction(operand) ? IsJoined(operand) : after[operand];
      }
    }
    for (int i = count_ - 1; i >= 0; --i) {
      if (IsContraction(i)) continue;
      for (int user : graph_.values[i].users) {
        if (IsForward(user) != IsForward(i)) continue;
        before[i] |= IsContraction(user) ? IsJoined(user) : before[user];
      }
    }
    for (int i = 0; i < count_; ++i) closed_[i] = after[i] | before[i];
  }

  void CloseArguments() {
    for (int i = 0; i < graph_.input_count; ++i) {
      if (At(i).opcode == ir::Opcode::kParameter) closed_[i] = 1;
    }
  }

  bool CanLabel(int i, int dim) const {
    return dim >= 0 && label_[i] < 0 && !closed_[i] && resplit_.IsOpen(i) &&
           !IsContraction(i) && !ir::IsLoopBorder(At(i).opcode) &&
           resplit_.Fits(i, dim);
  }

  // ---- where it begins ----

  void Seed(int i, int dim) {
    if (!CanLabel(i, dim)) return;
    label_[i] = dim;
    open_.push_back(i);
  }
  void SeedUsers(int i, int dim) {
    for (int user : graph_.values[i].users) {
      if (IsContraction(user)) continue;
      const auto& operands = graph_.values[user].operands;
      for (size_t k = 0; k < operands.size(); ++k) {
        if (operands[k] != i) continue;
        Seed(user, resplit_.PushThrough(user, static_cast<int>(k), dim));
      }
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
        const int root = IndexOf(roots[r]);
        if (root >= 0) visit(root, Rows(block, r));
      }
    }
  }

  void SeedBlocks() {
    ForEachRoot([&](int root, const std::vector<RootSplit>& rows) {
      for (const RootSplit& row : rows) {
        if (!resplit_.Fits(root, row.out)) continue;
        const auto& operands = graph_.values[root].operands;
        Seed(operands[0], row.lhs);
        Seed(operands[1], row.rhs);
        if (resplit_.Before(root) < 0) SeedUsers(root, row.out);
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
      const int root = IndexOf(match.forward);
      if (root < 0) continue;
      const int g = graph_.values[i].operands[match.cotangent_operand];
      for (int user : graph_.values[root].users) {
        SeedAlike(g, match.cotangent_dims, root, user);
      }
      const int source = graph_.values[root].operands[match.differentiated];
      if (resplit_.Before(i) >= 0 || label_[source] < 0) continue;
      SeedUsers(i, PlaceOf(match.output_dims, label_[source]));
    }
  }

  static int PlaceOf(const std::vector<int>& dims, int wanted) {
    const auto at = std::find(dims.begin(), dims.end(), wanted);
    return at == dims.end() ? kWhole : static_cast<int>(at - dims.begin());
  }

  // The cotangent of a root is split as what reads the root is.
  void SeedAlike(int cotangent, const std::vector<int>& dims, int root,
                 int user) {
    if (label_[user] < 0) return;
    const auto& operands = graph_.values[user].operands;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k] != root) continue;
      const int out =
          resplit_.PullThrough(user, static_cast<int>(k), label_[user]);
      Seed(cotangent, PlaceOf(dims, out));
    }
  }

  // ---- where it goes ----

  void Spread() {
    while (!open_.empty()) {
      const int value = open_.back();
      open_.pop_back();
      SeedUsers(value, label_[value]);
      if (graph_.is_input(value)) continue;
      const auto& operands = graph_.values[value].operands;
      for (size_t k = 0; k < operands.size(); ++k) {
        Seed(operands[k],
             resplit_.PullThrough(value, static_cast<int>(k), label_[value]));
      }
    }
  }

  // A gradient crosses split like its activation.
  void SettleBorders() {
    for (const auto* pairs : {&graph_.entries, &graph_.exits}) {
      for (const BorderPair& pair : *pairs) {
        if (pair.gradient < 0) continue;
        const int wanted = label_[pair.activation];
        if (label_[pair.gradient] == wanted) continue;
        label_[pair.gradient] = kWhole;
        if (wanted >= 0 && resplit_.IsOpen(pair.gradient) &&
            resplit_.Fits(pair.gradient, wanted)) {
          label_[pair.gradient] = wanted;
        } else {
          label_[pair.activation] = kWhole;
        }
      }
    }
  }

  const Analysis& analysis_;
  const SegmentGraph& graph_;
  const std::vector<const Strategy*>& strategies_;
  const int axis_;
  Resplit resplit_;
  const int count_;
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
