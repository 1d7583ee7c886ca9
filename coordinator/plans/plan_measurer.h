// PlanMeasurer: the Measurer of one run of a plan of the service.
//
// Concept: a plan is made for one kind of devices. The first answer to Describe
// *pins* them. They are those of an attached worker. Without one they are
// *assumed*: those of the newest finished plan of the same module, else of any.
// A plan whose programs are all known therefore needs no worker. An assumed pin
// is stored when a worker with its devices measures, or when the plan is made.
// Until then a plan that waits for a worker takes any kind that comes. From the
// stored pin on, after a restart too, only workers with equal devices measure
// for the plan. Where none is attached the run is suspended, with what the
// attached ones lack as its reason.
// Programs that another plan is measuring are left to it (jobs/in_flight.h).
// Where that plan is cancelled, its run goes on until what this one wants of it
// is measured. A program that another plan measured since this run began is
// left to it, too, when the run first asks for it. A run that shares turns
// (turns.h) takes a measuring turn before it measures. Where none is free, or
// it is to give way, it is suspended without needs. Results that are there
// together are handed to the run together. Those whose rows the store does not
// take for now are handed to it again until the store takes them, or the run is
// stopped. So their worker keeps them until then (JobQueue acknowledges nothing
// earlier). Threads: one run, one thread; the stop tokens from any. Errors: a
// suspension (jobs/suspension.h), kCancelled after a stop, kUnavailable for
// more devices than the pinned machines have, those of the store of plans and
// of JobQueue.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_PLAN_MEASURER_H_
#define MESHWRIGHT_COORDINATOR_PLANS_PLAN_MEASURER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "coordinator/jobs/in_flight.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/jobs/measurer.h"
#include "profiledb/store/plan_store.h"

namespace meshwright::plans {

// The devices that a suspended plan waits for.
struct Needs {
  v1::DeviceSpec device;
  std::optional<jobs::DeviceDescription> exactly;
};

class PlanMeasurer : public jobs::Measurer {
 public:
  // Makes the pin durable before anything is measured.
  using OnPinned = std::function<absl::Status(const v1::DeviceRecord&)>;

  // The pointers outlive it.
  PlanMeasurer(jobs::JobQueue* queue, jobs::InFlight* in_flight,
               store::PlanStore* plans,
               std::optional<jobs::DeviceDescription> pinned,
               OnPinned on_pinned, jobs::JobOrigin origin, std::stop_token stop)
      : queue_(queue),
        in_flight_(in_flight),
        plans_(plans),
        pinned_(std::move(pinned)),
        on_pinned_(std::move(on_pinned)),
        origin_(std::move(origin)),
        stop_(std::move(stop)),
        began_(in_flight->Count()),
        seen_(began_) {}

  absl::StatusOr<jobs::DeviceDescription> Describe(
      const v1::DeviceSpec& device) override;
  absl::Status Measure(const v1::RunnerRequest& request,
                       const OnResult& on_result,
                       const OnStarted& on_started) override;
  absl::Status MeasureTogether(const v1::RunnerRequest& request,
                               const OnResults& on_results,
                               const OnStarted& on_started) override;

  // The plan, with its module and limit; a run that needs more programs ends
  // with kResourceExhausted.
  void SetPlan(const v1::PlanRecord& record) { record_ = record; }

  // `take` takes a measuring turn until the run ends, if the run has none;
  // false where none is free. `give_way`: the run is to end soon.
  void ShareTurns(std::function<bool()> take, std::stop_token give_way) {
    take_turn_ = std::move(take);
    give_way_ = std::move(give_way);
  }

  // Told why the store takes no row, before each pause.
  using OnAway = std::function<void(const absl::Status&)>;
  void TellAway(OnAway on_away) { on_away_ = std::move(on_away); }

  std::optional<absl::Time> PlanBegan() const override {
    if (record_.submitted_unix_ns() == 0) return std::nullopt;  // no record
    return absl::FromUnixNanos(record_.submitted_unix_ns());
  }

  // Of a plan that was made: the devices that were assumed are its own.
  absl::Status StorePin();

  std::stop_token StopToken() const override { return stop_; }

  void NoteRows(absl::Span<const std::string> keys) override {
    rows_.insert(keys.begin(), keys.end());
  }
  const std::set<std::string>& rows() const { return rows_; }

  // Of the suspension that a call returned; nothing: it waits for a turn.
  const std::optional<Needs>& needs() const { return needs_; }

 private:
  absl::Status Pin(const v1::DeviceSpec& device);
  // Devices of earlier plans; nothing: none fits.
  absl::StatusOr<std::optional<v1::DeviceRecord>> FindKnown(
      const v1::DeviceSpec& device);
  absl::Status SuspendFor(const v1::DeviceSpec& device,
                          absl::string_view reason);
  absl::Status SuspendForTurn();
  bool MustGiveWay() const {
    return give_way_.stop_requested() && !stop_.stop_requested();
  }
  // Whether what is claimed can be measured now.
  absl::Status CheckReady(const v1::RunnerRequest& claimed);

  // Until the store takes them.
  absl::Status HandOn(absl::Span<const v1::ProfileResult> results,
                      const OnResults& on_results);
  // Ends the claims of programs that have a result, and takes them out.
  absl::Status MeasureClaimed(const v1::RunnerRequest& request,
                              std::set<std::string>& claims,
                              const OnResults& on_results,
                              const OnStarted& on_started);

  jobs::JobQueue* const queue_;
  jobs::InFlight* const in_flight_;
  store::PlanStore* const plans_;
  std::optional<jobs::DeviceDescription> pinned_;
  std::optional<v1::DeviceRecord> assumed_;  // the pin, while it is not stored
  v1::DeviceSpec asked_;                     // that the assumed devices fit
  const OnPinned on_pinned_;
  const jobs::JobOrigin origin_;
  const std::stop_token stop_;
  std::function<bool()> take_turn_;  // empty: turns are not shared
  std::stop_token give_way_;
  OnAway on_away_;
  std::optional<Needs> needs_;
  std::set<std::string> rows_;  // keys that the run noted
  v1::PlanRecord record_;
  int64_t programs_ = 0;  // asked for so far
  // How many rows of others (InFlight::Count) there were when the run began,
  // and when it last read those that it asked for.
  const int64_t began_;
  int64_t seen_;
  std::set<std::string> read_keys_;  // asked for so far
};

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_PLAN_MEASURER_H_
