#include "planner/layout/testing/random_layout.h"

#include <algorithm>
#include <random>
#include <utility>

namespace meshwright::layout {
namespace {

class Draws {
 public:
  explicit Draws(uint64_t seed) : random_(seed) {}

  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }
  int64_t DrawOne(const std::vector<int64_t>& values) {
    return values[Below(static_cast<int64_t>(values.size()))];
  }

  Spec DrawSpec(int axes, int dims) {
    std::vector<int> order(axes);
    for (int axis = 0; axis < axes; ++axis) order[axis] = axis;
    std::shuffle(order.begin(), order.end(), random_);
    Spec spec(dims);
    for (const int axis : order) {
      const int64_t dim = Below(dims + 1);
      if (dim < dims) spec[dim].push_back(axis);
    }
    return spec;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace

Spec RandomSpec(uint64_t seed, int axes, int dims) {
  return Draws(seed).DrawSpec(axes, dims);
}

RandomLayout MakeRandomLayout(uint64_t seed, const LayoutKinds& kinds) {
  Draws draws(seed);
  RandomLayout made;
  LayoutProblem& problem = made.problem;
  const std::vector<std::vector<int64_t>> axis_sizes = {
      {2}, {2, 4}, {3}, {2, 3}, {1, 2, 3, 4}, {2, 4, 8}};
  const auto& sizes = axis_sizes[draws.Below(axis_sizes.size())];
  int64_t devices = 1;
  for (int axis = 0; axis < kinds.axes; ++axis) {
    int64_t size = draws.DrawOne(sizes);
    if (devices * size > kinds.max_devices) size = 1;
    problem.mesh.push_back(size);
    devices *= size;
  }
  const std::vector<std::vector<int64_t>> dim_sizes = {
      {devices, 2 * devices},  // always divisible
      {8, 12, 16, 24},
      {1, 2, 3, 4, 5, 6},
      {5, 6, 7, 9, 10, 11, 13, 15}};
  const auto& lengths = dim_sizes[draws.Below(dim_sizes.size())];
  const int dims = static_cast<int>(1 + draws.Below(kinds.dims));
  for (int d = 0; d < dims; ++d) {
    problem.shape.push_back(draws.DrawOne(lengths));
  }
  problem.elem_bytes = draws.DrawOne({1, 2, 4, 8});
  // Dominated by latency, by bytes, by neither; or equal everywhere.
  const double alpha_unit = draws.DrawOne({0, 1, 1, 1000}) * 1e-9;
  const double beta_unit = draws.DrawOne({0, 1, 1, 20}) * 1e-9;
  const int64_t spread = draws.DrawOne({1, 3, 100});
  for (int axis = 0; axis < kinds.axes; ++axis) {
    made.alpha.push_back(alpha_unit *
                         static_cast<double>(1 + draws.Below(spread)));
    made.beta.push_back(beta_unit *
                        static_cast<double>(1 + draws.Below(spread)));
  }
  problem.links = *AlphaBetaLinks::Create(made.alpha, made.beta);
  problem.source = draws.DrawSpec(kinds.axes, dims);
  problem.target = draws.DrawSpec(kinds.axes, dims);
  return made;
}

}  // namespace meshwright::layout
