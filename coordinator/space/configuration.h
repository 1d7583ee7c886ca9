// Configurations of a segment type: the choices the planner picks from.
//
// Shapes: `strategies[i]` is for block i of the segment; a prologue or epilogue
// has none.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATION_H_
#define MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/space/groups.h"
#include "coordinator/space/programs.h"

namespace meshwright::space {

// Seconds of another program, times `weight`, that belong to a configuration.
struct Correction {
  int program = -1;
  double weight = 0;
};

struct Configuration {
  std::vector<int> strategies;  // by block of the segment; empty: a variant
  segmenter::SegmentSwitch segment_switch = segmenter::SegmentSwitch::kNone;
  bool recompute = false;  // beside the switch (replay.h)
  GroupRole role;          // that it recomputes in
  // Of its type: equal where only the switch or the recomputation differs.
  int splits = 0;
  SegmentAnnotation annotation;
  std::string describe;  // "rows, columns, columns; sequence"
  int program = -1;      // index of ProfileSpace::programs; -1: no work
  // Loops run fewer trips in programs than in the step: its time is `weight`
  // times that of the program, plus the corrections (loop_programs.h).
  double weight = 1;
  std::vector<Correction> corrections;
  int64_t persistent_bytes = 0;  // state on one device
  // Forward values the backward pass reads, and sums over trips.
  int64_t saved_bytes = 0;
  // Of these, what its program is given: the sums, and what it recomputes from.
  int64_t given_bytes = 0;
  int64_t summed_bytes = 0;  // the sums over trips alone
  // In a group: what each segment in front of one adds to what is there while
  // its backward pass runs.
  int64_t replayed_bytes = 0;
};

// A parameter that a switch leaves whole because no dimension divides.
struct KeptWhole {
  segmenter::SegmentSwitch segment_switch = segmenter::SegmentSwitch::kNone;
  int value = 0;  // of the segment's graph
};

// Why the sequence switch leaves a border whole.
enum class WholeReason {
  kUnsplit,      // no block beside it is split but by rows, if at all
  kNoRows,       // `at`: a root of which no row dimension divides
  kInside,       // `at`: of a block's inside (attention), itself or beside it
  kStopped,      // `at`: an operation that passes the split to or from it not
  kGradientOnly  // `at`: its gradient, which cannot be split alike
};

// An activation between segments that the sequence switch leaves whole.
struct WholeBorder {
  int value = 0;  // of the segment's graph
  int axis = 0;
  WholeReason why = WholeReason::kUnsplit;
  int at = -1;             // of the graph
  int configurations = 0;  // for which that holds
};

struct SegmentType {
  std::vector<Configuration> configurations;
  // Of its blocks' strategies: those tried, and all there are (combinations.h).
  int64_t combinations = 0;
  int64_t all_combinations = 0;
  std::vector<KeptWhole> kept_whole;
  std::vector<WholeBorder> whole_borders;
  int sequence_configurations = 0;  // with which the switch was tried
};

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATION_H_
