#include "coordinator/segmenter/blocks/block_candidates.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/links/dim_links.h"
#include "coordinator/ir/shape.h"

namespace meshwright::segmenter {
namespace {

using ir::DimLink;
using ir::Module;
using ir::Opcode;
using ir::ValueId;
using Root = GrownBlocks::Root;
using Candidate = ParallelBlock::Candidate;
using Sizes = std::map<int64_t, ValueId>;

// A split of one root, and the sizes that it must divide: those of a label, or
// its own. Roots of one label share its sizes.
struct RootCandidate {
  RootSplit split;
  const Sizes* sizes = nullptr;
  Sizes own;
};

RootSplit SplitAlongOutput(const Module& module, ValueId root, int out) {
  RootSplit split;
  split.out = out;
  for (int side = 0; side < 2; ++side) {
    for (const DimLink& link : ir::FindDimLinks(module, root, side)) {
      if (link.out == out) (side == 0 ? split.lhs : split.rhs) = link.in;
    }
  }
  return split;
}

// The sizes every label takes, for the question whether it divides.
std::map<int, Sizes> FindSizes(const Module& module, const GrownBlocks& grown) {
  std::map<int, Sizes> sizes;
  for (const ValueId id : module.ids()) {
    const GrownBlocks::Value& value = grown.values[id];
    if (!value.inside) continue;
    const auto add = [&](int dim, int64_t size) {
      if (!value.labels[dim].has_value()) return;
      sizes[grown.labels.Find(*value.labels[dim])].emplace(size, id);
    };
    const std::vector<int64_t>& dims =
        *ir::CollectUniformDims(module.at(id).shape);
    for (size_t dim = 0; dim < value.labels.size(); ++dim) {
      add(static_cast<int>(dim), dims[dim]);
    }
    if (module.at(id).opcode != Opcode::kConvolution) continue;
    for (const DimLink& link : ir::FindDimLinks(module, id, 1)) {
      if (link.groups != 0) add(link.out, link.groups);
    }
  }
  return sizes;
}

// Candidate k splits every root along its k-th dimension; there are as many as
// the root with the fewest dimensions has.
std::vector<Candidate> MatchRanks(
    const std::vector<std::vector<RootCandidate>>& by_root) {
  std::vector<Candidate> candidates;
  for (size_t rank = 0;; ++rank) {
    Candidate candidate;
    std::set<const Sizes*> known;
    for (const std::vector<RootCandidate>& root : by_root) {
      if (rank >= root.size()) return candidates;
      const RootCandidate& it = root[rank];
      candidate.splits.push_back(it.split);
      candidate.sizes.insert(it.own.begin(), it.own.end());
      if (it.sizes != nullptr && known.insert(it.sizes).second) {
        candidate.sizes.insert(it.sizes->begin(), it.sizes->end());
      }
    }
    candidates.push_back(std::move(candidate));
  }
}

class CandidateFinder {
 public:
  CandidateFinder(const Module& module, const GrownBlocks& grown)
      : module_(module), grown_(grown), sizes_(FindSizes(module, grown)) {}

  void Find(ParallelBlock& block) {
    std::map<StrategyKind, std::vector<std::vector<RootCandidate>>> by_root;
    for (const ValueId id : block.roots) {
      const Root& root = *std::lower_bound(
          grown_.roots.begin(), grown_.roots.end(), id,
          [](const Root& it, ValueId wanted) { return it.id < wanted; });
      by_root[StrategyKind::kRows].push_back(
          Along(root, FindOutputDims(module_, grown_, root, /*rows=*/true)));
      by_root[StrategyKind::kColumns].push_back(
          Along(root, FindOutputDims(module_, grown_, root, /*rows=*/false)));
      by_root[StrategyKind::kExperts].push_back(Along(root, ExpertDims(root)));
      by_root[StrategyKind::kContraction].push_back(Contracted(root));
    }
    for (const auto& [kind, candidates] : by_root) {
      std::vector<Candidate> matched = MatchRanks(candidates);
      if (!matched.empty()) block.candidates[kind] = std::move(matched);
    }
  }

 private:
  std::vector<int> ExpertDims(const Root& root) const {
    std::vector<int> dims;
    for (size_t dim = 0; dim < root.labels.size(); ++dim) {
      if (grown_.IsExpert(root.labels[dim])) {
        dims.push_back(static_cast<int>(dim));
      }
    }
    return dims;
  }

  std::vector<RootCandidate> Along(const Root& root,
                                   const std::vector<int>& dims) {
    std::vector<RootCandidate> candidates;
    for (const int dim : dims) {
      candidates.push_back({SplitAlongOutput(module_, root.id, dim),
                            &sizes_[grown_.labels.Find(root.labels[dim])],
                            {}});
    }
    return candidates;
  }

  std::vector<RootCandidate> Contracted(const Root& root) const {
    const ir::Shape& lhs = module_.at(module_.at(root.id).operands[0]).shape;
    std::vector<RootCandidate> candidates;
    for (const ir::ContractedPair& pair :
         ir::FindContractedDims(module_, root.id)) {
      candidates.push_back(
          {{pair.lhs, pair.rhs, {}}, nullptr, {{lhs.dims[pair.lhs], root.id}}});
    }
    return candidates;
  }

  const Module& module_;
  const GrownBlocks& grown_;
  std::map<int, Sizes> sizes_;  // by label
};

}  // namespace

void FindCandidates(const Module& module, const GrownBlocks& grown,
                    std::vector<ParallelBlock>& blocks) {
  CandidateFinder finder(module, grown);
  for (ParallelBlock& block : blocks) finder.Find(block);
}

}  // namespace meshwright::segmenter
