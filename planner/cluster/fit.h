// FitLink: alpha and beta of a link class from timed collectives.
//
// Concept: per step, a timing says alpha + x beta for x bytes. Alpha is the
// median of what the short steps take beyond their bytes. Beta is the slope of
// the largest steps, down to a sixteenth of the largest, that take ten times
// the shortest or more: by least squares of relative errors. It begins at
// alpha, unless the large steps contradict that: a link that lets a burst
// through, or that changes its protocol with the size, bends neither figure.
// The residuals tell how well one line holds for all sizes. In → Out: timings
// of any operations, groups and sizes over links of one class → the class's
// figures. Units: as in timing.h; residuals are shares of the time. Threads:
// pure. Errors: kInvalidArgument for fewer than two sizes, or for a time that
// is negative or not finite; the sentence names the timing. Source:
// papers/map_colossal_auto.txt 4.2: latency from small, bandwidth from large
// objects. The paper takes one size of each.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_FIT_H_
#define MESHWRIGHT_PLANNER_CLUSTER_FIT_H_

#include <span>

#include "absl/status/statusor.h"
#include "base/link.h"
#include "planner/cluster/timing.h"

namespace meshwright::cluster {

struct LinkFit {
  base::Link link;
  double residual = 0;          // root of the mean square
  double maximum_residual = 0;  // of one timing
  int timings = 0;
};

absl::StatusOr<LinkFit> FitLink(std::span<const Timing> timings);

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_FIT_H_
