// Sharding and recomputation of a step: both at once, and one after the other.
//
// Concept: three plans within one memory limit, all scored by
// problem::Evaluate.
//   sharding    no segment recomputes
//   two-stage   the fastest sharding within limit * 1.5^n, n = 0..9, then which
//               of its segments recompute, chosen exactly; the best of all n
//   joint       both at once
// Whatever two stages choose the joint search may choose too, so that it is
// never slower.
// Source: papers/map_colossal_auto.txt 5.3.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_TWO_STAGES_H_
#define MESHWRIGHT_TESTS_INTEGRATION_TWO_STAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/planning/plan_pipeline.h"
#include "planner/problem/evaluate.h"
#include "planner/problem/plan_problem.h"

namespace meshwright {

// Every program of the module timed on a made-up machine (fake_measurer.h),
// mesh 1x2, recomputation open; in groups: of these configurations.
absl::StatusOr<planning::MeasuredStep> MeasureMadeUp(
    const std::string& module, uint64_t machine,
    const std::vector<std::string>& grouped = {});

// Of one type, by configuration.
struct Recomputation {
  std::vector<bool> recomputes;
  std::vector<int> sharding;  // equal where only the recomputation differs
};

class TwoStages {
 public:
  // `types` is as long as the problem's.
  TwoStages(problem::PlanProblem problem, std::vector<Recomputation> types);
  explicit TwoStages(const planning::MeasuredStep& step);

  // Empty: none fits. Errors: those of search::Solve, and kInternal for a plan
  // over the limit.
  using Score = absl::StatusOr<std::optional<problem::Evaluation>>;
  Score Joint(int64_t limit_bytes) const;
  Score Sharding(int64_t limit_bytes) const;
  Score TwoStage(int64_t limit_bytes) const;

  // The bytes of the plan of least memory, and of the fastest one.
  absl::StatusOr<int64_t> FindMinBytes() const;
  absl::StatusOr<int64_t> FastestBytes() const;

 private:
  absl::StatusOr<std::optional<problem::Choice>> Solve(
      problem::PlanProblem problem, int64_t limit_bytes) const;
  Score ScoreChoice(
      const absl::StatusOr<std::optional<problem::Choice>>& choice,
      int64_t limit_bytes) const;
  // The problem in which only the recomputation is open.
  problem::PlanProblem Within(const problem::Choice& sharding) const;

  problem::PlanProblem problem_;
  std::vector<Recomputation> types_;
  problem::PlanProblem sharding_;  // with no configuration that recomputes
};

}  // namespace meshwright

#endif  // MESHWRIGHT_TESTS_INTEGRATION_TWO_STAGES_H_
