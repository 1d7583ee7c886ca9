// ProfileSpace: every program the plan of a step can be made of.
//
// Concept: a segment type has one configuration for every combination of its
// blocks' strategies (block_configurations.h). A pair of neighbouring segment
// types has one resharding for every pair of boundary shardings (boundaries.h).
// A prologue or epilogue has no strategies. Its configurations are the boundary
// shardings its neighbour can have, times the shardings of the parameters it
// shares with another segment (end_configurations.h). Segments of blocks that
// share parameters are linked (parameter_links.h). Equal programs are kept
// once. In -> Out: analysis and key context -> ProfileSpace. Shapes: `types[t]`
// belongs to analysis.types[t]; a table entry lists indices of `programs`.
// Threads: pure functions; BuildProfileSpace uses all cores.
// Errors: CheckConfigurations returns kInvalidArgument where the request's
// prohibitions leave a segment no configuration.
// Source: papers/cfp.txt 4.2, Eq. 7.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_PROFILE_SPACE_H_
#define MESHWRIGHT_COORDINATOR_SPACE_PROFILE_SPACE_H_

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/configurations/configuration.h"
#include "coordinator/space/configurations/end_configurations.h"
#include "coordinator/space/configurations/parameter_links.h"
#include "coordinator/space/programs/boundaries.h"
#include "coordinator/space/programs/program_key.h"

namespace meshwright::space {

struct ProfileSpace {
  KeyContext context;
  std::vector<SegmentType> types;
  std::vector<SharedParameter> shared;
  std::vector<ParameterLink> links;
  std::vector<Boundary> boundaries;
  std::vector<BoundaryEdge> edges;
  std::vector<v1::Program> programs;
  int segment_programs = 0;     // of configurations, equal ones counted each
  int resharding_programs = 0;  // pairs of different shardings, likewise
};

ProfileSpace BuildProfileSpace(const segmenter::Analysis& analysis,
                               const KeyContext& context);

// kInvalidArgument: what the request forbids leaves a segment nothing.
absl::Status CheckConfigurations(const segmenter::Analysis& analysis,
                                 const ProfileSpace& space);

// Whether two configurations split a shared parameter alike.
bool SplitAlike(const segmenter::Analysis& analysis, const ProfileSpace& space,
                const SharedParameter& shared, int end_configuration,
                int block_configuration);

// Whether two configurations split all that linked segments share alike.
bool SplitAlike(const segmenter::Analysis& analysis, const ProfileSpace& space,
                const ParameterLink& link, int from_configuration,
                int to_configuration);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_PROFILE_SPACE_H_
