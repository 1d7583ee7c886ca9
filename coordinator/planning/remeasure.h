// RemeasureNoisy: a plan does not stand on noisy rows where that can be helped.
//
// Concept: the programs of the chosen configurations whose rows are noisy,
// suspect, or of a slow period beside any row of the step, and not yet measured
// often enough (IsWorthMeasuring), are measured once more. Those are left that
// take the least of a step, up to two percent of it together, each counted as
// often as a step runs it: nobody would notice their noise. The problem is
// built again from what the store makes of all their measurements. Another plan
// may be the fastest then; the caller chooses again. `with_rivals`: also such
// rows of the baselines and of the plan that would be the fastest if all such
// rows were too slow by as much as was seen, as a row that keeps its plan from
// being chosen would never heal else. An exclusion is judged again by the new
// rows, as a plan that finds them all in the store judges it. Programs that it
// then asks for are measured as far as the number of programs goes; what they
// decide is not reached beyond it. In -> Out: a plan of one mesh and its step
// -> whether anything was measured; the step's rows and problem follow. A
// request not to wait measures nothing. Threads: one. Errors: those of
// measuring and of building the problem; kCancelled once the plan is to stop. A
// search that ends without an answer names no rivals.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_REMEASURE_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_REMEASURE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/planning/measured_step.h"
#include "coordinator/planning/measuring.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::planning {

// A plan is chosen again this often at most.
inline constexpr int kMaxRemeasuringRounds = 2;

absl::StatusOr<bool> RemeasureNoisy(const v1::PlanRequest& request,
                                    const v1::Plan& plan, bool with_rivals,
                                    const v1::DeviceSpec& device,
                                    const PlanDependencies& dependencies,
                                    const jobs::ProgressFunction& progress,
                                    MeasuredStep& step);

// Of the programs of `plans`, of the step's space, those that are noisy and
// matter to their plan: whether there were any. The rows and verdicts follow,
// the problem does not.
absl::StatusOr<bool> RemeasureNoisyRows(
    const std::vector<Measuring::Programs>& plans, const v1::DeviceSpec& device,
    const PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress, MeasuredStep& step);

// Whether a program of the step's space has a row that another measurement may
// change (IsWorthMeasuring).
bool HasDoubtfulRows(const MeasuredStep& step);

// The step's rows if all such rows were too slow by as much as was seen. Of the
// plan that is the fastest by them, a doubtful row may keep it from being
// chosen.
store::Results MakeOptimisticRows(const MeasuredStep& step);

// The programs of the segments from `first` on that `run` has configurations
// for, and of the resharding between them; they live in the step.
std::vector<const v1::Program*> ListRunPrograms(const MeasuredStep& step,
                                                segmenter::SegmentIndex first,
                                                const std::vector<int>& run);

// The programs that the plan's prediction is a sum of; they live in the step.
std::vector<const v1::Program*> ListUsedPrograms(const v1::Plan& plan,
                                                 const MeasuredStep& step);

// The plan's quality becomes that of the worst row among the programs' if that
// is worse; each reason of their noise is added once. A row of a slow period is
// noisy, and so is one whose good measurements lie too far apart (kMaxSpread).
// Noisy programs too short to matter count as good.
void AddQuality(const Measuring::Programs& programs, const MeasuredStep& step,
                v1::Plan& plan);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_REMEASURE_H_
