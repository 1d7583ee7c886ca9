#include "coordinator/space/annotation/annotate.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "coordinator/ir/shape.h"
#include "coordinator/segmenter/segment_view.h"

namespace meshwright::space {
namespace {

using ir::DimLink;
using ir::DotRole;
using ir::Opcode;
using ir::ValueId;
using segmenter::AxisStrategy;
using segmenter::GradientMatch;
using segmenter::SegmentGraph;

constexpr int kUndecided = -2;
constexpr auto kAny = [](int) { return true; };

class AxisAnnotator : segmenter::SegmentView {
 public:
  AxisAnnotator(const segmenter::Analysis& analysis, const SegmentGraph& graph,
                const std::vector<const AxisStrategy*>& strategies,
                int64_t parts, const std::map<int, int>& pins)
      : SegmentView(analysis, graph),
        module_(analysis.module),
        strategies_(strategies),
        parts_(parts) {
    result_.split.assign(count_, kUndecided);
    for (const auto& [value, dim] : pins) Decide(value, dim);
    const segmenter::Segment& segment = analysis.plan.segments[graph.segment];
    first_block_ = segment.first_block;
    last_block_ = segment.last_block;
    for (int i = 0; i < count_; ++i) index_[Origin(i)] = i;
    FindOwnerBlocks();
  }

  AxisAnnotation Run() {
    PinRoots();
    DownwardsInBlocks();
    PullInBlocks();
    FillForward();
    PullForward();
    FinishForward();
    PinBoundaries();
    PinGradients();
    PullBackward();
    FillBackward();
    PullKept();
    for (int& split : result_.split) {
      if (split == kUndecided) split = kWhole;
    }
    DemandTransformed();
    return std::move(result_);
  }

 private:
  // ---- small questions ----

  bool Forward(int i) const { return analysis_.passes.forward[Origin(i)]; }
  bool Recomputable(int i) const {
    return analysis_.passes.recomputable[Origin(i)];
  }
  bool Inside(int i) const {
    return !graph_.is_input(i) && analysis_.blocks.inside[Origin(i)];
  }
  bool Decided(int i) const { return result_.split[i] != kUndecided; }

  // The block a forward value belongs to here; for inputs and what everyone
  // computes that of their first reader; none outside of the segment's blocks.
  std::optional<int> OwnerBlock(int i) const { return owner_block_[i]; }
  // Readers come before what they read: each value is visited once, however
  // many paths lead to it.
  void FindOwnerBlocks() {
    owner_block_.resize(count_);
    for (int i = count_ - 1; i >= 0; --i) {
      const std::optional<int> own = analysis_.blocks.owner_block[Origin(i)];
      if (!graph_.is_input(i) && !Recomputable(i)) {
        if (InSegment(own)) owner_block_[i] = own;
        continue;
      }
      for (int user : graph_.values[i].users) {
        if (!Forward(user)) continue;
        const std::optional<int> owner =
            Recomputable(user) ? owner_block_[user]
                               : analysis_.blocks.owner_block[Origin(user)];
        if (!InSegment(owner)) continue;
        std::optional<int>& first = owner_block_[i];
        if (!first.has_value() || owner < first) first = owner;
      }
    }
  }
  bool InSegment(std::optional<int> block) const {
    return block >= first_block_ && block < last_block_;
  }

  // A split that this value can have.
  int Fit(int i, int dim) const {
    const std::vector<int64_t>* dims = ir::CollectUniformDims(At(i).shape);
    if (dim < 0 || dims == nullptr || dim >= static_cast<int>(dims->size())) {
      return kWhole;
    }
    if (!graph_.is_input(i) && ir::IsTransformed(module_, Origin(i), dim)) {
      return kWhole;
    }
    const int64_t size = (*dims)[dim];
    return size > 0 && size % parts_ == 0 ? dim : kWhole;
  }
  void Decide(int i, int dim) { result_.split[i] = Fit(i, dim); }

  bool Divides(int64_t groups) const { return groups % parts_ == 0; }

  // The split of the user that a split of its operand leads to.
  int PushThrough(int user, int operand, int dim) const {
    if (dim < 0) return kWhole;
    for (const DimLink& link : Links(user, operand)) {
      if (link.in == dim && Divides(link.groups)) return Fit(user, link.out);
    }
    return kWhole;
  }

  // The split of an operand that a split of its user asks for.
  int PullThrough(int user, int operand, int dim) const {
    if (dim < 0) return kWhole;
    for (const DimLink& link : Links(user, operand)) {
      if (link.out == dim && Divides(link.groups)) {
        return Fit(Operands(user)[operand], link.in);
      }
    }
    return kWhole;
  }

  void Demand(int user, int operand, int dim) {
    result_.demands[{user, operand}] = Fit(Operands(user)[operand], dim);
  }

  // The split that `user` asks of its operand; nothing where it asks nothing.
  std::optional<int> Asked(int user, int operand) const {
    const auto demand = result_.demands.find({user, operand});
    if (demand != result_.demands.end()) return demand->second;
    if (!Decided(user) || IsContraction(user)) return std::nullopt;
    const int split = result_.split[user];
    const Opcode opcode = At(user).opcode;
    // A reduction may sum over a split dimension; gathers and scatters may
    // index one.
    if (split == kWhole &&
        (opcode == Opcode::kReduce || opcode == Opcode::kGather ||
         opcode == Opcode::kScatter)) {
      return std::nullopt;
    }
    return PullThrough(user, operand, split);
  }

  // ---- forward ----

  void PinRoots() {
    for (int block = first_block_; block < last_block_; ++block) {
      const auto& roots = analysis_.blocks.blocks[block].roots;
      const AxisStrategy& strategy = *strategies_[block - first_block_];
      for (size_t r = 0; r < roots.size(); ++r) {
        const auto found = index_.find(roots[r]);
        if (found == index_.end()) continue;
        const segmenter::RootSplit& split = strategy.splits[r];
        Decide(found->second, split.out.value_or(kWhole));
        Demand(found->second, 0, split.lhs.value_or(kWhole));
        Demand(found->second, 1, split.rhs.value_or(kWhole));
      }
    }
  }

  void DownwardsInBlocks() {
    for (int i = graph_.input_count; i < count_; ++i) {
      if (!Forward(i) || !Inside(i) || Decided(i)) continue;
      if (IsContraction(i)) {
        SplitJoined(i);
        continue;
      }
      int split = kUndecided;
      for (size_t k = 0; k < Operands(i).size(); ++k) {
        const int operand = Operands(i)[k];
        if (!Inside(operand) || !Decided(operand) ||
            analysis_.blocks.owner_block[Origin(operand)] !=
                analysis_.blocks.owner_block[Origin(i)]) {
          continue;
        }
        const int pushed = PushThrough(i, k, result_.split[operand]);
        if (split < 0) split = pushed;
      }
      if (split != kUndecided) Decide(i, split);
    }
  }

  // A contraction that joined a block takes the split its operands bring.
  void SplitJoined(int i) {
    const ir::DotDims dims = ir::GetContractionDims(module_, Origin(i));
    std::optional<int> side;
    for (int s = 0; s < 2; ++s) {
      const int operand = Operands(i)[s];
      if (!Inside(operand) || !Decided(operand) ||
          analysis_.blocks.owner_block[Origin(operand)] !=
              analysis_.blocks.owner_block[Origin(i)] ||
          result_.split[operand] < 0) {
        continue;
      }
      const bool batch =
          dims.side[s][result_.split[operand]].role == DotRole::kBatch;
      if (!side.has_value() || batch) side = s;
    }
    int wanted[2] = {kWhole, kWhole};
    int out = kWhole;
    if (side.has_value()) {
      const int dim = result_.split[Operands(i)[*side]];
      const ir::DotDims::Dim& role = dims.side[*side][dim];
      const bool paired = role.role != DotRole::kFree;
      const bool splits = role.role != DotRole::kSpatial &&
                          Divides(role.groups) &&
                          (!paired || role.partner.has_value());
      if (splits) {
        wanted[*side] = dim;
        if (paired) wanted[1 - *side] = *role.partner;
        out = role.output.value_or(kWhole);
      }
    }
    Decide(i, out);
    Demand(i, 0, wanted[0]);
    Demand(i, 1, wanted[1]);
  }

  // Values that feed a block from the side, from the readers upwards.
  void PullInBlocks() {
    for (int i = count_ - 1; i >= 0; --i) {
      if (!Forward(i) || Decided(i)) continue;
      const std::optional<int> owner = OwnerBlock(i);
      if (!owner.has_value()) continue;
      PullFromUsers(i, [&](int user) {
        return Forward(user) && OwnerBlock(user) == owner;
      });
    }
  }

  void Fill(int i) {
    int split = kUndecided;
    bool all = true;
    for (size_t k = 0; k < Operands(i).size(); ++k) {
      const int operand = Operands(i)[k];
      if (!Decided(operand)) {
        all = false;
        continue;
      }
      const int pushed = PushThrough(i, k, result_.split[operand]);
      if (split < 0) split = std::max(pushed, kWhole);
    }
    if (split >= 0 || (all && !Operands(i).empty())) {
      Decide(i, std::max(split, kWhole));
    }
  }

  void FillForward() {
    for (int i = graph_.input_count; i < count_; ++i) {
      if (!Forward(i) || Decided(i)) continue;
      if (IsContraction(i)) continue;
      Fill(i);
    }
  }

  // Side branches of what FillForward decided (labels of a loss).
  void PullForward() {
    for (int i = count_ - 1; i >= 0; --i) {
      if (!Forward(i) || Decided(i)) continue;
      PullFromUsers(i, [&](int user) { return Forward(user); });
    }
  }

  // As the users ask that `counts` lets through.
  template <typename Counts>
  void PullFromUsers(int i, Counts counts) {
    int split = kUndecided;
    for (const auto& [user, operand] : Uses(i)) {
      if (split >= 0) break;
      if (!counts(user)) continue;
      split = Asked(user, operand).value_or(split);
    }
    if (split != kUndecided) Decide(i, split);
  }

  // Made by another segment for this one's backward pass, such as what a norm
  // before the boundary has normalized.
  bool IsKept(int i) const {
    const auto& users = graph_.values[i].users;
    return graph_.is_input(i) && Forward(i) &&
           std::none_of(users.begin(), users.end(),
                        [&](int user) { return Forward(user); });
  }

  void FinishForward() {
    for (int i = 0; i < count_; ++i) {
      if (!Forward(i) || Decided(i) || IsKept(i)) continue;
      if (!graph_.is_input(i)) Fill(i);
      if (!Decided(i)) Decide(i, kWhole);
    }
  }

  // ---- backward and update ----

  void PinBoundaries() {
    for (const segmenter::BoundaryPair& pair : graph_.boundary_pairs()) {
      Decide(pair.gradient, result_.split[pair.activation]);
    }
    for (const auto& [argument, updated] : graph_.state) {
      if (Decided(argument) && Forward(argument)) {
        Decide(updated, result_.split[argument]);
      }
    }
  }

  void PinGradients() {
    for (int i = graph_.input_count; i < count_; ++i) {
      const auto found = analysis_.gradients.find(Origin(i));
      if (found == analysis_.gradients.end()) continue;
      const GradientMatch& match = found->second;
      const auto forward = index_.find(match.forward);
      if (forward == index_.end()) continue;
      const int f = forward->second;
      if (match.recomputation) {
        if (!Decided(i)) Decide(i, result_.split[f]);
        for (int k = 0; k < 2; ++k) Demand(i, k, GetDemand(f, k));
        continue;
      }
      PinGradient(i, match, f);
    }
  }

  int GetDemand(int contraction, int operand) const {
    const auto found = result_.demands.find({contraction, operand});
    return found == result_.demands.end() ? kWhole : found->second;
  }

  static int Find(const std::vector<std::optional<int>>& dims, int wanted) {
    if (wanted < 0) return kWhole;
    const auto at = std::find(dims.begin(), dims.end(), wanted);
    return at == dims.end() ? kWhole : static_cast<int>(at - dims.begin());
  }

  void PinGradient(int i, const GradientMatch& match, int f) {
    const ir::DotDims dims = ir::GetContractionDims(module_, Origin(i));
    const int g = match.cotangent_operand;
    const int cotangent = Find(match.cotangent_dims, result_.split[f]);
    const int out = Find(match.output_dims, GetDemand(f, match.differentiated));
    int other = kWhole;
    if (cotangent >= 0 && dims.side[g][cotangent].role != DotRole::kFree) {
      other = dims.side[g][cotangent].partner.value_or(kWhole);
    }
    if (out >= 0) {
      for (size_t dim = 0; dim < dims.side[1 - g].size(); ++dim) {
        if (dims.side[1 - g][dim].output == out) other = static_cast<int>(dim);
      }
    }
    if (!Decided(i)) Decide(i, out);
    Demand(i, g, cotangent);
    Demand(i, 1 - g, other);
  }

  // A gradient is split like the forward value it is multiplied with; else as
  // its readers ask.
  void PullBackward() {
    for (int i = count_ - 1; i >= 0; --i) {
      if (Decided(i)) continue;
      if (!graph_.is_input(i) && ir::IsElementwise(At(i).opcode)) {
        for (int operand : Operands(i)) {
          if (Forward(operand) && Decided(operand) && !Recomputable(operand) &&
              At(operand).shape.dims == At(i).shape.dims &&
              !At(i).shape.is_scalar()) {
            Decide(i, result_.split[operand]);
            break;
          }
        }
      }
      if (!Decided(i)) PullFromUsers(i, kAny);
    }
  }

  void FillBackward() {
    for (int i = graph_.input_count; i < count_; ++i) {
      if (!Decided(i)) Fill(i);
    }
    // State that nothing of the forward pass reads follows its update.
    for (const auto& [argument, updated] : graph_.state) {
      if (result_.split[argument] != result_.split[updated]) {
        Decide(updated, Decided(argument) ? result_.split[argument]
                                          : result_.split[updated]);
        if (!Decided(argument)) Decide(argument, result_.split[updated]);
      }
    }
  }

  // As the gradients want it that are multiplied with it.
  void PullKept() {
    for (int i = 0; i < graph_.input_count; ++i) {
      if (!Decided(i) && IsKept(i)) PullFromUsers(i, kAny);
    }
  }

  // Transformed dimensions are whole there, however else they are read.
  void DemandTransformed() {
    for (int i = graph_.input_count; i < count_; ++i) {
      if (At(i).opcode != Opcode::kFft) continue;
      Demand(i, 0, PullThrough(i, 0, result_.split[i]));
    }
  }

  const ir::Module& module_;
  const std::vector<const AxisStrategy*>& strategies_;
  int64_t parts_;
  int first_block_ = 0;
  int last_block_ = 0;
  std::unordered_map<ValueId, int> index_;
  std::vector<std::optional<int>> owner_block_;
  AxisAnnotation result_;
};

}  // namespace

AxisAnnotation AnnotateAxis(const segmenter::Analysis& analysis,
                            const SegmentGraph& graph,
                            const std::vector<const AxisStrategy*>& strategies,
                            int64_t parts, const std::map<int, int>& pins) {
  return AxisAnnotator(analysis, graph, strategies, parts, pins).Run();
}

}  // namespace meshwright::space
