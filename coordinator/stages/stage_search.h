// StageSearch: the best plan of a run of segments on one mesh.
//
// Concept: the part of the step's PlanProblem between two cuts is a problem of
// its own, free at both ends. A stage that holds the activations of several
// micro-batches has a multiple of the saved bytes. It may need a slower plan to
// stay within the memory limit. Runs of equal types, joined alike, are searched
// once: 96 equal layers have some hundreds. Without a limit, or where the
// fastest plan fits, what is held does not matter. Where the module is the step
// of one of several micro-batches, an update counts once to that many passes
// (ApplyPassTimes). In → Out: first and last segment, micro-batches held → a
// configuration per segment, or the least memory that any plan needs.
// Units: bytes per device; time as measured of the module, updates and, where
// it is a loop over micro-batches, all of these included.
// Errors: those of search::Solve; kNotFound for a run of configurations that
// were not measured.
// Threads: one.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_STAGE_SEARCH_H_
#define MESHWRIGHT_COORDINATOR_STAGES_STAGE_SEARCH_H_

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/stages/crossings.h"
#include "coordinator/stages/pass_time_split.h"
#include "coordinator/stages/run_plan.h"
#include "coordinator/stages/stage_costs.h"
#include "planner/problem/plan_problem.h"
#include "planner/search/search.h"

namespace meshwright::stages {

class StageSearch {
 public:
  // `own`: trips of the step's own loop over micro-batches; `micro_batches`: of
  // a step. The references outlive it.
  static absl::StatusOr<StageSearch> Create(
      const planning::MeasuredStep& step,
      const std::vector<SharedArgument>& shared, int64_t own,
      int64_t micro_batches, std::optional<int64_t> limit);

  // Of a configuration of a type.
  using PassTimesFunction =
      std::function<PassTimes(segmenter::SegmentTypeId, int)>;

  // Sets the time that a configuration takes of a step, as far as is known now.
  // Plans made before are dropped, but where that changes nothing.
  void ApplyPassTimes(const PassTimesFunction& split);

  // Segments [first, end). One that does not fit says in `persistent_bytes`
  // what the plan of minimum memory needs; 0: there is none. The pointer stays
  // valid until ApplyPassTimes changes costs.
  absl::StatusOr<const RunPlan*> Plan(segmenter::SegmentIndex first,
                                      segmenter::SegmentIndex end, int held);

  // The same, but of plans that cannot be distinguished the one that `plan`
  // takes; what Plan says of such a run from now on, too.
  absl::StatusOr<const RunPlan*> PlanBreakingTies(segmenter::SegmentIndex first,
                                                  segmenter::SegmentIndex end,
                                                  int held);

  // The run with these configurations.
  absl::StatusOr<RunPlan> EvaluateRun(segmenter::SegmentIndex first,
                                      segmenter::SegmentIndex end,
                                      const std::vector<int>& configurations);

  // The time that each of them saves; one each, in order of appearance.
  absl::StatusOr<std::vector<RunAlternative>> Alternatives(
      segmenter::SegmentIndex first, segmenter::SegmentIndex end, int held,
      const std::vector<int>& configurations, const search::Options& options);

  int solved() const { return solved_; }

 private:
  struct Ends {
    segmenter::SegmentIndex first;
    segmenter::SegmentIndex end;
    auto operator<=>(const Ends&) const = default;
  };

  // The part of the whole problem between two cuts, and its plans.
  struct Part {
    std::vector<problem::Node> nodes;
    std::vector<problem::Edge> edges;
    // Parameters that other stages update: by type, then configuration of the
    // problem, bytes of one copy. Copies that read one share its bytes.
    std::map<segmenter::SegmentTypeId, std::vector<int64_t>> foreign;
    bool ties_broken = false;
    std::optional<RunPlan> fastest;
    std::map<int, RunPlan> within_limit;  // by micro-batches held
  };

  StageSearch(const planning::MeasuredStep& step,
              const std::vector<SharedArgument>& shared, int64_t repeats,
              std::optional<int64_t> limit)
      : step_(&step), shared_(&shared), repeats_(repeats), limit_(limit) {}

  Part& FindPart(segmenter::SegmentIndex first, segmenter::SegmentIndex end);
  Part Cut(segmenter::SegmentIndex first, segmenter::SegmentIndex end,
           std::string* key) const;
  void AddForeign(const SharedArgument& shared, segmenter::SegmentIndex first,
                  segmenter::SegmentIndex end, Part& part,
                  std::string* key) const;
  const problem::PlanProblem& Problem(const Part& part, int held,
                                      std::optional<int64_t> limit);
  absl::StatusOr<const RunPlan*> Search(Part& part, int held);
  absl::StatusOr<RunPlan> Solve(const Part& part, int held,
                                std::optional<int64_t> limit);
  RunPlan Evaluated(const Part& part, const problem::Choice& choice);
  // kNotFound for one that was not measured.
  absl::StatusOr<problem::Choice> FindStates(
      const Part& part, const std::vector<int>& configurations) const;

  const planning::MeasuredStep* step_;
  const std::vector<SharedArgument>* shared_;
  int64_t repeats_;  // passes of what is measured to an update
  std::optional<int64_t> limit_;
  formulation::MeasuredProblem measured_;
  std::vector<problem::NodeType> weighed_;  // its types, as they are searched
  problem::PlanProblem evaluated_;          // as they were measured
  // By micro-batches held, with the types of the last part.
  std::map<int, problem::PlanProblem> by_held_;
  std::deque<Part> parts_;
  std::map<std::string, int> by_key_;  // of parts_
  std::map<Ends, int> by_ends_;        // likewise
  int solved_ = 0;
};

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_STAGE_SEARCH_H_
