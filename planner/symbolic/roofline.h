// EstimateByRoofline: the least time of an operation on a device.
//
// Concept: the longer of its arithmetic at the device's rate and its traffic at
// the device's bandwidth. It is a bound for operations that run one after
// another, and no claim about any real one.
// Units: seconds at the edge, picoseconds inside; held at kMaxTime.
// Errors: kInvalidArgument that names the device's field.
// Source: papers/map_colossal_auto.txt 4.1; Williams et al., "Roofline" (2009).
#ifndef MESHWRIGHT_PLANNER_SYMBOLIC_ROOFLINE_H_
#define MESHWRIGHT_PLANNER_SYMBOLIC_ROOFLINE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "planner/problem/duration.h"
#include "planner/symbolic/flops.h"

namespace meshwright::symbolic {

struct Device {
  double flops_per_second = 0;
  double bytes_per_second = 0;
  double flops_per_transcendental = 8;
};

// Every rate is finite and above 0.
absl::Status Validate(const Device& device);

problem::Picoseconds EstimateByRoofline(const Counts& counts,
                                        int64_t traffic_bytes,
                                        const Device& device);

}  // namespace meshwright::symbolic

#endif  // MESHWRIGHT_PLANNER_SYMBOLIC_ROOFLINE_H_
