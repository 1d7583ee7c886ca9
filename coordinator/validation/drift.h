// Drift: the machine's speed during a validation, relative to profiling.
//
// Concept: a shared or throttled machine changes its speed from one minute to
// the next, which is no error of a plan. So a validation measures some programs
// of the plans' segments again, in the same rounds as the whole steps. They are
// those with the largest shares of the plans' time. The machine's drift is the
// sum of their times now over the sum of their profiled times, as rows count
// them (profiledb/store/row_time.h). Programs are profiled at different
// moments. So a plan's own drift takes its own programs as measured now, and
// the machine's drift for the rest. Source: docs/formats/validate.md.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_DRIFT_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_DRIFT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/export/whole_model.h"
#include "coordinator/planning/plan_pipeline.h"
#include "proto/v1/job.pb.h"

namespace meshwright::validation {

// Probes cover this share of the plans' time, up to a maximum number.
inline constexpr double kProbedShare = 0.98;
inline constexpr int kMaxProbes = 40;

// A program that is measured again.
struct Probe {
  v1::Program program;          // not compared with the reference
  double profiled_ns = 0;       // one run
  std::vector<double> runs_of;  // by plan: how often it counts

  double Runs() const;  // in all plans together
};

// A time of few samples: a probe beside no whole step runs once, or as often as
// there was time.
bool IsGuess(const v1::Measurement& measurement);

// By segment its configuration; none where the plan does not run it.
using PartialChoice = std::vector<std::optional<int>>;

// Programs of the plans' segments, the largest shares of their time first. Rows
// that were not measured are left out, and so is a plan that is empty.
std::vector<Probe> ChooseProbes(const planning::MeasuredStep& step,
                                const std::vector<PartialChoice>& plans);

// None without a probe that was measured.
std::optional<double> EstimateDrift(
    const std::vector<Probe>& probes,
    const std::map<std::string, v1::ProfileResult>& results);

// Of one plan; `drift` is the machine's.
double EstimatePlanDrift(
    size_t plan, double predicted_seconds, const std::vector<Probe>& probes,
    const std::map<std::string, v1::ProfileResult>& results, double drift);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_DRIFT_H_
