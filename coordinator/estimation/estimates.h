// Estimates: what configurations cost, estimated from programs that were
// measured.
//
// Concept: what the estimation plans (estimation_plan.h) give for the rows that
// are there.
// Sums of halves are off by a common factor (what a run costs in itself). The
// factor is the median of measured / estimated over the configurations of a
// type that were measured whole. The margin (margin.h) follows from how far
// these are from their estimates. An estimate's noise is its margin: wider than
// that of any measurement. Shapes: by type of the space, then by configuration.
// Source: docs/decisions/pruning-by-halves.md.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_ESTIMATES_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_ESTIMATES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/estimation/estimate.h"
#include "coordinator/estimation/estimation_plan.h"
#include "coordinator/estimation/halves.h"

namespace meshwright::estimation {

// Of one type, at one moment.
struct Calibration {
  int compared = 0;      // configurations both estimated and measured
  double scale = 1;      // median of measured / estimated
  double deviation = 0;  // four of five stayed within this, relative
  double margin = 0;
};

struct EstimatedTimes {
  Estimates estimates;                    // of what was not measured; scaled
  std::vector<Calibration> calibrations;  // by type
};

// By the rows in `results`.
EstimatedTimes EstimateTimes(const space::ProfileSpace& space,
                             const Halves& halves,
                             const std::vector<EstimationPlan>& plans,
                             const store::Results& results);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_ESTIMATES_H_
