// Configurations of a segment type: the choices the planner picks from.
//
// Shapes: `strategies[i]` is for block i of the segment; a prologue or epilogue
// has none.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATION_H_
#define MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATION_H_

#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATION_H_
