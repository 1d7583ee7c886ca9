// Measuring: rows for programs, from the store or from the devices.
//
// Concept: rows that the store has are looked up; others are measured and
// recorded the moment they arrive, so that an interrupted plan loses nothing.
// Rows that arrive while others are recorded are the next commit.
// Programs are measured once more if their rows come out noisy for no reason of
// the machine (busy, throttled), or of a period that is slow beside others of
// the same call (estimation/time_base.h). Where the repeats come out as slow,
// that is the machine's speed until a batch is faster, and others as slow are
// not repeated. The
// summary that the store then makes of both measurements counts.
// Threads: one; the measurer's callbacks come one at a time.
// Errors: those of the store, at the first of which measuring stops, and of the
// measurer. A program that fails is a row and a note, now and in every later
// plan that meets the row.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_MEASURING_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_MEASURING_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/link.h"
#include "coordinator/estimation/time_base.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/space/programs/program_key.h"
#include "planner/search/search.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::planning {

struct PlanDependencies {
  store::ProfileStore* store = nullptr;
  jobs::Measurer* measurer = nullptr;
};

// kCancelled once the plan at hand is to stop. A search that ends early has an
// answer, which is no plan's.
absl::Status CheckWanted(const PlanDependencies& dependencies);

// With these a search ends once the plan at hand is to stop.
search::Options MakeSearchOptions(const PlanDependencies& dependencies);

// Measurements of a key that lie further apart than this share of its time are
// not believed, however good each is.
inline constexpr double kMaxSpread = 0.1;

// Measured, and not believed to a few percent. `fastest`: the fastest anchor of
// the rows that it is used with (estimation::FindFastestAnchor), beside which
// its own may say that the machine was slow.
bool IsNoisy(const v1::ProfileResult& row,
             const estimation::TimeBase& fastest = std::nullopt);

// A program that stayed noisy in so many measurements that no busy machine
// disturbed is noisy itself: no plan measures it again.
inline constexpr int kEnoughMeasurements = 3;
// Nor is one that was measured within this time before the plan was asked for,
// unless a busy machine disturbed it: it would be as noisy again. Rows that a
// plan measures itself are younger than it, also when it is run again after a
// crash.
inline constexpr absl::Duration kRest = absl::Minutes(10);

// Noisy, and another measurement may change that.
bool IsWorthMeasuring(const v1::ProfileResult& row,
                      const estimation::TimeBase& fastest = std::nullopt);

class Measuring {
 public:
  using Programs = std::vector<const v1::Program*>;

  // The references outlive it. `device` is what the programs run on.
  Measuring(const PlanDependencies& dependencies, const v1::DeviceSpec& device,
            const space::KeyContext& context,
            const jobs::ProgressFunction& progress);

  // Takes the rows there are, but for those of programs that timed out, or with
  // `retry_failures` failed; Measure runs these once more. Rows of programs in
  // quarantine are always taken. Rows of this plan, of a run that was ended,
  // count as measured by this one. The programs outlive this.
  absl::Status Lookup(const std::vector<v1::Program>& programs,
                      bool retry_failures = false);

  // Measures the programs that have no row yet; they outlive this. Then once
  // more those whose rows came out noisy, also in a run that was ended.
  absl::Status Measure(const Programs& programs);

  // Measures those again whose rows are noisy and worth it, so that what the
  // store got in a bad moment does not decide what is measured. Not those of
  // this plan, which a run that was not ended does not heal either.
  absl::Status Heal(const Programs& programs);
  absl::Status Heal(const std::vector<v1::Program>& programs);

  // Measures programs again, each named once, whatever is known of them.
  absl::Status Remeasure(const Programs& programs);

  const store::Results& results() const { return results_; }
  // Keys of the rows that the store did not have.
  const std::set<std::string>& measured_now() const { return measured_now_; }
  int cached() const { return cached_; }
  int profiled() const { return profiled_; }
  // Measurements of rows that were there already.
  int remeasured() const { return remeasured_; }
  int failed() const { return failed_; }
  // Wall time that the measurer took.
  double seconds() const { return seconds_; }
  double compile_seconds() const {
    return static_cast<double>(compile_ns_) * 1e-9;
  }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  using ByKey = std::map<std::string, const v1::Program*>;

  // Whether the row was measured since the plan was asked for.
  bool IsOfThisPlan(const v1::ProfileResult& row) const;
  // As if this run had measured its row, where that is of this plan.
  void GoOnWith(const v1::Program& program);
  void NoteAnchor(const v1::Measurement& measurement);
  absl::Status RunBatch(const Programs& programs);
  // Of those measured so far, each once.
  Programs TakeDoubtful();
  absl::Status Repeat(const Programs& doubtful);
  // Of the anchors from this one on.
  estimation::TimeBase FindSpeedSince(size_t anchor) const;
  // The plan's reading of a row of the store.
  v1::ProfileResult Read(v1::ProfileResult row) const;
  void Take(const v1::Program& program, const v1::ProfileResult& result);
  // Those that are there together, in one commit. Results that the store does
  // not take change nothing.
  absl::Status Record(const ByKey& programs,
                      absl::Span<const v1::ProfileResult> results);
  void NoteFailure(const v1::Program& program, const v1::ProfileResult& row);
  void Show(const char* phase, int done);

  const PlanDependencies dependencies_;
  const jobs::ProgressFunction& progress_;
  const v1::DeviceSpec device_;
  const v1::MeasureOptions options_;
  const std::string machine_;  // digest of the device fingerprint
  const space::Mesh mesh_;
  const base::Links links_;  // of a solo plan, else empty
  store::Results results_;
  std::set<std::string> measured_now_;
  Programs once_;                  // measured once so far
  std::vector<int64_t> anchors_;   // times, of this plan's measurements
  estimation::TimeBase repeated_;  // anchor of the last repeats, or less since
  std::vector<std::string> notes_;
  int cached_ = 0;
  int asked_ = 0;  // programs handed to the measurer
  int compiled_ = 0;
  int profiled_ = 0;
  int remeasured_ = 0;
  int failed_ = 0;
  double seconds_ = 0;
  int64_t compile_ns_ = 0;
  double best_seconds_ = 0;
};

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_MEASURING_H_
