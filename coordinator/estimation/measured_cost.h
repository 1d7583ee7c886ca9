// MeasuredCost: what a configuration costs by the rows of its programs.
//
// Units: a row's time, in picoseconds; bytes per device.
// Errors: none; a configuration without rows has no cost.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_MEASURED_COST_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_MEASURED_COST_H_

#include <cstdint>
#include <optional>

#include "coordinator/space/profile_space.h"
#include "planner/problem/duration.h"
#include "planner/problem/plan_problem.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::estimation {

// Null where the program was not measured.
const v1::ProfileResult* FindMeasuredRow(const space::ProfileSpace& space,
                                         const store::Results& results,
                                         space::ProgramId program);

// Of what a problem may hold half, so that two such times add up within it.
inline constexpr problem::Picoseconds kLongestCost = problem::kMaxTime / 2;

// A sum of rows, whose times and weights are anyone's; at most kLongestCost.
problem::Picoseconds ToCost(double nanoseconds);

// The bytes that follow from the graph; no time.
problem::Config KeepBytesOnly(const space::Configuration& configuration);

// Nothing if the configuration was not measured.
std::optional<problem::Config> FindMeasuredCost(
    const space::ProfileSpace& space, const space::Configuration& configuration,
    const store::Results& results);

// The same of its main program alone, as if every trip of a loop also did the
// work outside of it. That overestimates all configurations of a type alike;
// the scale of the estimates corrects it.
std::optional<problem::Config> FindMeasuredMainCost(
    const space::ProfileSpace& space, const space::Configuration& configuration,
    const store::Results& results);

// Bytes of the arguments that its program copies before it writes over them. In
// a step they are there from its front on, whichever segment reads them.
int64_t FindArgumentCopyBytes(const space::ProfileSpace& space,
                              const space::Configuration& configuration,
                              const store::Results& results);

// Bytes of the largest all-reduce of its program, which is that of its
// gradients where it has one, and at most those gradients; 0 if it was not
// measured.
int64_t FindReducedBytes(const space::ProfileSpace& space,
                         const space::Configuration& configuration,
                         const store::Results& results);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_MEASURED_COST_H_
