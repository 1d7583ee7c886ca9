// What a configuration costs by the rows of its programs.
//
// Units: a row's least time, in picoseconds; bytes per device.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_MEASURED_COST_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_MEASURED_COST_H_

#include <optional>

#include "coordinator/space/profile_space.h"
#include "planner/problem/plan_problem.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::estimation {

// Null where the program was not measured.
const v1::ProfileResult* MeasuredRow(const space::ProfileSpace& space,
                                     const store::Results& results,
                                     int program);

problem::Picoseconds LeastTime(const v1::Measurement& measurement);

// The bytes that the graph tells; no time.
problem::Config BytesOnly(const space::Configuration& configuration);

// What the rows say a configuration costs; nothing if it was not measured.
std::optional<problem::Config> MeasuredCost(
    const space::ProfileSpace& space, const space::Configuration& configuration,
    const store::Results& results);

// The same of its main program alone, as if every trip of a loop did what
// stands outside of it as well. That counts too much, in all configurations of
// a type alike: the scale of estimates takes it back.
std::optional<problem::Config> MainCost(
    const space::ProfileSpace& space, const space::Configuration& configuration,
    const store::Results& results);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_MEASURED_COST_H_
