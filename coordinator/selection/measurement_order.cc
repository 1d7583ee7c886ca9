#include "coordinator/selection/measurement_order.h"

#include <algorithm>

#include "coordinator/export/assumed_device.h"
#include "coordinator/export/baselines.h"
#include "coordinator/export/op_level.h"
#include "coordinator/selection/choice_programs.h"

namespace meshwright::selection {

std::vector<const v1::Program*> MeasurementOrder::Sort(
    std::vector<const v1::Program*> programs) const {
  std::stable_partition(
      programs.begin(), programs.end(),
      [&](const v1::Program* it) { return keys.contains(it->key()); });
  return programs;
}

MeasurementOrder FindMeasurementOrder(
    const segmenter::Analysis& analysis, const space::ProfileSpace& space,
    std::optional<int64_t> memory_limit_bytes) {
  MeasurementOrder order;
  const auto guess = exporting::MakeOpLevelPlan(
      analysis, {.device = exporting::AssumeDevice(space.context.device_kind),
                 .memory_limit_bytes = memory_limit_bytes,
                 .split_contractions = true});
  if (!guess.ok() || !guess->answer.plan.has_value()) return order;
  const space::SegmentChoice choice =
      exporting::FromBlocks(analysis, space, guess->by_block);
  for (const space::ProgramId program :
       ListChoicePrograms(analysis, space, choice)) {
    order.keys.insert(space.programs[program].key());
  }
  return order;
}

}  // namespace meshwright::selection
