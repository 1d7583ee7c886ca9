// PassVariants: the programs that show how a configuration's time splits into
// passes.
//
// Concept: first come the programs of the passes (pass_programs.h). Then adding
// up gradients over micro-batches, which the modules of stages do
// (launch/stage_modules.h) and a segment of one micro-batch does not. Last the
// configuration's own program, measured again beside them, because a machine is
// not at one speed all day. Their keys name the whole group, so that all of a
// group are measured in the same rounds, or none. A program that several groups
// share has a row for each. In a step with a loop over micro-batches the parts
// are those of one trip, with fewer outputs. Threads: const after construction.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_PASS_VARIANTS_H_
#define MESHWRIGHT_COORDINATOR_STAGES_PASS_VARIANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/space/programs/program_set.h"
#include "coordinator/stages/pass_programs.h"
#include "coordinator/stages/passes.h"
#include "coordinator/stages/run_plan.h"

namespace meshwright::stages {

struct PassVariants {
  space::Configuration whole;
  std::vector<space::Configuration> parts;
  space::Configuration sums;
};

class PassVariantMaker {
 public:
  using Choice = estimation::ConfigurationRef;

  // `micro_batches`: trips of the step's own loop; `sums`: there is none, and
  // gradients add up. The references outlive it.
  PassVariantMaker(const planning::MeasuredStep& step, const StepPasses& passes,
                   int64_t micro_batches, bool sums);

  // By type of segment.
  const SegmentPasses& passes(segmenter::SegmentTypeId type) const {
    return passes_[type];
  }
  const std::vector<v1::InputSpec>& inputs() const { return inputs_; }

  // The passes of the choice's segment, with what it recomputes.
  PassPrograms FindPrograms(const Choice& choice) const;

  // Keeps the programs in `set`; indices of the result are those of `set`.
  PassVariants Make(const Choice& choice, space::ProgramSet& set) const;

 private:
  const space::Configuration& At(const Choice& choice) const {
    return step_.space.types[choice.type].configurations[choice.configuration];
  }
  // Those of a trip up to the forward pass and the input's gradient, or those
  // of FindPrograms.
  std::vector<space::ProgramPart> ListParts(const Choice& choice) const;

  const planning::MeasuredStep& step_;
  const StepPasses& step_passes_;
  const int64_t micro_batches_;
  const bool sums_;
  std::vector<v1::InputSpec> inputs_;
  std::vector<SegmentPasses> passes_;               // by type
  std::vector<std::vector<int>> weight_gradients_;  // likewise
};

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_PASS_VARIANTS_H_
