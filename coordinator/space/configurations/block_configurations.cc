#include "coordinator/space/configurations/block_configurations.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/space/configurations/combinations.h"
#include "coordinator/space/configurations/switches.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::AxisStrategy;
using segmenter::SegmentGraph;
using segmenter::SegmentIndex;
using segmenter::Strategy;

// Those of groups come last, whatever else is opened.
std::tuple<bool, bool, segmenter::SegmentSwitch> MakeSortKey(
    const Configuration& it) {
  return {it.role.InGroup(), it.recompute, it.segment_switch};
}

}  // namespace

SegmentAnnotation AnnotateSegment(
    const Analysis& analysis, SegmentIndex segment,
    const std::vector<const Strategy*>& strategies, const Mesh& mesh,
    const ParameterPins& pins) {
  const SegmentGraph& graph = analysis.graphs[segment];
  SegmentAnnotation annotation;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (mesh[axis] <= 1) {
      annotation.axes.push_back(
          {std::vector<int>(graph.values.size(), kWhole), {}, {}});
      continue;
    }
    std::vector<const AxisStrategy*> on_axis;
    for (const Strategy* strategy : strategies) {
      on_axis.push_back(&strategy->axes[axis]);
    }
    std::map<int, int> pinned;
    for (const auto& [value, sharding] : pins) pinned[value] = sharding[axis];
    annotation.axes.push_back(
        AnnotateAxis(analysis, graph, on_axis, mesh[axis], pinned));
  }
  return annotation;
}

SegmentType MakeBlockConfigurations(const Analysis& analysis,
                                    SegmentIndex segment, const Mesh& mesh,
                                    const std::vector<ParameterPins>& pins) {
  const segmenter::Segment& it = analysis.plan.segments[segment];
  SegmentType type;
  const Combinations combinations = FindCombinations(analysis, segment);
  type.all_combinations = combinations.all;
  type.combinations = static_cast<int64_t>(combinations.choices.size());
  for (const std::vector<int>& choice : combinations.choices) {
    Configuration plain;
    plain.strategies = choice;
    std::vector<const Strategy*> strategies;
    std::vector<std::string> names;
    for (size_t b = 0; b < choice.size(); ++b) {
      const auto& set = analysis.strategies[it.first_block + b].strategies;
      strategies.push_back(&set[choice[b]]);
      names.push_back(set[choice[b]].name);
    }
    plain.describe = absl::StrJoin(names, ", ");
    plain.annotation = AnnotateSegment(analysis, segment, strategies, mesh, {});
    const SegmentGraph& graph = analysis.graphs[segment];
    AppendVariants(analysis, graph, strategies, plain, mesh, type);
    for (const ParameterPins& variant : pins) {
      Configuration pinned = plain;
      pinned.annotation =
          AnnotateSegment(analysis, segment, strategies, mesh, variant);
      if (pinned.annotation.axes == plain.annotation.axes) continue;
      std::vector<std::string> shared;
      for (const auto& [value, sharding] : variant) {
        shared.push_back(absl::StrCat("shared ", SplitText(sharding, mesh)));
      }
      absl::StrAppend(&pinned.describe, "; ", absl::StrJoin(shared, ", "));
      AppendVariants(analysis, graph, strategies, pinned, mesh, type);
    }
  }
  std::stable_sort(type.configurations.begin(), type.configurations.end(),
                   [](const Configuration& a, const Configuration& b) {
                     return MakeSortKey(a) < MakeSortKey(b);
                   });
  return type;
}

}  // namespace meshwright::space
