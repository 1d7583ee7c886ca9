// Counterparts: which program of one mesh does the work of which of another.
//
// Concept: a segment type of equal graph, in it the configuration of the same
// name, of that the programs in the same order; a border between the same two
// types, what crosses it in the same order. What differs in number has none.
// In → Out: two steps of one model, on two meshes → pairs of programs.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_PROGRAM_MATCHING_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_PROGRAM_MATCHING_H_

#include <map>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::estimation {

// One model on one mesh.
struct StepSpace {
  const segmenter::Analysis& analysis;
  const space::ProfileSpace& space;
};

struct Counterparts {
  // By program of the wanted space: one of the known space.
  std::map<int, int> programs;
  // Whether every segment type of the wanted step is one of the known step too.
  bool have_every_type = true;
};

Counterparts FindCounterparts(const StepSpace& known, const StepSpace& wanted);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_PROGRAM_MATCHING_H_
