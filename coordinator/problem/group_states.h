// GroupStates: groups of segments that recompute together, as configurations of
// a PlanProblem.
//
// Concept: what a member of a group needs while its backward pass runs depends
// on how many members come before it (rematerialization/groups.h). So a
// configuration in a group stands in the problem once for every position it may
// have. Only a walk 0, 1, .., p of one sharding is allowed:
//
//   copies of a run   plain  first@0  inner@1  last@2  first@0  last@1
//   entrance kept              yes                        yes
//   transient           t       t      t + r   t + 2r      t     t + r
//
// A problem so made is like any other to the search, and its memory is exact
// within the model: bytes kept, plus the largest transient.
// In -> Out: the configurations of a type, how long its longest run is -> its
// states; two states -> whether one may follow the other.
// Source: papers/map_colossal_auto.txt 5.2; docs/decisions/op-level-plans.md.
#ifndef MESHWRIGHT_COORDINATOR_PROBLEM_GROUP_STATES_H_
#define MESHWRIGHT_COORDINATOR_PROBLEM_GROUP_STATES_H_

#include <vector>

#include "coordinator/space/configurations/configuration.h"

namespace meshwright::formulation {

// A configuration of the space as one of the problem.
struct GroupState {
  int configuration = 0;
  int position = 0;  // how many members of its group come before it
  bool operator==(const GroupState&) const = default;
};

// The largest group in a run of `copies`. Groups of k keep copies / k
// entrances and need k - 1 members' values at once, which are no smaller than
// an entrance. Beyond sqrt(copies) a larger one frees nothing, unless another
// segment's transient is as large. 2 copies under the root leave room for that.
int CountMaxMembers(int copies);

// `known[c]`: whether the cost of configuration c is. A sharding of which not
// all roles are known has no groups; `max_members` < 2: none has.
std::vector<GroupState> ListGroupStates(
    const std::vector<space::Configuration>& configurations,
    const std::vector<char>& known, int max_members);

// The bytes that a state needs beyond those of its configuration alone.
int64_t CountGroupTransientBytes(const space::Configuration& configuration,
                                 int position);

// Whether a copy in state `b` may come right behind an equal one in state `a`.
bool MayFollow(const std::vector<space::Configuration>& configurations,
               const GroupState& a, const GroupState& b);

}  // namespace meshwright::formulation

#endif  // MESHWRIGHT_COORDINATOR_PROBLEM_GROUP_STATES_H_
