// Estimate: what a configuration that was not measured is taken to cost.
//
// Units: picoseconds; bytes per device.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_ESTIMATE_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_ESTIMATE_H_

#include <compare>
#include <cstdint>
#include <map>

#include "coordinator/segmenter/analysis.h"
#include "planner/problem/plan_problem.h"

namespace meshwright::estimation {

struct Estimate {
  problem::Picoseconds time{0};
  int64_t transient_bytes = 0;
  problem::NoiseInterval noise = {};
};

// A configuration of the space, or of a problem.
struct ConfigurationRef {
  segmenter::SegmentTypeId type;
  int configuration = 0;
  auto operator<=>(const ConfigurationRef&) const = default;
};

using Estimates = std::map<ConfigurationRef, Estimate>;

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_ESTIMATE_H_
