// Bonds: segment types that share parameters and so decide together.
//
// Concept: all readers of a parameter split it alike. Types that share some are
// a bond; configurations that split alike all that is shared have one number, a
// *decision*. Where every type of a bond reads all that any of them reads, the
// bond can go from one decision to another as a whole; elsewhere (an embedding
// shared with one segment, a weight with another) only configurations of one
// decision are compared.
// In -> Out: analysis, profile space, configurations of a problem -> Bonds.
// Shapes: `decision[t][i]` is for configuration i of type t of the problem;
// types without a bond have bond -1 and no decisions.
// Source: design, section 4 ("Shared parameters").
#ifndef MESHWRIGHT_COORDINATOR_PROBLEM_SHARED_PARAMETER_GROUPS_H_
#define MESHWRIGHT_COORDINATOR_PROBLEM_SHARED_PARAMETER_GROUPS_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::formulation {

struct Bond {
  std::vector<int> types;
  bool whole = true;  // every type reads all that is shared
};

struct Bonds {
  std::vector<Bond> bonds;
  std::vector<int> of_type;
  std::vector<std::vector<int>> decision;
};

// `usable[t]`: the configurations of the space that the problem has.
Bonds FindBonds(const segmenter::Analysis& analysis,
                const space::ProfileSpace& space,
                const std::vector<std::vector<int>>& usable);

}  // namespace meshwright::formulation

#endif  // MESHWRIGHT_COORDINATOR_PROBLEM_SHARED_PARAMETER_GROUPS_H_
