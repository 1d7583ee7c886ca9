// Choose: the schedule with the least step time that fits the memory limits.
//
// Concept: every allowed schedule is simulated. eager-1f1b-delay is simulated
// for rising numbers of delayed weight gradients and counts with its best one.
// Of equal times the one with the smallest largest peak wins, then the first of
// gpipe, 1f1b, eager-1f1b, eager-1f1b-delay; of equal delays the smallest.
// In → Out: a problem → the choice with its timeline, and a summary of every
// schedule tried. If none fits, the memory that the one needs that misses the
// limits by the smallest amount. Also a bound below the step of every schedule
// there is for these stages, certified by counting (bound.h).
// Anytime: a deadline or a stop ends the search for delays; every schedule is
// simulated at least once.
// Ties and threads: the same answer every time; any number of calls at once.
// Errors: kInvalidArgument for a problem that does not validate.
// Source: papers/cross_mesh_resharding.txt section 4 ("delay the least to cover
// all communications").
#ifndef MESHWRIGHT_PLANNER_PIPELINE_CHOOSE_H_
#define MESHWRIGHT_PLANNER_PIPELINE_CHOOSE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "planner/pipeline/pipeline_problem.h"
#include "planner/pipeline/simulate.h"
#include "planner/pipeline/timeline.h"

namespace meshwright::pipeline {

// The figures of one schedule.
struct Figures {
  Schedule schedule = Schedule::kGpipe;
  WeightDelay delay;  // of eager-1f1b-delay
  Picoseconds step{0};
  double bubble = 0;                // see timeline.h
  std::vector<int64_t> peak_bytes;  // per stage
  bool fits = true;
};

struct Choice {
  struct Chosen {
    Figures figures;
    Timeline timeline;
  };
  std::optional<Chosen> chosen;  // empty: none fits
  std::vector<Figures> tried;    // one per schedule, in the order of kSchedules
  Picoseconds lower_bound{0};
  // When none fits: per stage, of the schedule that needs the least beyond its
  // limits.
  std::vector<int64_t> min_bytes;
  std::chrono::duration<double> elapsed{0};
};

// `only`: the schedule to simulate; none: all.
absl::StatusOr<Choice> Choose(const PipelineProblem& problem,
                              std::optional<Schedule> only = std::nullopt,
                              const base::Deadline& deadline = {});

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_CHOOSE_H_
