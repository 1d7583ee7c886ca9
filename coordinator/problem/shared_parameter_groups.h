// SharedParameterGroups: segment types that share parameters and so decide
// together.
//
// Concept: all readers of a parameter split it alike. Types that share some are
// a group; configurations that split alike all that is shared have one number,
// a *decision*. Where every type of a group reads all that any of them reads,
// the group can change its decision as a whole. Elsewhere (an embedding shared
// with one segment, a weight with another) only configurations of one decision
// are compared.
// In → Out: analysis, profile space, configurations of a problem → groups.
// Shapes: `decision[t][i]` is for configuration i of type t of the problem;
// types that share nothing have no group and no decisions.
#ifndef MESHWRIGHT_COORDINATOR_PROBLEM_SHARED_PARAMETER_GROUPS_H_
#define MESHWRIGHT_COORDINATOR_PROBLEM_SHARED_PARAMETER_GROUPS_H_

#include <optional>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::formulation {

struct SharedParameterGroup {
  std::vector<segmenter::SegmentTypeId> types;
  bool is_complete = true;  // every type reads all that is shared
};

struct SharedParameterGroups {
  std::vector<SharedParameterGroup> groups;
  std::vector<std::optional<int>> group_of_type;
  std::vector<std::vector<int>> decision;
};

// `usable[t]`: the configurations of the space that the problem has.
SharedParameterGroups FindSharedParameterGroups(
    const segmenter::Analysis& analysis, const space::ProfileSpace& space,
    const std::vector<std::vector<int>>& usable);

}  // namespace meshwright::formulation

#endif  // MESHWRIGHT_COORDINATOR_PROBLEM_SHARED_PARAMETER_GROUPS_H_
