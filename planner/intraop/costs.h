// Costs: what a strategy costs, and what two neighbours cost one another.
//
// Concept: two ways of counting.
//   kRoofline       MAP's: computing divided by its parts, all-reduces, and the
//                   cheapest conversion between neighbours (planner/layout)
//   kCommunication  Alpa's: the time of all-reduces and of the bytes that
//                   resharding moves, without latency; computing is free, so a
//                   contraction must use every axis
// An all-reduce is a reduce-scatter and an all-gather: 2 (n-1) (alpha + b/n
// beta) by alpha and beta; where all-gathers were timed, twice the all-gather.
// Errors: those of the layout planner.
// Source: papers/map_colossal_auto.txt 5.1, Eq. 1: C_n, B_n, R and M_n; Zheng
// et al., Alpa (2022), 4.2, for kCommunication.
#ifndef MESHWRIGHT_PLANNER_INTRAOP_COSTS_H_
#define MESHWRIGHT_PLANNER_INTRAOP_COSTS_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "planner/intraop/op_model.h"
#include "planner/intraop/strategies.h"
#include "planner/layout/link_costs.h"
#include "planner/layout/planner.h"
#include "planner/problem/plan_problem.h"

namespace meshwright::intraop {

enum class CostKind { kRoofline, kCommunication };

struct Machine {
  Mesh mesh;
  std::shared_ptr<const layout::LinkCosts> links;
  CostKind cost = CostKind::kRoofline;
};

// kInvalidArgument: a mesh without devices, or links of another mesh.
absl::Status Validate(const Machine& machine);

// `it` is valid and the strategy one of its own: its all-reduces, and all that
// it costs, they included.
problem::Picoseconds ComputeCommunication(const Operator& it,
                                          const Strategy& strategy,
                                          const Machine& machine);
problem::Config ComputeCost(const Operator& it, const Strategy& strategy,
                            const Machine& machine);

// Seconds of resharding by [strategy of from][strategy of to]; absent where no
// conversion leads from one to the other.
absl::StatusOr<problem::Table> MakeReshardingTable(
    const Edge& edge, const std::vector<Strategy>& from,
    const std::vector<Strategy>& to, const Machine& machine,
    layout::LayoutPlanner& planner);

}  // namespace meshwright::intraop

#endif  // MESHWRIGHT_PLANNER_INTRAOP_COSTS_H_
