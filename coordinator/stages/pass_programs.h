// PassPrograms: the passes of a segment as programs of their own, as the
// modules of a stage run them.
//
//   arguments ─▶ forward ─▶ activation, values kept
//   values kept, gradient ─▶ backward ─▶ gradients of input and weights
//   gradients of weights, state ─▶ update ─▶ new state
//
//   or, where a schedule delays the gradients of weights,
//   values kept, gradient ─▶ backward input ─▶ gradient of the input, others
//   values kept, others ─▶ backward weight ─▶ gradients of weights
//
// Concept: what a later pass reads of the forward pass is kept, except other
// forms of a value and what a recomputing segment recomputes. It leaves one
// program and enters the other. Writing it is part of the forward pass; a
// program that does everything keeps nothing in between and may skip it.
// In -> Out: a segment, its rematerialization -> parts; a part that nothing
// leaves is no program.
// Shapes: value indices of the segment's graph.
// Threads: pure functions.
// Source: launch/stage_modules.h, which makes the modules of whole stages.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_PASS_PROGRAMS_H_
#define MESHWRIGHT_COORDINATOR_STAGES_PASS_PROGRAMS_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/programs/segment_program.h"
#include "coordinator/space/rematerialization/rematerialize.h"
#include "coordinator/stages/passes.h"

namespace meshwright::stages {

struct PassPrograms {
  space::ProgramPart forward;
  space::ProgramPart backward;
  space::ProgramPart backward_input;
  space::ProgramPart backward_weight;
  space::ProgramPart update;
  // The values that backward_weight finds in memory, without parameters.
  std::vector<int> delayed;
};

PassPrograms FindPassPrograms(
    const segmenter::Analysis& analysis, const StepPasses& passes,
    segmenter::SegmentIndex segment,
    const space::Rematerialization& rematerialization);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_PASS_PROGRAMS_H_
