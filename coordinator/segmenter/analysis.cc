#include "coordinator/segmenter/analysis.h"

#include <unordered_map>

#include "base/status_macros.h"
#include "coordinator/ir/split_fused.h"
#include "coordinator/segmenter/hash.h"

namespace meshwright::segmenter {

int64_t StrategyAxisSize(const std::vector<int64_t>& mesh) {
  for (auto axis = mesh.rbegin(); axis != mesh.rend(); ++axis) {
    if (*axis > 1) return *axis;
  }
  return 1;
}

absl::StatusOr<Analysis> Analyze(ir::Module module, std::vector<int64_t> mesh) {
  Analysis analysis;
  analysis.split_contractions = ir::SplitFusedContractions(module);
  analysis.module = std::move(module);
  analysis.mesh = std::move(mesh);
  const ir::Module& graph = analysis.module;
  ASSIGN_OR_RETURN(analysis.direction, FindDirection(graph));
  const std::vector<uint64_t> hashes = HashOperations(graph);
  const int64_t parts = StrategyAxisSize(analysis.mesh);
  analysis.blocks = BuildBlocks(graph, analysis.direction, hashes, {parts});
  std::vector<int> configurations;
  for (const ParallelBlock& block : analysis.blocks.blocks) {
    analysis.strategies.push_back(StrategiesFor(graph, block, parts));
    configurations.push_back(
        static_cast<int>(analysis.strategies.back().strategies.size()));
  }
  analysis.gradients = MatchGradients(graph, analysis.direction);
  analysis.plan = PlanSegments(graph, analysis.direction, analysis.blocks,
                               analysis.gradients, configurations);
  analysis.graphs =
      ExtractSegments(graph, analysis.direction, analysis.plan, hashes);
  std::unordered_map<std::string, int> known;
  for (size_t s = 0; s < analysis.graphs.size(); ++s) {
    const auto [found, added] =
        known.emplace(analysis.graphs[s].fingerprint,
                      static_cast<int>(analysis.types.size()));
    if (added) analysis.types.push_back(static_cast<int>(s));
    analysis.type_of_segment.push_back(found->second);
  }
  return analysis;
}

}  // namespace meshwright::segmenter
