#include "coordinator/export/plan_choice.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::exporting {
namespace {

using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

// Its index among the configurations of segment `s`.
absl::StatusOr<int> FindConfiguration(const v1::PlanSegment& segment,
                                      SegmentIndex s,
                                      const segmenter::Analysis& analysis,
                                      const space::ProfileSpace& space) {
  const SegmentTypeId type = analysis.type_of_segment[s];
  const auto& configurations = space.types[type].configurations;
  const auto found = std::find_if(configurations.begin(), configurations.end(),
                                  [&](const space::Configuration& it) {
                                    return it.describe == segment.describe();
                                  });
  if (segment.type() != static_cast<int>(type) ||
      found == configurations.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("segment ", s.value(),
                     " of the plan is not one of this model; "
                     "it was made for another model or mesh"));
  }
  return static_cast<int>(found - configurations.begin());
}

}  // namespace

absl::StatusOr<space::SegmentChoice> FindChoice(
    const v1::Plan& plan, const segmenter::Analysis& analysis,
    const space::ProfileSpace& space) {
  if (!plan.feasible()) {
    return absl::InvalidArgumentError(
        "the plan is an infeasible one: there is nothing to run");
  }
  const auto& types = analysis.type_of_segment;
  if (plan.segments_size() != static_cast<int>(types.size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the plan has ", plan.segments_size(), " segments and the model ",
        types.size(), "; it was made for another model"));
  }
  space::SegmentChoice choice;
  for (int s = 0; s < plan.segments_size(); ++s) {
    ASSIGN_OR_RETURN(
        const int configuration,
        FindConfiguration(plan.segments(s), SegmentIndex(s), analysis, space));
    choice.push_back(configuration);
  }
  return choice;
}

absl::StatusOr<space::SegmentChoice> FindChoice(
    const v1::PlanStage& stage, const segmenter::Analysis& analysis,
    const space::ProfileSpace& space) {
  const auto count = static_cast<int>(analysis.graphs.size());
  if (stage.first_segment() < 0 ||
      stage.segments_size() > count - stage.first_segment()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the plan has segments that the model, which has ", count,
                     ", has not; it was made for another model"));
  }
  space::SegmentChoice choice(count, 0);
  for (int i = 0; i < stage.segments_size(); ++i) {
    const SegmentIndex s(stage.first_segment() + i);
    ASSIGN_OR_RETURN(choice[s],
                     FindConfiguration(stage.segments(i), s, analysis, space));
  }
  return choice;
}

void DescribeSegments(const segmenter::Analysis& analysis,
                      const space::ProfileSpace& space,
                      const space::SegmentChoice& choice, v1::Plan* plan) {
  for (size_t s = 0; s < choice.size(); ++s) {
    const SegmentTypeId type = analysis.type_of_segment[s];
    const space::Configuration& configuration =
        space.types[type].configurations[choice[s]];
    v1::PlanSegment& segment = *plan->add_segments();
    segment.set_type(static_cast<int>(type));
    segment.set_config(choice[s]);
    segment.set_describe(configuration.describe);
    segment.set_switch_(segmenter::NameSwitch(configuration.segment_switch));
    segment.set_recompute(configuration.recompute);
    segment.set_chained(configuration.role.handed);
    const int first = analysis.plan.segments[s].first_block;
    for (size_t b = 0; b < configuration.strategies.size(); ++b) {
      segment.add_strategies(analysis.strategies[first + b]
                                 .strategies[configuration.strategies[b]]
                                 .name);
    }
  }
}

}  // namespace meshwright::exporting
