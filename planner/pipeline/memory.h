// Memory of every stage over the time of a step.
//
// Concept: a stage holds its persistent bytes all the time. It holds
// activation_bytes of a micro-batch from the start of its forward to the end of
// its backward. Where the backward is split, delayed_bytes take their place
// until the gradient of the weights is done. Buffers of transfers are not
// counted. Units: bytes per device; what is freed and taken at one moment does
// not add up.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_MEMORY_H_
#define MESHWRIGHT_PLANNER_PIPELINE_MEMORY_H_

#include <vector>

#include "planner/pipeline/pipeline_problem.h"
#include "planner/pipeline/timeline.h"

namespace meshwright::pipeline {

// Micro-batches of which a stage holds activation_bytes and delayed_bytes.
struct Held {
  int whole = 0;
  int delayed = 0;
};

// Per stage: what it holds at a time, where at no time it holds more of both.
std::vector<std::vector<Held>> FindMaxHeld(const Timeline& timeline);

int64_t CountBytes(const Stage& stage, const Held& held);

// The most bytes, of a stage that holds that much at a time.
int64_t FindPeak(const Stage& stage, const std::vector<Held>& max_held);

// From this time on, until the next level.
struct MemoryLevel {
  Picoseconds time{0};
  int64_t bytes = 0;
};

// Per stage; begins with the persistent bytes at 0, times do not fall.
std::vector<std::vector<MemoryLevel>> ComputeMemoryOverTime(
    const PipelineProblem& problem, const Timeline& timeline);

std::vector<int64_t> ComputePeakBytes(const PipelineProblem& problem,
                                      const Timeline& timeline);

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_MEMORY_H_
