// Strategies: the ways of splitting one operator over a mesh.
//
// Concept: every mesh axis splits one index of the operator or none; two axes
// on one index split it together, the outer one major. All that divide are
// listed, the data-parallel one among them.
// Shapes: a strategy has one entry per mesh axis: an index, if it splits one.
// Source: papers/map_colossal_auto.txt 5.1 ("split into the three dimensions of
// i, j, and k, ... along any axis of the device mesh and their combination").
#ifndef MESHWRIGHT_PLANNER_INTRAOP_STRATEGIES_H_
#define MESHWRIGHT_PLANNER_INTRAOP_STRATEGIES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/sharding.h"
#include "planner/intraop/op_model.h"
#include "planner/layout/layout_problem.h"

namespace meshwright::intraop {

using base::Mesh;
using Strategy = std::vector<std::optional<int>>;

// In rising order, entry by entry. `must_split`: only those that use every axis
// of more than one device, if there is one.
std::vector<Strategy> ListStrategies(const Operator& it, const Mesh& mesh,
                                     bool must_split);

// Every axis on the batch, as far as it divides.
Strategy ChooseDataParallel(const Operator& it, const Mesh& mesh);

// The product of the axes that split one of the indices.
int64_t Parts(const Strategy& strategy, const Mesh& mesh,
              const std::vector<int>& indices);

// The split of a tensor with these indices.
layout::Spec MakeSpec(const Strategy& strategy,
                      const std::vector<int>& indices);

}  // namespace meshwright::intraop

#endif  // MESHWRIGHT_PLANNER_INTRAOP_STRATEGIES_H_
