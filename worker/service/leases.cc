#include "worker/service/leases.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log/log.h"
#include "base/log/log_context.h"

namespace meshwright::worker {
namespace {

// Whether another try, here or elsewhere, would end the same way.
bool IsFinal(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) ||
         absl::IsInvalidArgument(status) || absl::IsUnimplemented(status);
}

}  // namespace

Leases::Leases(const WorkerDependencies& dependencies)
    : dependencies_(dependencies), thread_([this] { Run(); }) {}

Leases::~Leases() { Stop(); }

void Leases::Describe(v1::WorkerHello* hello) {
  base::MutexLock lock(&mutex_);
  hello->set_fault(fault_);
  reported_fault_ = fault_;
  for (const Lease& lease : leases_) {
    if (lease.is_dropped) continue;
    v1::HeldLease& held = *hello->add_held();
    held.set_job_id(lease.id);
    held.mutable_keys()->Add(lease.keys.begin(), lease.keys.end());
    held.set_is_over(lease.is_over);
  }
}

void Leases::Connect(const v1::Welcome& welcome, Send send) {
  base::MutexLock lock(&mutex_);
  if (is_stopped_) return;
  lease_time_ = absl::Seconds(welcome.lease_seconds());
  send_ = std::move(send);
  const std::set<std::string> resumed(welcome.resumed().begin(),
                                      welcome.resumed().end());
  if (fault_ != reported_fault_) ReportFault();
  for (Lease& lease : leases_) {
    if (!resumed.contains(lease.id)) {
      base::LogInfo("lease ", lease.id, ": it is another's by now");
      lease.is_dropped = true;
      StopOne(lease);
      continue;
    }
    for (const v1::RunnerEvent& event : lease.reported) Report(lease.id, event);
  }
  Forget();
}

void Leases::Disconnect() {
  base::MutexLock lock(&mutex_);
  send_ = nullptr;
  for (Lease& lease : leases_) {
    if (lease.inbox == nullptr) continue;
    lease.is_dropped = true;
    StopOne(lease);
  }
  Forget();
}

void Leases::Tell(const std::string& id, const v1::GangMessage& message) {
  base::MutexLock lock(&mutex_);
  Lease* const lease = Find(id);
  if (lease != nullptr && lease->inbox != nullptr) {
    lease->inbox->Deliver(message);
  }
}

void Leases::Take(v1::JobBatch batch) {
  base::MutexLock lock(&mutex_);
  if (is_stopped_) return;
  Lease& lease = leases_.emplace_back();
  lease.id = batch.job_id();
  for (const v1::Program& program : batch.request().programs()) {
    lease.keys.push_back(program.key());
  }
  lease.plan = batch.plan();
  lease.traceparent = batch.traceparent();
  lease.request = std::move(*batch.mutable_request());
  if (lease.request.has_gang()) {
    lease.inbox = std::make_unique<sandbox::GangInbox>();
  }
  while (leases_.size() > kMaxKept && leases_.front().is_over) {
    leases_.pop_front();
  }
}

void Leases::Cancel(const std::string& id) {
  base::MutexLock lock(&mutex_);
  Lease* const lease = Find(id);
  if (lease != nullptr) StopOne(*lease);
}

void Leases::Acknowledge(const std::string& id) {
  base::MutexLock lock(&mutex_);
  Lease* const lease = Find(id);
  if (lease == nullptr) return;
  lease->is_dropped = true;
  Forget();
}

void Leases::Hear(absl::Time now) {
  base::MutexLock lock(&mutex_);
  heard_ = now;
}

bool Leases::EndIfSilent(absl::Time now) {
  base::MutexLock lock(&mutex_);
  if (!lease_time_.has_value() || now - heard_ <= *lease_time_) return false;
  for (Lease& lease : leases_) {
    if (lease.is_over || lease.stop.stop_requested()) continue;
    base::LogWarning("lease ", lease.id,
                     ": it ends, since the coordinator is silent for ",
                     absl::FormatDuration(now - heard_));
    StopOne(lease);
  }
  return true;
}

bool Leases::HasAny() {
  base::MutexLock lock(&mutex_);
  return !leases_.empty();
}

void Leases::Stop() {
  base::MutexLock lock(&mutex_);
  is_stopped_ = true;
  send_ = nullptr;
  if (running_ != nullptr) running_->stop.request_stop();
}

void Leases::AwaitEnd() {
  if (thread_.joinable()) thread_.join();
}

Leases::Lease* Leases::Find(const std::string& id) {
  const auto found =
      std::find_if(leases_.begin(), leases_.end(),
                   [&](const Lease& lease) { return lease.id == id; });
  return found == leases_.end() ? nullptr : &*found;
}

Leases::Lease* Leases::Next() {
  const auto found = std::find_if(leases_.begin(), leases_.end(),
                                  [](const Lease& it) { return !it.is_over; });
  return found == leases_.end() ? nullptr : &*found;
}

bool Leases::HasWork() const {
  return is_stopped_ ||
         std::any_of(leases_.begin(), leases_.end(),
                     [](const Lease& lease) { return !lease.is_over; });
}

void Leases::Run() {
  while (true) {
    v1::RunnerRequest request;
    Lease* lease = nullptr;
    {
      base::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &Leases::HasWork));
      if (is_stopped_) return;
      lease = Next();
      running_ = lease;
      request = std::move(lease->request);
    }
    RunBatch(lease, std::move(request));
  }
}

// A running lease is not forgotten, so `lease` stays.
void Leases::RunBatch(Lease* lease, v1::RunnerRequest request) {
  // The plugin's path is a matter of this machine.
  request.mutable_device()->set_platform(dependencies_.devices.platform());
  request.mutable_device()->set_plugin_path(
      dependencies_.devices.plugin_path());
  request.mutable_device()->set_solo(dependencies_.devices.solo());
  const base::LogScope scope({.plan = lease->plan,
                              .lease = lease->id,
                              .worker = dependencies_.name,
                              .traceparent = lease->traceparent});
  base::LogInfo("lease ", lease->id, ": ", request.programs_size(),
                " programs");
  const auto on_event = [&](const v1::RunnerEvent& event) {
    if (event.has_finished()) return;
    base::MutexLock lock(&mutex_);
    if (event.has_result() || event.has_compared()) {
      lease->reported.push_back(event);
    }
    if (!lease->is_dropped) Report(lease->id, event);
  };
  const absl::Status status = RunRequest(*lease, request, on_event);
  base::LogInfo("lease ", lease->id, ": ", status.ToString());
  std::string fault = dependencies_.find_fault();
  base::MutexLock lock(&mutex_);
  // First, so that the lease costs no try and no other follows.
  if (fault_ != fault) {
    fault_ = std::move(fault);
    ReportFault();
  }
  running_ = nullptr;
  End(*lease, status);
  Forget();
}

absl::Status Leases::RunRequest(const Lease& lease,
                                const v1::RunnerRequest& request,
                                const OnRunnerEvent& on_event) {
  const std::stop_token stop = lease.stop.get_token();
  if (lease.inbox == nullptr) {
    return dependencies_.run_batch(request, on_event, stop);
  }
  if (!dependencies_.run_member) {
    return absl::UnimplementedError("it joins no gangs");
  }
  return dependencies_.run_member(request, on_event, stop, lease.inbox.get());
}

void Leases::LookForFaults() {
  {
    base::MutexLock lock(&mutex_);
    if (fault_.empty()) return;
  }
  std::string fault = dependencies_.find_fault();
  base::MutexLock lock(&mutex_);
  if (fault_ == fault) return;
  fault_ = std::move(fault);
  ReportFault();
}

void Leases::ReportFault() {
  base::LogWarning("worker ", dependencies_.name, ": ",
                   fault_.empty() ? "well again" : fault_);
  if (send_ == nullptr) return;
  v1::WorkerMessage message;
  message.mutable_health()->set_fault(fault_);
  send_(message);
  reported_fault_ = fault_;
}

void Leases::Report(const std::string& lease, const v1::RunnerEvent& event) {
  if (send_ == nullptr) return;
  v1::WorkerMessage message;
  message.mutable_update()->set_job_id(lease);
  *message.mutable_update()->mutable_event() = event;
  send_(message);
}

void Leases::End(Lease& lease, const absl::Status& status) {
  lease.is_over = true;
  v1::RunnerEvent& finished = lease.reported.emplace_back();
  finished.mutable_finished();
  if (!status.ok() && !absl::IsCancelled(status)) {
    finished.mutable_finished()->set_error(std::string(status.message()));
    finished.mutable_finished()->set_final(IsFinal(status));
  }
  if (!lease.is_dropped) Report(lease.id, finished);
}

void Leases::StopOne(Lease& lease) {
  if (lease.is_over) return;
  lease.stop.request_stop();
  if (&lease != running_) End(lease, absl::OkStatus());
}

void Leases::Forget() {
  leases_.remove_if(
      [](const Lease& lease) { return lease.is_over && lease.is_dropped; });
}

}  // namespace meshwright::worker
