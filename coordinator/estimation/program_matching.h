// ProgramMatches: which programs of two meshes do the same work.
//
// Concept: types of equal graph match, within them configurations of the same
// name, and of these the programs in order. Boundaries between the same two
// types match by what crosses them. Programs that differ in number do not
// match.
// In → Out: the spaces of one model on two meshes → pairs of programs.
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

struct ProgramMatches {
  // By program of the wanted space: one of the known space.
  std::map<space::ProgramId, space::ProgramId> programs;
  // Whether every segment type of the wanted step is one of the known step too.
  bool have_every_type = true;
};

ProgramMatches MatchPrograms(const StepSpace& known, const StepSpace& wanted);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_PROGRAM_MATCHING_H_
