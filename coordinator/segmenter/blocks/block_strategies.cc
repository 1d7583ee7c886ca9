#include "coordinator/segmenter/blocks/block_strategies.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::segmenter {
namespace {

class StrategyFinder {
 public:
  StrategyFinder(const ir::Module& module, const ParallelBlock& block,
                 const std::vector<int64_t>& mesh, bool open_outer_axes)
      : module_(module),
        block_(block),
        mesh_(mesh),
        open_outer_axes_(open_outer_axes) {
    for (size_t axis = 0; axis < mesh.size(); ++axis) {
      if (mesh[axis] > 1) split_axes_.push_back(static_cast<int>(axis));
    }
  }

  StrategySet Run() {
    Extend(0, Replicated(block_, mesh_));
    return std::move(set_);
  }

 private:
  // Gives split_axes_[at] and all inner axes their strategies.
  void Extend(size_t at, Strategy strategy) {
    if (at == split_axes_.size()) {
      Keep(std::move(strategy));
      return;
    }
    const int axis = split_axes_[at];
    const bool searched = at + 1 == split_axes_.size();
    bool any = false;
    for (const StrategyKind kind :
         {StrategyKind::kRows, StrategyKind::kColumns,
          StrategyKind::kContraction, StrategyKind::kExperts}) {
      if (!searched && !open_outer_axes_ && kind != StrategyKind::kRows) break;
      const ParallelBlock::Candidate* const candidate =
          Find(kind, axis, strategy);
      if (candidate == nullptr) continue;
      any = true;
      Strategy extended = strategy;
      extended.axes[axis] = {kind, candidate->splits};
      Extend(at + 1, std::move(extended));
    }
    if (!any) Extend(at + 1, std::move(strategy));
  }

  // The outermost dimension of its kind that divides; null: lost.
  const ParallelBlock::Candidate* Find(StrategyKind kind, int axis,
                                       const Strategy& outer) {
    const auto found = block_.candidates.find(kind);
    if (found == block_.candidates.end()) return nullptr;
    std::string reason;
    for (const ParallelBlock::Candidate& candidate : found->second) {
      const std::vector<int64_t> parts = Parts(candidate, axis, outer);
      int64_t product = 1;
      for (int64_t size : parts) product *= size;
      const auto bad = std::find_if(
          candidate.sizes.begin(), candidate.sizes.end(),
          [&](const auto& size) { return size.first % product != 0; });
      if (bad == candidate.sizes.end()) return &candidate;
      if (reason.empty()) {
        reason =
            absl::StrCat("a dimension of size ", bad->first, " at ",
                         module_.at(bad->second).name(), " does not divide by ",
                         absl::StrJoin(parts, " x "));
      }
    }
    if (split_axes_.size() > 1) absl::StrAppend(&reason, ", on axis ", axis);
    Lose(kind, std::move(reason));
    return nullptr;
  }

  // The sizes of this axis and of the outer ones that split the same dimension.
  std::vector<int64_t> Parts(const ParallelBlock::Candidate& candidate,
                             int axis, const Strategy& outer) const {
    std::vector<int64_t> parts;
    for (int other : split_axes_) {
      if (other == axis) break;
      if (outer.axes[other].splits == candidate.splits) {
        parts.push_back(mesh_[other]);
      }
    }
    parts.push_back(mesh_[axis]);
    return parts;
  }

  void Lose(StrategyKind kind, std::string reason) {
    for (const LostStrategy& lost : set_.lost) {
      if (lost.kind == kind && lost.reason == reason) return;
    }
    set_.lost.push_back({kind, std::move(reason)});
  }

  void Keep(Strategy strategy) {
    if (!split_axes_.empty()) {
      strategy.kind = strategy.axes[split_axes_.back()].kind;
    }
    std::vector<std::string> names;
    for (int axis : split_axes_) {
      names.push_back(NameStrategy(strategy.axes[axis].kind));
    }
    strategy.name = open_outer_axes_ && !names.empty()
                        ? absl::StrJoin(names, "/")
                        : NameStrategy(strategy.kind);
    set_.strategies.push_back(std::move(strategy));
  }

  const ir::Module& module_;
  const ParallelBlock& block_;
  const std::vector<int64_t>& mesh_;
  const bool open_outer_axes_;
  std::vector<int> split_axes_;  // of more than one device
  StrategySet set_;
};

}  // namespace

Strategy Replicated(const ParallelBlock& block,
                    const std::vector<int64_t>& mesh) {
  Strategy strategy;
  strategy.name = NameStrategy(StrategyKind::kReplicated);
  strategy.axes.assign(
      mesh.size(),
      {StrategyKind::kReplicated, std::vector<RootSplit>(block.roots.size())});
  return strategy;
}

StrategySet ListBlockStrategies(const ir::Module& module,
                                const ParallelBlock& block,
                                const std::vector<int64_t>& mesh,
                                bool open_outer_axes) {
  return StrategyFinder(module, block, mesh, open_outer_axes).Run();
}

}  // namespace meshwright::segmenter
