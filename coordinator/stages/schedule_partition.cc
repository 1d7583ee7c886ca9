#include "coordinator/stages/schedule_partition.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/link.h"
#include "base/status_macros.h"

namespace meshwright::stages {
namespace {

using pipeline::Picoseconds;

Picoseconds EstimateSharedTime(const MeasuredMeshes& step,
                               const std::vector<ChosenStage>& stages) {
  const Bandwidths& bandwidths = step.terms.bandwidths;
  const double slowest =
      step.terms.cluster.rows > 1 ? bandwidths.host : bandwidths.device;
  if (slowest <= 0) return Picoseconds(0);
  const base::Link link{.alpha = 0, .beta = 1 / slowest};
  double seconds = 0;
  for (const SharedArgument& it : step.shared) {
    std::set<size_t> readers;
    for (const segmenter::SegmentIndex segment : it.segments) {
      for (size_t i = 0; i < stages.size(); ++i) {
        if (segment >= stages[i].first() && segment < stages[i].end()) {
          readers.insert(i);
        }
      }
    }
    seconds += base::EstimateCollectiveSeconds(
        base::Collective::kAllReduce, static_cast<int64_t>(readers.size()),
        static_cast<double>(it.bytes), link);
  }
  return Picoseconds(std::llround(seconds * 1e12));
}

Picoseconds ComputeStep(const ChosenPartition& made,
                        const pipeline::Timeline& timeline) {
  Picoseconds step{0};
  for (size_t i = 0; i < made.stages.size(); ++i) {
    const Picoseconds end = pipeline::FindStageEnd(made.problem, timeline, i);
    step = std::max(step, end + made.stages[i].work.update);
  }
  return step + made.shared;
}

int64_t MaxPeak(const ScheduleTried& it) {
  return *std::max_element(it.figures.peak_bytes.begin(),
                           it.figures.peak_bytes.end());
}

}  // namespace

absl::StatusOr<bool> ScheduleStages(const MeasuredMeshes& step,
                                    ChosenPartition& made) {
  const StageTerms& terms = step.terms;
  made.problem.micro_batches = terms.micro_batches;
  made.problem.overlap = terms.overlap;
  for (const ChosenStage& stage : made.stages) {
    made.problem.stages.push_back(stage.work.stage);
    if (terms.memory_limit_bytes.has_value()) {
      made.problem.memory_limit_bytes.push_back(*terms.memory_limit_bytes);
    }
  }
  made.shared = EstimateSharedTime(step, made.stages);
  bool any = false;
  for (const pipeline::Schedule schedule : pipeline::kSchedules) {
    if (terms.schedule.value_or(schedule) != schedule) continue;
    ASSIGN_OR_RETURN(const pipeline::Choice choice,
                     pipeline::Choose(made.problem, schedule));
    made.lower_bound = choice.lower_bound;
    for (const pipeline::Figures& figures : choice.tried) {
      made.tried.push_back({figures, figures.step});
    }
    if (!choice.chosen.has_value()) continue;
    ScheduleTried tried = {choice.chosen->figures,
                           ComputeStep(made, choice.chosen->timeline)};
    made.tried.back().step = tried.step;
    if (any && std::pair(made.chosen.step, MaxPeak(made.chosen)) <=
                   std::pair(tried.step, MaxPeak(tried))) {
      continue;
    }
    any = true;
    made.chosen = std::move(tried);
    made.timeline = choice.chosen->timeline;
  }
  return any;
}

}  // namespace meshwright::stages
