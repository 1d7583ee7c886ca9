#include "coordinator/plans/plan_measurer.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/failpoint.h"
#include "base/status_macros.h"
#include "base/stop_wait.h"
#include "coordinator/jobs/device_digest.h"
#include "coordinator/jobs/device_record.h"
#include "coordinator/jobs/queue_measurer.h"
#include "coordinator/jobs/suspension.h"
#include "coordinator/jobs/worker_port.h"
#include "profiledb/store/away.h"
#include "profiledb/store/plan_pages.h"

namespace meshwright::plans {
namespace {

// Whether programs for `device` run on these devices, were they attached.
bool Fits(const jobs::DeviceDescription& known, const v1::DeviceSpec& device) {
  jobs::WorkerDescription worker;
  worker.devices = known;
  return jobs::CanRun(worker, device, nullptr).ok();
}

// Between two tries to store a row.
constexpr absl::Duration kFirstRowPause = absl::Milliseconds(100);
constexpr absl::Duration kMaxRowPause = absl::Seconds(5);

// What others measure is wanted until this goes, or the run is stopped.
class ScopedWant {
 public:
  ScopedWant(jobs::JobQueue* queue, const std::set<std::string>& keys,
             const jobs::JobOrigin& origin, const std::stop_token& stop)
      : queue_(queue),
        want_(queue->Want({keys.begin(), keys.end()}, origin)),
        at_stop_(stop, [this] { queue_->Unwant(want_); }) {}
  ~ScopedWant() { queue_->Unwant(want_); }
  ScopedWant(const ScopedWant&) = delete;
  ScopedWant& operator=(const ScopedWant&) = delete;

 private:
  jobs::JobQueue* const queue_;
  const jobs::WantId want_;
  const std::stop_callback<std::function<void()>> at_stop_;
};

}  // namespace

absl::Status PlanMeasurer::SuspendFor(const v1::DeviceSpec& device,
                                      absl::string_view reason) {
  needs_ = assumed_.has_value() ? Needs{asked_, std::nullopt}
                                : Needs{device, pinned_};
  return jobs::Suspend(reason);
}

absl::Status PlanMeasurer::SuspendForTurn() {
  needs_.reset();
  return jobs::Suspend(
      "waits for its turn: as many plans as may at once have programs "
      "measured");
}

absl::Status PlanMeasurer::Pin(const v1::DeviceSpec& device) {
  const auto worker = queue_->MatchWorker(device, nullptr);
  if (worker.ok()) {
    const v1::DeviceRecord record = jobs::MakeDeviceRecord(worker->devices);
    RETURN_IF_ERROR(plans_->RememberDevice(record));
    base::Failpoint("device.known");
    RETURN_IF_ERROR(on_pinned_(record));
    base::Failpoint("device.pinned");
    pinned_ = worker->devices;
    return absl::OkStatus();
  }
  asked_ = device;
  ASSIGN_OR_RETURN(assumed_, FindKnown(device));
  if (!assumed_.has_value()) {
    return SuspendFor(device, worker.status().message());
  }
  pinned_ = jobs::ReadDeviceRecord(*assumed_);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<v1::DeviceRecord>> PlanMeasurer::FindKnown(
    const v1::DeviceSpec& device) {
  ASSIGN_OR_RETURN(std::vector<v1::DeviceRecord> known, plans_->ListDevices());
  std::erase_if(known, [&](const v1::DeviceRecord& record) {
    return !Fits(jobs::ReadDeviceRecord(record), device);
  });
  if (known.empty()) return std::optional<v1::DeviceRecord>();
  if (known.size() == 1) return known.front();
  std::optional<v1::DeviceRecord> newest, of_module;
  const absl::Status searched = store::ForEachPlan(
      *plans_, {.states = {v1::DONE}},
      [&](store::PlanId, const v1::PlanRecord& plan) {
        const bool is_same = plan.module_sha256() == record_.module_sha256();
        if (newest.has_value() && !is_same) return absl::OkStatus();
        if (!Fits(jobs::ReadDeviceRecord(plan.device()), device)) {
          return absl::OkStatus();
        }
        if (!newest.has_value()) newest = plan.device();
        if (!is_same) return absl::OkStatus();
        of_module = plan.device();
        return absl::CancelledError("the plans after it are older");
      });
  if (of_module.has_value()) return of_module;
  RETURN_IF_ERROR(searched);
  return newest.has_value() ? newest : known.front();
}

absl::Status PlanMeasurer::StorePin() {
  if (!assumed_.has_value()) return absl::OkStatus();
  RETURN_IF_ERROR(on_pinned_(*assumed_));
  assumed_.reset();
  return absl::OkStatus();
}

absl::StatusOr<jobs::DeviceDescription> PlanMeasurer::Describe(
    const v1::DeviceSpec& device) {
  if (!pinned_.has_value()) RETURN_IF_ERROR(Pin(device));
  jobs::DeviceDescription description = *pinned_;
  if (device.device_count() > description.device_count) {
    return absl::UnavailableError(
        absl::StrCat("the plan is for machines with ", description.device_count,
                     " ", description.platform, " devices, and a mesh has ",
                     device.device_count()));
  }
  if (device.device_count() > 0) {
    description.device_count = device.device_count();
  }
  return description;
}

absl::Status PlanMeasurer::CheckReady(const v1::RunnerRequest& claimed) {
  if (claimed.programs_size() > 0) {
    const auto worker = queue_->MatchWorker(claimed.device(), &*pinned_);
    if (!worker.ok()) {
      return SuspendFor(claimed.device(), worker.status().message());
    }
    RETURN_IF_ERROR(StorePin());
  }
  if (MustGiveWay() || (take_turn_ && !take_turn_())) return SuspendForTurn();
  return absl::OkStatus();
}

absl::Status PlanMeasurer::HandOn(absl::Span<const v1::ProfileResult> results,
                                  const OnResults& on_results) {
  if (!on_results) return absl::OkStatus();
  for (absl::Duration pause = kFirstRowPause;;
       pause = std::min(2 * pause, kMaxRowPause)) {
    absl::Status taken = on_results(results);
    if (!store::IsAway(taken)) return taken;
    if (on_away_) on_away_(taken);
    if (!base::WaitFor(pause, stop_)) return taken;
  }
}

absl::Status PlanMeasurer::MeasureClaimed(const v1::RunnerRequest& request,
                                          std::set<std::string>& claims,
                                          const OnResults& on_results,
                                          const OnStarted& on_started) {
  jobs::QueueMeasurer measurer(queue_, stop_, pinned_, origin_, give_way_);
  absl::Status measured = measurer.MeasureTogether(
      request,
      [&](absl::Span<const v1::ProfileResult> results) {
        absl::Status taken = HandOn(results, on_results);
        for (const v1::ProfileResult& result : results) {
          const bool has_row = taken.ok() && result.outcome() != v1::TRANSIENT;
          if (claims.erase(result.key()) > 0) {
            in_flight_->End(result.key(), has_row);
          }
        }
        return taken;
      },
      on_started);
  if (absl::IsCancelled(measured) && MustGiveWay()) return SuspendForTurn();
  // The workers that could have gone on have left. One that is back by now
  // wakes the run at the next tick.
  if (absl::IsUnavailable(measured) && !store::IsAway(measured)) {
    return SuspendFor(request.device(), measured.message());
  }
  return measured;
}

absl::Status PlanMeasurer::Measure(const v1::RunnerRequest& request,
                                   const OnResult& on_result,
                                   const OnStarted& on_started) {
  const OnResults each = [&](absl::Span<const v1::ProfileResult> results) {
    for (const v1::ProfileResult& result : results) {
      // Those before it are taken, and do not come again with it.
      RETURN_IF_ERROR(
          HandOn({&result, 1}, [&](absl::Span<const v1::ProfileResult> one) {
            return on_result(one.front());
          }));
    }
    return absl::OkStatus();
  };
  return MeasureTogether(request, on_result ? each : nullptr, on_started);
}

absl::Status PlanMeasurer::MeasureTogether(const v1::RunnerRequest& request,
                                           const OnResults& on_results,
                                           const OnStarted& on_started) {
  programs_ += request.programs_size();
  RETURN_IF_ERROR(store::CheckPrograms(record_, programs_));
  if (!pinned_.has_value()) RETURN_IF_ERROR(Pin(request.device()));
  std::map<std::string, const v1::Program*> open;
  for (const v1::Program& program : request.programs()) {
    open.emplace(program.key(), &program);
  }
  while (!open.empty()) {
    std::vector<std::string> first;
    std::vector<std::string> again;
    for (const auto& [key, program] : open) {
      (read_keys_.contains(key) ? again : first).push_back(key);
    }
    jobs::InFlight::Flights others = in_flight_->Claim(first, began_);
    for (auto& flight : in_flight_->Claim(again, seen_)) {
      others.push_back(std::move(flight));
    }
    std::set<std::string> elsewhere;
    for (const auto& flight : others) elsewhere.insert(flight->key);
    const ScopedWant want(queue_, elsewhere, origin_, stop_);
    v1::RunnerRequest mine;
    *mine.mutable_device() = request.device();
    *mine.mutable_options() = request.options();
    // In the order of the request, which begins with what matters most.
    for (const v1::Program& program : request.programs()) {
      const auto it = open.find(program.key());
      if (it == open.end() || it->second != &program) continue;
      if (!elsewhere.contains(program.key())) *mine.add_programs() = program;
    }
    std::set<std::string> claims;
    for (const v1::Program& program : mine.programs()) {
      claims.insert(program.key());
    }
    absl::Status measured = CheckReady(mine);
    if (measured.ok() && !claims.empty()) {
      measured = MeasureClaimed(mine, claims, on_results, on_started);
    }
    for (const std::string& key : claims) {
      in_flight_->End(key, /*has_row=*/false);
    }
    RETURN_IF_ERROR(measured);
    const auto without_row = in_flight_->Await(others, stop_, give_way_);
    if (absl::IsCancelled(without_row.status()) && MustGiveWay()) {
      return SuspendForTurn();
    }
    RETURN_IF_ERROR(without_row.status());
    std::map<std::string, const v1::Program*> left;
    for (const std::string& key : *without_row) left[key] = open.at(key);
    open = std::move(left);
  }
  for (const v1::Program& program : request.programs()) {
    read_keys_.insert(program.key());
  }
  seen_ = in_flight_->Count();
  return absl::OkStatus();
}

}  // namespace meshwright::plans
