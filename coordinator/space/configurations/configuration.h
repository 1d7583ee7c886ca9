// Configurations of a segment type: the choices the planner picks from.
//
// Shapes: `strategies[i]` is for block i of the segment; a prologue or epilogue
// has none. Value indices are those of the segment's graph.
// Units: bytes on one device.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_CONFIGURATION_H_
#define MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_CONFIGURATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/strong_id.h"
#include "coordinator/space/annotation/segment_annotation.h"
#include "coordinator/space/annotation/state_sharding.h"
#include "coordinator/space/rematerialization/groups.h"

namespace meshwright::space {

using ProgramId = base::StrongIndex<struct ProgramTag>;

// Seconds of another program, times `weight`, that belong to a configuration.
struct Correction {
  ProgramId program;
  double weight = 0;
};

struct Configuration {
  std::vector<int> strategies;  // by block of the segment; empty: a variant
  segmenter::SegmentSwitch segment_switch = segmenter::SegmentSwitch::kNone;
  bool recompute = false;  // beside the switch (rematerialize.h)
  GroupRole role;          // that it recomputes in
  // Of its type: equal where only the switch or the recomputation differs.
  int splits = 0;
  SegmentAnnotation annotation;
  std::string describe;              // "rows, columns, columns; sequence"
  std::optional<ProgramId> program;  // of ProfileSpace::programs; or no work
  // Loops run fewer trips in programs than in the step: its time is `weight`
  // times that of the program, plus the corrections (loop_programs.h).
  double weight = 1;
  std::vector<Correction> corrections;
  // State on one device, and what the step is given and leaves beside it.
  int64_t persistent_bytes = 0;
  // Of these, zeros that its program makes, and adds gradients to.
  int64_t base_bytes = 0;
  // Forward values the backward pass reads, and sums over trips.
  int64_t saved_bytes = 0;
  // Of these, what its program is given: the sums, and what it recomputes from.
  int64_t given_bytes = 0;
  int64_t summed_bytes = 0;  // the sums over trips alone
  // Of those saved, beside the given ones, what enters or leaves the segment:
  // arguments and outputs of its program, none of its temporaries.
  int64_t crossing_bytes = 0;
  // In a group: what each segment in front of one adds to what is there while
  // its backward pass runs.
  int64_t rematerialized_bytes = 0;
  // The gradients of its parameters that devices add up (reduced_gradients.h).
  int64_t reduced_bytes = 0;
};

struct SegmentType {
  std::vector<Configuration> configurations;
  // Of its blocks' strategies: those tried, and all there are (combinations.h).
  int64_t combinations = 0;
  int64_t all_combinations = 0;
  std::vector<KeptWhole> kept_whole;
  std::string cut_short;  // what a bound left out, in words; or empty
};

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_CONFIGURATION_H_
