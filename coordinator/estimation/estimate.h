// Estimate: what a configuration that was not measured is taken to cost.
//
// Units: picoseconds; bytes per device.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_ESTIMATE_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_ESTIMATE_H_

#include <cstdint>
#include <map>
#include <utility>

#include "planner/problem/plan_problem.h"

namespace meshwright::estimation {

struct Estimate {
  problem::Picoseconds time{0};
  int64_t transient_bytes = 0;
  problem::Spread spread = {};
};

// By type of the space and configuration.
using Estimates = std::map<std::pair<int, int>, Estimate>;

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_ESTIMATE_H_
