// Timeline: when every operation and every transfer of a step runs.
//
// Shapes: one list of spans per stage and one of deliveries per link and
// direction, each in the order of time. Link i lies between stages i and i + 1,
// counted from 0.
// Units: picoseconds from the start of the step.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_TIMELINE_H_
#define MESHWRIGHT_PLANNER_PIPELINE_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "planner/pipeline/pipeline_problem.h"

namespace meshwright::pipeline {

enum class OperationKind : uint8_t {
  kForward,
  kBackward,        // both gradients in one
  kBackwardInput,   // the gradient of the stage's input
  kBackwardWeight,  // the gradient of its weights
};

struct Operation {
  OperationKind kind = OperationKind::kForward;
  int32_t micro_batch = 0;

  bool operator==(const Operation&) const = default;
};

// "F_0", "B_0", "BI_0", "BW_0".
std::string Name(const Operation& operation);
Picoseconds FindTime(const Stage& stage, OperationKind kind);

struct Span {
  Operation operation;
  Picoseconds start{0};
  Picoseconds end{0};
};

struct Delivery {
  int32_t micro_batch = 0;
  Picoseconds start{0};
  Picoseconds end{0};
};

struct Timeline {
  std::vector<std::vector<Span>> stages;
  std::vector<std::vector<Delivery>> forward_links;
  std::vector<std::vector<Delivery>> backward_links;
  Picoseconds step{0};
};

// When a stage has done its passes and computes again. A stage that may not
// compute while it sends has sent its last gradient by then, too.
Picoseconds FindStageEnd(const PipelineProblem& problem,
                         const Timeline& timeline, size_t stage);

// The part of all stages' time in which they compute nothing; 0 for a step of
// no time.
double ComputeBubble(const Timeline& timeline);

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_TIMELINE_H_
