// PassTimeSplit: how the measured time of a segment splits into forward pass,
// gradient of the input, gradient of the weights and update.
//
// Concept: a configuration is measured as one program that does all four. For
// configurations that a stage uses, the programs of the passes are measured too
// (pass_variants.h). Other configurations of the type split in the proportions
// of a measured one. Where there is none, they split by the work counted in the
// programs of one configuration (estimation::CountWork), and in steps with
// loops by thirds. Only proportions to the program measured beside them are
// used. Passes that run as modules hand values over through memory, so all four
// may take longer than the whole. In a step with a loop over micro-batches the
// parts of one trip add up to it. The update outside of the loop is measured
// apart (space/programs/loop_programs.h). Adding gradients up over
// micro-batches comes on top, to the gradient of the weights.
// Units: picoseconds; the passes of one micro-batch, the update of a step.
// Errors: Measure returns those of planning::Measuring.
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
#include "coordinator/stages/pass_variants.h"
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
  using Choice = estimation::ConfigurationRef;

  // `micro_batches`: trips of the step's own loop; `sums`: there is none, and
  // gradients add up. The references outlive it.
  PassTimeSplit(const planning::MeasuredStep& step, const StepPasses& passes,
                int64_t micro_batches, bool sums);

  // From measured programs where Measure had them, else marked `estimated`.
  PassTimes Estimate(const Choice& choice) const;

  // The bytes held between the two gradients of a micro-batch, on one device.
  int64_t ComputeDelayedBytes(const Choice& choice) const;

  // Has those measured that are not yet; whether any of them was. `wait`: false
  // to look them up only.
  absl::StatusOr<bool> Measure(const std::set<Choice>& choices,
                               const v1::DeviceSpec& device,
                               const planning::PlanDependencies& dependencies,
                               const jobs::ProgressFunction& progress,
                               bool wait, v1::PlanPrograms& counts);

 private:
  // Of the whole: up to the forward pass, the input's gradient, all gradients
  // and the update. `backward`: both gradients by one module, if that is not
  // their sum. `sums`: what the sums take beside it.
  struct Shares {
    std::array<double, 4> upto = {1.0 / 3, 2.0 / 3, 1, 1};
    std::optional<double> backward;
    double sums = 0;
  };

  struct AllVariants {
    space::ProfileSpace space;
    std::map<Choice, PassVariants> of;
  };

  const space::Configuration& At(const Choice& choice) const {
    return step_.space.types[choice.type].configurations[choice.configuration];
  }
  int64_t Trips(segmenter::SegmentTypeId type) const { return trips_[type]; }
  problem::Picoseconds Whole(const Choice& choice) const;
  // The time of the operations outside of the loop over micro-batches.
  problem::Picoseconds Outside(const Choice& choice,
                               const space::Configuration& configuration,
                               const space::ProfileSpace& space,
                               const store::Results& results,
                               problem::Picoseconds whole) const;
  Shares Guess(segmenter::SegmentTypeId type) const;
  // Is all of it an update, outside of the step's loop?
  bool OnceAStep(segmenter::SegmentTypeId type) const {
    return micro_batches_ > 1 && Trips(type) <= 1;
  }
  AllVariants MakeVariants(const std::set<Choice>& choices) const;
  // Nothing: one of them could not be measured.
  std::optional<Shares> ComputeShares(const Choice& choice,
                                      const PassVariants& variants,
                                      const space::ProfileSpace& space,
                                      const store::Results& results) const;

  const planning::MeasuredStep& step_;
  const int64_t micro_batches_;
  const PassVariantMaker maker_;
  std::vector<int64_t> trips_;  // by type, of loops looked through
  mutable std::map<segmenter::SegmentTypeId, Shares> guessed_;
  mutable std::map<Choice, problem::Picoseconds> whole_;
  mutable std::map<Choice, int64_t> delayed_;
  std::map<Choice, Shares> measured_;
  std::set<Choice> failed_;
};

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_PASS_TIME_SPLIT_H_
