// Launch: a plan with stages as the programs that run it.
//
//   plan, model ─▶ values placed ─▶ modules ─▶ programs with the plan's splits
//                                       └────▶ calls, micro-batch by
//                                              micro-batch, as scheduled
//
// Concept: every tensor that a module takes or gives has a slot of its own. An
// argument that the losses need and that is no state is one of every
// micro-batch; all others are there once. Sums of gradients begin with zeros.
// A value of a forward pass that the update reads is that of the last
// micro-batch. An output that the update makes, or that is an argument, is
// there once, any other once per micro-batch. The calls are one order that
// every stage's schedule allows.
// Threads: plain data.
#ifndef MESHWRIGHT_COORDINATOR_LAUNCH_LAUNCH_H_
#define MESHWRIGHT_COORDINATOR_LAUNCH_LAUNCH_H_

#include <optional>
#include <vector>

#include "coordinator/launch/stage_modules.h"
#include "coordinator/segmenter/analysis.h"
#include "proto/v1/job.pb.h"

namespace meshwright::launch {

struct LaunchModule {
  Place place;
  exporting::StepPart part;
  v1::Program program;
};

struct LaunchCall {
  int module = 0;
  int micro_batch = 0;       // 0 for updates
  std::vector<int> inputs;   // slots, one per parameter
  std::vector<int> outputs;  // likewise
};

// A tensor that is there before the first call.
struct LaunchInput {
  int slot = 0;
  std::optional<int> argument;  // none: zeros
  int micro_batch = 0;
};

struct LaunchResult {
  int output = 0;  // of the step
  int micro_batch = 0;
  int slot = 0;
};

struct Launch {
  segmenter::Analysis analysis;
  std::vector<segmenter::SegmentIndex> first_segments;
  int micro_batches = 1;
  std::vector<LaunchModule> modules;
  std::vector<LaunchInput> inputs;
  std::vector<LaunchCall> calls;
  std::vector<LaunchResult> results;  // outputs that are arguments are none

  // One of every micro-batch.
  bool IsOfMicroBatch(int argument) const {
    return analysis.passes.roles[argument] == segmenter::ArgumentRole::kBatch;
  }
};

}  // namespace meshwright::launch

#endif  // MESHWRIGHT_COORDINATOR_LAUNCH_LAUNCH_H_
