// ProfileSpace: every program the plan of a step can be made of.
//
// Concept: per segment type one configuration for every combination of its
// blocks' strategies; per pair of neighbouring segment types one resharding for
// every pair of border shardings. A prologue or epilogue has no strategies; its
// configurations are the border shardings its neighbour can have, times the
// shardings of the parameters it shares with another segment. Equal programs
// are kept once.
// In -> Out: analysis and key context -> ProfileSpace.
// Shapes: `types[t]` belongs to analysis.types[t]; a table entry lists indices
// of `programs`.
// Source: papers/cfp.txt 4.2, Eq. 7; design, section 4.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_PROFILE_SPACE_H_
#define MESHWRIGHT_COORDINATOR_SPACE_PROFILE_SPACE_H_

#include <string>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/programs.h"

namespace meshwright::space {

struct Configuration {
  std::vector<int> strategies;  // by block of the segment; empty: a variant
  SegmentAnnotation annotation;
  std::string describe;          // "rows, columns, columns, contraction"
  int program = -1;              // index of ProfileSpace::programs; -1: no work
  int64_t persistent_bytes = 0;  // state on one device
  int64_t saved_bytes = 0;       // forward values the backward pass reads
};

struct SegmentType {
  std::vector<Configuration> configurations;
};

// The border between two segment types: what crosses, in value indices of
// either graph.
struct BorderTensor {
  int from_value = -1;
  int to_value = -1;
  bool gradient = false;
};

struct Border {
  int from_segment = 0;  // the first pair of segments of these types
  int to_segment = 0;
  std::vector<BorderTensor> tensors;
  // [configuration of from][configuration of to] -> programs that run there.
  std::vector<std::vector<std::vector<int>>> programs;
};

// A parameter that a prologue or epilogue shares with a segment of blocks (tied
// embeddings): one decision for both.
struct SharedParameter {
  int end_segment = 0;  // the one without blocks
  int block_segment = 0;
  int end_value = 0;  // value indices of the two graphs
  int block_value = 0;
};

struct ProfileSpace {
  KeyContext context;
  std::vector<SegmentType> types;
  std::vector<SharedParameter> shared;
  std::vector<Border> borders;
  // By pair of segments (from, to): index of `borders`.
  std::vector<std::pair<std::pair<int, int>, int>> edges;
  std::vector<v1::Program> programs;
  int segment_programs = 0;     // configurations, equal ones counted each
  int resharding_programs = 0;  // pairs of different shardings, likewise
};

ProfileSpace BuildProfileSpace(const segmenter::Analysis& analysis,
                               const KeyContext& context);

// Whether two configurations split a shared parameter alike.
bool SplitAlike(const segmenter::Analysis& analysis, const ProfileSpace& space,
                const SharedParameter& shared, int end_configuration,
                int block_configuration);

// A segment of scalars only costs nothing and has no program.
bool IsFree(const segmenter::Analysis& analysis,
            const segmenter::SegmentGraph& graph);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_PROFILE_SPACE_H_
