// Boundaries between segments: what crosses, and the programs that reshard it.
//
// Concept: two segments have a boundary where one reads what the other makes.
// Per pair of configurations, each tensor whose shardings differ takes one
// resharding program; equal pairs of types with equal tensors share a Boundary.
// Shapes: value indices of the two segments' graphs.
// Threads: pure function.
// Source: papers/cfp.txt 4.2; docs/decisions/program-keys.md.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_BOUNDARIES_H_
#define MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_BOUNDARIES_H_

#include <compare>
#include <utility>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/configurations/configuration.h"
#include "coordinator/space/programs/program_key.h"
#include "coordinator/space/programs/program_set.h"

namespace meshwright::space {

// The values that cross from a segment of one type to one of another, in value
// indices of either graph.
struct BoundaryTensor {
  int from_value = 0;
  int to_value = 0;
  // That come back: of several contractions several; none where the reader
  // only keeps the value for its backward pass, or does not differentiate it.
  int gradients = 0;

  friend auto operator<=>(const BoundaryTensor&,
                          const BoundaryTensor&) = default;
};

struct Boundary {
  // The first pair of segments that it joins.
  segmenter::SegmentIndex from_segment;
  segmenter::SegmentIndex to_segment;
  std::vector<BoundaryTensor> tensors;
  // [configuration of from][configuration of to] -> programs that run there.
  std::vector<std::vector<std::vector<ProgramId>>> programs;
};

// The one that makes what crosses, and the one that reads it.
struct SegmentPair {
  segmenter::SegmentIndex first;
  segmenter::SegmentIndex second;
  auto operator<=>(const SegmentPair&) const = default;
};

// Two segments, and the boundary that stands for their types and tensors.
struct BoundaryEdge {
  SegmentPair segments;
  int boundary = 0;  // index
};

struct Boundaries {
  std::vector<Boundary> boundaries;
  std::vector<BoundaryEdge> edges;
  int resharding_programs = 0;  // pairs of different shardings
};

Boundaries FindBoundaries(const segmenter::Analysis& analysis,
                          const std::vector<SegmentType>& types,
                          const KeyContext& context, ProgramSet& programs);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_BOUNDARIES_H_
