// Selection: which programs of a profile space are worth measuring.
//
// Concept: two stages. First, what everything else is estimated from: halves,
// resharding, and the segment types that are not estimated. Then, in batches,
// the configurations that may still be part of a fastest plan, together with
// the baselines. That ends when every other one is excluded (pruning.h) or the
// number of programs is used up. A configuration that failed takes no part, in
// spite of its estimate. Next repeats all batches and stops at the
// first that has not been measured. Decisions therefore do not depend on what
// else a store holds or how often a plan was interrupted, nor on the depth of
// the model.
//
//   Next ─▶ measure ─▶ Next ─▶ measure ─▶ ... ─▶ nothing to measure: verdicts
//
// Errors: those of the search (memory_multiplier.h). Once the deadline of its
// options has passed, what it decides says nothing.
// Source: docs/decisions/pruning-by-halves.md.
#ifndef MESHWRIGHT_COORDINATOR_SELECTION_SELECTION_H_
#define MESHWRIGHT_COORDINATOR_SELECTION_SELECTION_H_

#include <optional>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/estimation/estimates.h"
#include "coordinator/problem/plan_problem.h"
#include "coordinator/selection/pruning.h"
#include "planner/search/search.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::selection {

// A plan measures at most this many programs, more where switches are open. It
// measures at least kMinMeasuredWhole configurations of every type that is
// estimated from its halves or blocks. Of a type that is estimated from another
// one it measures at least kMinMeasuredOfProxied. The mandatory programs may
// leave too few for that. If a type's cost then differs from its proxy's by
// more than the factor kMaxProxyScale, all of its configurations may be
// measured. If the mandatory programs exceed the number, small types are
// estimated from single blocks, if that keeps the number. The types used by the
// fewest segments come first.
inline constexpr int kMaxPrograms = 60;
inline constexpr int kMaxProgramsWithSwitches = 120;
inline constexpr int kMinMeasuredWhole = 6;
inline constexpr int kMinMeasuredOfProxied = 3;
inline constexpr double kMaxProxyScale = 1.25;

// The verdicts on configurations that were not asked for hold once nothing more
// is to be measured.
struct Decision {
  std::vector<const v1::Program*> measure;
  std::vector<v1::PlanEstimates> estimates;  // by type that is estimated
  std::vector<v1::PlanExcluded> excluded;
  std::vector<v1::PlanNotReached> not_reached;
  std::vector<v1::PlanFailed> failed;  // a half of it failed
  // Of those not reached: the low ends of their estimates.
  estimation::Estimates low_ends;
};

class Selection {
 public:
  // The references outlive it. `options`: of its searches.
  Selection(const segmenter::Analysis& analysis,
            const space::ProfileSpace& space,
            std::optional<int64_t> memory_limit_bytes,
            const search::Options& options = {});

  // Programs beside those of the space.
  const std::vector<v1::Program>& halves() const { return halves_->programs(); }

  // The programs that others are estimated from, and all resharding: measured
  // before anything is decided, each once. They live in this and in the space.
  std::vector<const v1::Program*> First() const;

  // The programs to measure next, or the verdicts where nothing is left to
  // measure. `results`: all rows known so far, by key.
  absl::StatusOr<Decision> Next(const store::Results& results) const;
  // The verdicts of these rows where nothing more may be measured: whatever may
  // still be part of a fastest plan is not reached.
  absl::StatusOr<Decision> Conclude(const store::Results& results) const;

  // The maximum number of programs that Next asks for in all.
  int MaxPrograms() const;

 private:
  class Round;

  // Estimates small types from single blocks, as far as the number of programs
  // asks.
  void ReduceMandatory(const std::vector<int>& base);
  // The programs that are measured in any case: the first, the baselines, and
  // enough of every type with a proxy to compare the two.
  int CountMandatory() const;

  const segmenter::Analysis& analysis_;
  const space::ProfileSpace& space_;
  const std::optional<int64_t> memory_limit_bytes_;
  const search::Options options_;
  std::set<estimation::ConfigurationRef> baselines_;
  std::optional<estimation::Halves> halves_;
  std::vector<estimation::EstimationPlan> plans_;
  std::set<segmenter::SegmentTypeId> reduced_;  // estimated from single blocks
};

}  // namespace meshwright::selection

#endif  // MESHWRIGHT_COORDINATOR_SELECTION_SELECTION_H_
