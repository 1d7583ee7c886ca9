// The fastest plan of a sample step, measured on a made-up machine.
//
// Units: bytes. Threads: any. Errors: those of measuring and of the search; no
// plan within the limit is kNotFound.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_TESTING_FASTEST_PLAN_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_TESTING_FASTEST_PLAN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/planning/measured_step.h"
#include "coordinator/space/segment_choice.h"
#include "planner/search/search.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::explain {

struct FastestPlan {
  planning::MeasuredStep step;
  space::SegmentChoice choice;
  search::Plan plan;
};

// Of the full space on mesh 1x2. `sample`: a step of tests/testdata; `limit`:
// bytes a device has, 0: enough.
absl::StatusOr<FastestPlan> PlanSample(const std::string& sample, int64_t limit,
                                       store::ProfileStore* store);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_TESTING_FASTEST_PLAN_H_
