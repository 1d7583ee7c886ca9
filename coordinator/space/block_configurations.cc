#include "coordinator/space/block_configurations.h"

#include "absl/strings/str_join.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;
using segmenter::Strategy;
using segmenter::StrategyKind;

// The strategy on an axis that is not searched: the batch.
Strategy OuterStrategy(const Analysis& analysis, int block, int64_t parts) {
  const auto& it = analysis.blocks.blocks[block];
  const segmenter::StrategySet set =
      segmenter::StrategiesFor(analysis.module, it, parts);
  if (set.strategies[0].kind == StrategyKind::kRows) return set.strategies[0];
  return {StrategyKind::kReplicated,
          std::vector<segmenter::RootSplit>(it.roots.size())};
}

// One annotation per mesh axis; `strategies` are those of the searched axis.
SegmentAnnotation Annotate(const Analysis& analysis, int segment,
                           const std::vector<const Strategy*>& strategies,
                           const Mesh& mesh) {
  const SegmentGraph& graph = analysis.graphs[segment];
  const segmenter::Segment& it = analysis.plan.segments[segment];
  const int searched = SearchedAxis(mesh);
  SegmentAnnotation annotation;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (mesh[axis] <= 1) {
      annotation.axes.push_back(WholeAxis(graph));
    } else if (static_cast<int>(axis) == searched) {
      annotation.axes.push_back(
          AnnotateAxis(analysis, graph, strategies, mesh[axis], {}));
    } else {
      std::vector<Strategy> outer;
      std::vector<const Strategy*> pointers;
      for (int b = it.first_block; b < it.last_block; ++b) {
        outer.push_back(OuterStrategy(analysis, b, mesh[axis]));
      }
      for (const Strategy& strategy : outer) pointers.push_back(&strategy);
      annotation.axes.push_back(
          AnnotateAxis(analysis, graph, pointers, mesh[axis], {}));
    }
  }
  return annotation;
}

}  // namespace

int SearchedAxis(const Mesh& mesh) {
  for (int axis = static_cast<int>(mesh.size()) - 1; axis >= 0; --axis) {
    if (mesh[axis] > 1) return axis;
  }
  return -1;
}

AxisAnnotation WholeAxis(const SegmentGraph& graph) {
  return {std::vector<int>(graph.values.size(), kWhole), {}};
}

std::vector<Configuration> BlockConfigurations(const Analysis& analysis,
                                               int segment, const Mesh& mesh) {
  const segmenter::Segment& it = analysis.plan.segments[segment];
  std::vector<Configuration> configurations;
  std::vector<int> choice(it.last_block - it.first_block, 0);
  while (true) {
    Configuration configuration;
    configuration.strategies = choice;
    std::vector<const Strategy*> strategies;
    std::vector<std::string> names;
    for (size_t b = 0; b < choice.size(); ++b) {
      const auto& set = analysis.strategies[it.first_block + b].strategies;
      strategies.push_back(&set[choice[b]]);
      names.push_back(segmenter::StrategyName(set[choice[b]].kind));
    }
    configuration.describe = absl::StrJoin(names, ", ");
    configuration.annotation = Annotate(analysis, segment, strategies, mesh);
    configurations.push_back(std::move(configuration));
    size_t at = choice.size();
    while (at > 0) {
      --at;
      const auto& set = analysis.strategies[it.first_block + at].strategies;
      if (++choice[at] < static_cast<int>(set.size())) break;
      choice[at] = 0;
      if (at == 0) return configurations;
    }
    if (choice.empty()) return configurations;
  }
}

}  // namespace meshwright::space
