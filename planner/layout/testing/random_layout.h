// RandomLayout: conversions for tests and benches, made from a seed.
//
// In → Out: a seed and what may occur → a valid problem. Sizes that the mesh
// divides and sizes that it does not, and dimensions smaller than the mesh.
// Axes of equal and of one device; links that differ, cost nothing or tie.
#ifndef MESHWRIGHT_PLANNER_LAYOUT_TESTING_RANDOM_LAYOUT_H_
#define MESHWRIGHT_PLANNER_LAYOUT_TESTING_RANDOM_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "planner/layout/layout_problem.h"

namespace meshwright::layout {

struct LayoutKinds {
  int axes = 3;
  int dims = 3;  // at most
  int64_t max_devices = 48;
};

struct RandomLayout {
  LayoutProblem problem;
  std::vector<double> alpha;
  std::vector<double> beta;
};

RandomLayout MakeRandomLayout(uint64_t seed, const LayoutKinds& kinds);

// Every axis on some dimension or none, in any order.
Spec RandomSpec(uint64_t seed, int axes, int dims);

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_TESTING_RANDOM_LAYOUT_H_
