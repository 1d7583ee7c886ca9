// PassTimeSplit: how the time measured of a segment falls apart into forward
// pass, gradient of the input, gradient of the weights and update.
//
// Concept: what is measured of every configuration is all four in one program.
// The programs that tell them apart are measured for configurations that a
// stage takes; the others of a type take their time in the proportions of one
// that was measured, and before there is any, by the work counted in the
// programs of one configuration (estimation::WorkOf), in a step with loops by
// thirds. Where stages run their passes as modules of their own, these programs
// are such passes (pass_programs.h), which hand values over through memory: all
// four may take longer than the whole. In a step with a loop over micro-batches
// they are parts of one trip with fewer outputs (passes.h), which add up to it;
// its update, outside of it, is measured apart already (space/loop_programs.h).
// Only proportions are taken from these programs. A machine is not at one speed
// all day, so the whole is measured again beside its parts, in the same rounds,
// all of them or none, and their proportions are those to it; a program that
// several such groups share has a row for each.
// Where the step is that of one of several micro-batches, adding their
// gradients up is measured, too, and comes on top, to the gradient of the
// weights (gradient_sums.h). Units: picoseconds; the passes of one micro-batch,
// the update of a step.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_PASS_TIME_SPLIT_H_
#define MESHWRIGHT_COORDINATOR_STAGES_PASS_TIME_SPLIT_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/space/programs/program_set.h"
#include "coordinator/stages/pass_programs.h"
#include "coordinator/stages/passes.h"
#include "planner/problem/duration.h"

namespace meshwright::stages {

struct PassTimes {
  problem::Picoseconds forward{0};
  problem::Picoseconds backward_input{0};
  problem::Picoseconds backward_weight{0};
  problem::Picoseconds backward{0};  // both gradients by one module
  problem::Picoseconds update{0};
  bool estimated = false;
};

class PassTimeSplit {
 public:
  // (type, configuration) of the step's space.
  using Choice = std::pair<int, int>;

  // `micro_batches`: trips of the step's own loop; `sums`: there is none, and
  // gradients add up. The references outlive it.
  PassTimeSplit(const planning::MeasuredStep& step, const StepPasses& passes,
                int64_t micro_batches, bool sums);

  PassTimes Estimate(const Choice& choice) const;

  // What is there between the two gradients of a micro-batch, on one device.
  int64_t DelayedBytes(const Choice& choice) const;

  // Has those measured that are not yet; whether any of them was. `wait`: false
  // to look them up only.
  absl::StatusOr<bool> Measure(const std::set<Choice>& choices,
                               const v1::DeviceSpec& device,
                               const planning::PlanDependencies& dependencies,
                               const planning::PlanProgressFunction& progress,
                               bool wait, v1::PlanPrograms& counts);

 private:
  // Of the whole: up to the forward pass, the input's gradient, all gradients
  // and the update; both gradients by one module, if that is not their sum;
  // what the sums take beside it.
  struct Shares {
    std::array<double, 4> upto = {1.0 / 3, 2.0 / 3, 1, 1};
    std::optional<double> backward;
    double sums = 0;
  };

  // The programs of a configuration that tell its parts apart, and its own.
  struct Variants {
    space::Configuration whole;
    std::vector<space::Configuration> parts;
    space::Configuration sums;
  };
  struct AllVariants {
    space::ProfileSpace space;
    std::map<Choice, Variants> of;
  };

  const space::Configuration& At(const Choice& choice) const {
    return step_.space.types[choice.first].configurations[choice.second];
  }
  int64_t Trips(int type) const { return trips_[type]; }
  problem::Picoseconds Whole(const Choice& choice) const;
  // What stands outside of the loop over micro-batches.
  problem::Picoseconds Outside(const Choice& choice,
                               const space::Configuration& configuration,
                               const space::ProfileSpace& space,
                               const store::Results& results,
                               problem::Picoseconds whole) const;
  Shares Guess(int type) const;
  // Those of a trip up to the forward pass and the input's gradient, or the
  // those of PassPrograms.
  std::vector<space::ProgramPart> ListParts(const Choice& choice) const;
  PassPrograms FindPrograms(const Choice& choice) const;
  // Is all of it an update, outside of the step's loop?
  bool OnceAStep(int type) const {
    return micro_batches_ > 1 && Trips(type) <= 1;
  }
  AllVariants MakeVariants(const std::set<Choice>& choices) const;
  Variants Make(const Choice& choice, space::ProgramSet& set) const;
  // Nothing: one of them could not be measured.
  std::optional<Shares> ComputeShares(const Choice& choice,
                                      const Variants& variants,
                                      const space::ProfileSpace& space,
                                      const store::Results& results) const;

  const planning::MeasuredStep& step_;
  const StepPasses& step_passes_;
  const int64_t micro_batches_;
  const bool sums_;
  std::vector<SegmentPasses> passes_;               // by type
  std::vector<std::vector<int>> weight_gradients_;  // likewise
  std::vector<int64_t> trips_;  // likewise, of loops looked through
  std::vector<v1::InputSpec> inputs_;
  mutable std::map<int, Shares> guessed_;  // by type
  mutable std::map<Choice, problem::Picoseconds> whole_;
  mutable std::map<Choice, int64_t> delayed_;
  std::map<Choice, Shares> measured_;
  std::set<Choice> failed_;
};

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_PASS_TIME_SPLIT_H_
