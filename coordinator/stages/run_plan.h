// RunPlan: the plan of a run of segments on one mesh, and what its choices
// save.
//
// Shapes: `choice` has an entry per segment of the run.
// Units: bytes per device; time as measured of the module.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_RUN_PLAN_H_
#define MESHWRIGHT_COORDINATOR_STAGES_RUN_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/estimation/estimate.h"
#include "planner/problem/duration.h"
#include "planner/problem/uncertainty.h"

namespace meshwright::stages {

struct ConfigurationUse {
  estimation::ConfigurationRef choice;
  int count = 0;  // of segments in a row
};

struct RunPlan {
  bool fits = true;
  std::vector<int> choice;  // by segment: configuration of its type
  std::vector<ConfigurationUse> uses;
  problem::Picoseconds time{0};
  problem::Picoseconds resharding{0};      // the part at boundaries inside
  std::vector<double> resharding_seconds;  // likewise, by segment
  problem::NoiseInterval noise;
  int64_t saved_bytes = 0;       // of one micro-batch
  int64_t persistent_bytes = 0;  // with the largest transient
};

// The time that a configuration of a run saves it (tradeoffs/alternatives.h).
struct RunAlternative {
  segmenter::SegmentTypeId type;
  int configuration = 0;
  // Of the step, which have it.
  std::vector<segmenter::SegmentIndex> segments;
  std::optional<RunPlan> next;  // empty: without it nothing is allowed and fits
  // Of a step: how much less than that is proved, and how far off it may be.
  problem::Picoseconds open{0};
  problem::NoiseInterval noise;
};

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_RUN_PLAN_H_
