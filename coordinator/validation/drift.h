// Drift: how fast the machine is now, next to when the segments were profiled.
//
// Concept: a shared or throttled machine runs the same program at another speed
// from one minute to the next, which says nothing about the plans. A validation
// times some programs of the plans' segments again, in the same rounds as the
// whole steps: those that are most of the plans' time, as long as the steps are
// timed. The machine's drift is the sum of what they take now over that of what
// they were profiled at; both are least times, as are the whole steps': on
// processors that are kept awake the least are what is repeated.
// Programs are profiled at different moments, so a plan's own drift counts its
// own programs as they are now, and with the machine's what is not timed again.
// Source: design, section 9 (validate).
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

// Enough are timed again to be this much of the plans' time, and no more than
// so many.
inline constexpr double kAnchoredShare = 0.98;
inline constexpr int kMaxAnchors = 40;

// A program that is timed again.
struct Anchor {
  v1::Program program;          // not compared with the reference
  double profiled_ns = 0;       // one run
  std::vector<double> runs_of;  // by plan: how often it counts

  double Runs() const;  // in all plans together
};

// In the place of a configuration: the plan does not run the segment.
inline constexpr int kNotRun = -1;

// Programs of the plans' segments, the largest shares of their time first. Rows
// that were not measured are left out, and so is a plan that is empty.
std::vector<Anchor> ChooseAnchors(
    const planning::MeasuredStep& step,
    const std::vector<space::SegmentChoice>& plans);

// None without an anchor that was measured.
std::optional<double> Drift(
    const std::vector<Anchor>& anchors,
    const std::map<std::string, v1::ProfileResult>& results);

// Of one plan; `drift` is the machine's.
double EstimatePlanDrift(
    size_t plan, double predicted_seconds, const std::vector<Anchor>& anchors,
    const std::map<std::string, v1::ProfileResult>& results, double drift);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_DRIFT_H_
