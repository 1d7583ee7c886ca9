#include "planner/intraop/testing/random_model.h"

#include <random>
#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::intraop {

Operator MatrixOperator(int64_t b, int64_t n, int64_t k) {
  constexpr int kB = 0, kN = 1, kK = 2;
  Operator it;
  it.indices = {{b}, {n}, {k}};
  // Three products at 1e12 FLOP/s.
  it.time = {{6 * b * n * k, {kB, kN, kK}}};
  it.persistent = {{3 * 4 * n * k, {kN, kK}}};
  it.saved = {{4 * b * n, {kB, kN}}};
  it.transient = {{8 * b * n, {kB, kN}}};
  it.partials = {{{4 * b * n, {kB, kN}}, {kK}},   // y
                 {{4 * b * k, {kB, kK}}, {kN}},   // the gradient of x
                 {{4 * n * k, {kN, kK}}, {kB}}};  // and of w
  it.rows = kB;
  it.heavy = true;
  return it;
}

OpModel RandomModel(uint64_t seed, int operators) {
  std::mt19937_64 random(seed);
  OpModel model;
  std::vector<int64_t> width = {64 << random() % 3};
  const int64_t batch = 32 << random() % 3;
  for (int i = 0; i < operators; ++i) {
    width.push_back(64 << random() % 3);
    model.operators.push_back(MatrixOperator(batch, width[i + 1], width[i]));
    model.operators.back().name = absl::StrCat("op ", i);
  }
  const auto join = [&](int from, int to, std::vector<int> to_indices) {
    Edge edge;
    edge.from = from;
    edge.to = to;
    edge.dims = {batch, width[from + 1]};
    edge.elem_bytes = 4;
    edge.from_indices = {0, 1};
    edge.to_indices = std::move(to_indices);
    edge.gradient = true;
    model.edges.push_back(std::move(edge));
  };
  for (int i = 1; i < operators; ++i) {
    join(i - 1, i, {0, 2});
    // A residual: added to what operator i makes, where the widths agree.
    if (i >= 2 && random() % 2 == 0 && width[i - 1] == width[i + 1]) {
      join(i - 2, i, {0, 1});
    }
  }
  return model;
}

Machine MakeMachine(Mesh mesh, CostKind cost) {
  Machine machine;
  machine.links = *layout::AlphaBetaLinks::Create(
      std::vector<double>(mesh.size(), 5e-6),
      std::vector<double>(mesh.size(), 1 / 20e9));
  machine.mesh = std::move(mesh);
  machine.cost = cost;
  return machine;
}

}  // namespace meshwright::intraop
