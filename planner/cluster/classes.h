// GroupIntoClasses: which pairs of devices have links of one kind.
//
// Concept: the figures of pairs of one kind differ by noise, those of two kinds
// by much more. Pairs are put in the order of their beta; where one is slower
// than the one before by more than the tolerance, a class ends. Inside, the
// same is done with alpha, which is noisier.
// In → Out: a fit per pair → classes, fastest first, with the pairs of each.
// Units: seconds, seconds per byte.
// Threads: pure. Errors: none.
// Source: papers/map_colossal_auto.txt 4.2, fine-grained topology; the paper's
// code takes a tolerance of 10 % as well.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_CLASSES_H_
#define MESHWRIGHT_PLANNER_CLUSTER_CLASSES_H_

#include <vector>

#include "base/link.h"

namespace meshwright::cluster {

struct ClassTolerance {
  double beta = 0.1;  // share by which the next pair may be slower
  double alpha = 0.5;
  double alpha_seconds = 1e-6;  // differences below are noise
};

// Indices into `links`; every one stands in one class.
std::vector<std::vector<size_t>> GroupIntoClasses(
    const std::vector<base::Link>& links, const ClassTolerance& tolerance = {});

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_CLASSES_H_
