// Models for tests and benches.
#ifndef MESHWRIGHT_PLANNER_INTRAOP_TESTING_RANDOM_MODEL_H_
#define MESHWRIGHT_PLANNER_INTRAOP_TESTING_RANDOM_MODEL_H_

#include <cstdint>

#include "planner/intraop/costs.h"
#include "planner/intraop/op_model.h"

namespace meshwright::intraop {

// y[b,n] = sum over k of x[b,k] w[k,n] in float32, trained: indices 0 (b),
// 1 (n), 2 (k).
Operator MatrixOperator(int64_t b, int64_t n, int64_t k);

// A chain of such with skips over two; equal seeds give equal models.
OpModel RandomModel(uint64_t seed, int operators);

// Alpha-beta links of 5 us and 20 GB/s on every axis.
Machine MakeMachine(Mesh mesh, CostKind cost = CostKind::kRoofline);

}  // namespace meshwright::intraop

#endif  // MESHWRIGHT_PLANNER_INTRAOP_TESTING_RANDOM_MODEL_H_
