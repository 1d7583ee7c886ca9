// Crossings: the tensors that travel where a step is cut between two segments.
//
//   segment   0     1     2  ┊  3     4
//   skip          ●──────────┊──▶○          crosses behind 1 and behind 2
//   gradient        ◀────────┊────●
//
// Concept: segments in the order of the step make a line. A tensor that is made
// before a cut and read behind it crosses forward; one that is made behind and
// read before crosses backward. It crosses once per micro-batch, however many
// operations read it. A tensor that crosses several cuts goes through all
// stages between: stages speak to their neighbours only, as schedules have it.
// Two kinds of values travel once per step and are not among them. Only the
// update reads the one (a tied parameter's gradient, a norm for clipping). The
// other stands outside of the loop over micro-batches.
//
// A cut is not possible where a forward value is made behind it and read by the
// forward pass before it. Neither is it where a gradient goes the other way
// round, or a tuple crosses.
// Shapes: cuts[c] lies between segments c and c + 1.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_CROSSINGS_H_
#define MESHWRIGHT_COORDINATOR_STAGES_CROSSINGS_H_

#include <cstdint>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/stages/passes.h"

namespace meshwright::stages {

struct Crossing {
  ir::ValueId value;
  segmenter::SegmentIndex from;  // that makes it
  // The nearest that reads it on the other side of the cut.
  segmenter::SegmentIndex to;
  bool backward = false;
};

struct Cut {
  bool possible = true;
  std::vector<Crossing> crossings;
};

// `micro_batches`: trips of the step's own loop over them, 1 where there is
// none.
std::vector<Cut> FindCuts(const segmenter::Analysis& analysis,
                          const StepPasses& passes, int64_t micro_batches);

// The trips of the loop over micro-batches that the step is; 1: it has none.
int64_t CountOwnMicroBatches(const segmenter::Analysis& analysis);

// An argument that segments of both sides of some cut compute with.
struct SharedArgument {
  int argument = 0;
  std::vector<segmenter::SegmentIndex> segments;  // rising
  int64_t bytes = 0;                              // whole
};

// Those that are state: tied parameters.
std::vector<SharedArgument> FindShared(const segmenter::Analysis& analysis,
                                       const StepPasses& passes);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_CROSSINGS_H_
