// The worker half of JobQueue: who is attached, and what comes of its leases.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/failpoint.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "coordinator/jobs/job_queue.h"
#include "profiledb/store/text.h"

namespace meshwright::jobs {

absl::StatusOr<WorkerId> JobQueue::Attach(const WorkerDescription& description,
                                          WorkerPort* port,
                                          const std::vector<HeldLease>& held) {
  base::MutexLock lock(&mutex_);
  const auto earlier =
      std::find_if(workers_.begin(), workers_.end(), [&](const auto& entry) {
        return entry.second.description.name == description.name;
      });
  if (earlier != workers_.end()) {
    const Worker& other = earlier->second;
    const bool is_other = other.description.owner != description.owner;
    if (is_other || (other.port != nullptr &&
                     other.description.session != description.session)) {
      base::LogWarning("worker ", description.name, " of ", description.host,
                       ": refused, another one of that name is attached from ",
                       other.description.host);
      return absl::AlreadyExistsError(
          absl::StrCat(is_other ? "a worker of another owner"
                                : "another worker of " + other.description.host,
                       " is attached under the name ", description.name,
                       "; choose another --name, or stop that worker first"));
    }
    if (other.port != nullptr) {
      other.port->Close(absl::AbortedError(absl::StrCat(
          "another worker of the name ", description.name, " attached")));
    }
  }
  const WorkerId id{next_worker_++};
  Worker& worker = workers_[id];
  worker.description = description;
  worker.port = port;
  worker.fault = description.fault;
  worker.draining = description.is_draining;
  worker.seen = clock_->Now();
  index_.AddWorker(id, description);
  base::LogInfo("worker ", description.name, ": attached with ",
                description.devices.device_count, " ",
                description.devices.platform, " devices");
  Welcome welcome{epoch_, options_.lease_time, {}};
  for (const HeldLease& lease : held) {
    if (Resume(id, lease)) {
      welcome.resumed.push_back(lease.id);
    } else {
      base::LogInfo("lease ", FormatLeaseId(lease.id), ": worker ",
                    description.name,
                    " brings it along: refused, it has ended or is another's");
    }
    base::Failpoint("lease.resumed");
  }
  if (earlier != workers_.end()) {
    worker.programs_measured = earlier->second.programs_measured;
    DropWorker(earlier, "it attached again without it", Ending::kLost);
  }
  port->Greet(welcome);
  NoteWorker(id);
  Dispatch();
  ++changes_;
  CloseIfDrained(workers_.find(id));
  return id;
}

bool JobQueue::Resume(WorkerId id, const HeldLease& held) {
  Worker& worker = workers_.at(id);
  const WorkerDescription& description = worker.description;
  // Several leases may be over; one runs.
  if (!held.is_over && worker.running.has_value()) return false;
  const auto found = leases_.find(held.id);
  if (found != leases_.end()) {
    Lease& lease = found->second;
    if (lease.worker_name != description.name ||
        lease.worker_owner != description.owner || lease.gang.has_value()) {
      return false;
    }
    const auto before = workers_.find(lease.worker);
    if (before != workers_.end()) {
      before->second.leases.erase(held.id);
      if (before->second.running == held.id) before->second.running.reset();
    }
    lease.worker = id;
  } else if (epoch_ == 0 ||
             (held.id.epoch < epoch_ && clock_->Now() < handing_in_ends_)) {
    Lease& lease = leases_[held.id];
    lease.id = held.id;
    lease.worker = id;
    lease.worker_name = description.name;
    lease.worker_host = description.host;
    lease.worker_owner = description.owner;
    lease.given = clock_->Now();
    handed_in_.Add(held.id, held.keys, clock_->Now() + options_.handed_in_time);
  } else {
    return false;
  }
  Lease& lease = leases_.at(held.id);
  base::LogInfo("lease ", FormatLeaseId(held.id), ": worker ", description.name,
                held.is_over ? " hands it in" : " goes on with it");
  if (!lease.is_over) {
    worker.leases.insert(held.id);
    if (!held.is_over) worker.running = held.id;
  }
  if (Job* const job = FindHeldBack(held)) Bind(lease, *job);
  return true;
}

void JobQueue::RefuseClaims(int64_t epoch) {
  const LeaseId first{epoch, std::numeric_limits<int64_t>::min()};
  for (auto it = leases_.lower_bound(first); it != leases_.end();) {
    Lease& lease = it->second;
    base::LogWarning("lease ", FormatLeaseId(lease.id), ": worker ",
                     lease.worker_name, " claims it: refused, epoch ", epoch,
                     " has just begun");
    if (lease.gang.has_value() && gangs_.contains(*lease.gang)) {
      BreakGang(*lease.gang, lease.rank, "has a lease that nobody gave",
                Ending::kGivenBack);
      it = leases_.lower_bound(first);  // the gang's leases are gone
      continue;
    }
    const auto worker = workers_.find(lease.worker);
    if (worker != workers_.end() && worker->second.port != nullptr) {
      worker->second.port->Cancel(lease.id);
      worker->second.port->Acknowledge(lease.id);
    }
    handed_in_.Release(lease.id);
    EndLease(lease, "nobody gave it", Ending::kGivenBack);
    it = leases_.erase(it);
  }
}

JobQueue::Job* JobQueue::FindHeldBack(const HeldLease& held) {
  if (!handed_in_.Contains(held.id)) return nullptr;
  for (const std::string& key : held.keys) {
    const auto found = wanted_.find(key);
    if (found == wanted_.end()) continue;
    Job* const job = Find(found->second);
    if (job != nullptr && job->is_held_back) return job;
  }
  return nullptr;
}

void JobQueue::Detach(WorkerId id, const std::string& reason) {
  base::MutexLock lock(&mutex_);
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  Worker& worker = found->second;
  worker.port = nullptr;
  BreakGangsOf(id, absl::StrCat("was lost (", reason, ")"), Ending::kLost);
  if (worker.leases.empty()) {
    DropWorker(found, reason, Ending::kLost);
    Dispatch();
    return;
  }
  NoteWorker(id);
  base::LogInfo("worker ", worker.description.name, ": away: ", reason);
}

void JobQueue::Leave(WorkerId id) {
  base::MutexLock lock(&mutex_);
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  if (found->second.port != nullptr) {
    found->second.port->Close(absl::OkStatus());
  }
  DropWorker(found, "it stops", Ending::kGivenBack);
  Dispatch();
}

void JobQueue::ReleaseWorkers(const absl::Status& reason) {
  base::MutexLock lock(&mutex_);
  while (!workers_.empty()) {
    const auto worker = workers_.begin();
    if (worker->second.port != nullptr) worker->second.port->Close(reason);
    DropWorker(worker, std::string(reason.message()), Ending::kGivenBack);
  }
}

void JobQueue::Update(WorkerId id, LeaseId lease_id,
                      const v1::RunnerEvent& heard) {
  base::MutexLock lock(&mutex_);
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  Worker& worker = found->second;
  worker.seen = clock_->Now();
  if (!worker.leases.contains(lease_id)) return;
  Lease& lease = leases_.at(lease_id);
  lease.pause = store::CleanText(heard.waiting().reason());
  const std::optional<v1::RunnerEvent> blamed = BlameFlags(lease, heard);
  const v1::RunnerEvent& event = blamed.has_value() ? *blamed : heard;
  if (lease.gang.has_value() &&
      TakeGangEvent(lease, event,
                    !worker.fault.empty()      ? Ending::kGivenBack
                    : event.finished().final() ? Ending::kFinal
                                               : Ending::kFailed)) {
    return;
  }
  Job* const job = Find(lease.job);
  switch (event.event_case()) {
    case v1::RunnerEvent::kStarted:
      lease.has_started = true;
      standings_.Clear(lease.worker_name);
      if (job != nullptr) job->events->Add(event.started());
      break;
    case v1::RunnerEvent::kResult:
      base::Failpoint("result.received");
      if (job != nullptr) {
        TakeResult(lease, *job, event.result());
      } else if (handed_in_.Contains(lease_id) &&
                 !handed_in_.Keep(lease_id, event.result())) {
        base::LogWarning("lease ", FormatLeaseId(lease_id), ": worker ",
                         worker.description.name, " reports ",
                         event.result().key(),
                         ", which it did not list: refused");
      }
      break;
    case v1::RunnerEvent::kFinished:
      EndLease(lease,
               absl::StrCat("worker ", worker.description.name,
                            event.finished().error().empty()
                                ? " left it without a result"
                                : ": " + event.finished().error()),
               !worker.fault.empty()      ? Ending::kGivenBack
               : event.finished().final() ? Ending::kFinal
                                          : Ending::kFailed);
      CloseIfDrained(found);
      Dispatch();
      break;
    case v1::RunnerEvent::kWaiting:
      if (job != nullptr) {
        Log(*job,
            absl::StrCat("worker ", worker.description.name,
                         " waits: ", event.waiting().reason()),
            &lease);
      }
      break;
    case v1::RunnerEvent::kCompared:
      if (job != nullptr) job->events->Add(event.compared());
      break;
    case v1::RunnerEvent::kReady:
    case v1::RunnerEvent::kAtGate:  // these are of gangs alone
    case v1::RunnerEvent::kPut:
    case v1::RunnerEvent::kGet:
    case v1::RunnerEvent::EVENT_NOT_SET:
      break;
  }
}

void JobQueue::Heartbeat(WorkerId id) {
  base::MutexLock lock(&mutex_);
  const auto worker = workers_.find(id);
  if (worker != workers_.end()) worker->second.seen = clock_->Now();
}

void JobQueue::SetFault(WorkerId id, const std::string& fault) {
  base::MutexLock lock(&mutex_);
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  Worker& worker = found->second;
  worker.seen = clock_->Now();
  if (worker.fault != fault) {
    base::LogWarning("worker ", worker.description.name, ": ",
                     fault.empty() ? "well again" : fault);
  }
  worker.fault = fault;
  NoteWorker(id);
  Dispatch();
}

void JobQueue::Drain(WorkerId id) {
  base::MutexLock lock(&mutex_);
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  Worker& worker = found->second;
  worker.draining = true;
  base::LogInfo("worker ", worker.description.name, ": draining");
  NoteWorker(id);
  CloseIfDrained(found);
}

void JobQueue::CloseIfDrained(WorkerMap::iterator found) {
  const Worker& worker = found->second;
  if (!worker.draining || !worker.leases.empty()) return;
  if (worker.port != nullptr) worker.port->Close(absl::OkStatus());
  index_.RemoveWorker(found->first);
  workers_.erase(found);
}

void JobQueue::DropWorker(WorkerMap::iterator worker, const std::string& reason,
                          Ending ending) {
  const std::string name = worker->second.description.name;
  base::LogInfo("worker ", name, ": detached: ", reason);
  // It gets none of what it gives back.
  index_.RemoveWorker(worker->first);
  BreakGangsOf(worker->first, absl::StrCat("was lost (", reason, ")"), ending);
  const std::set<LeaseId> leases = worker->second.leases;
  for (const LeaseId id : leases) {
    EndLease(leases_.at(id),
             absl::StrCat("worker ", name, " was lost (", reason, ")"), ending);
    // Words of it are not heard any more. Results that no job has asked for so
    // far still stand.
    if (!handed_in_.Contains(id)) leases_.erase(id);
  }
  workers_.erase(worker);
}

void JobQueue::Acknowledge(absl::Time now) {
  for (const LeaseId lease : handed_in_.Expire(now)) {
    base::LogInfo("lease ", FormatLeaseId(lease),
                  ": its results are refused, no plan from before the restart "
                  "asks for them");
  }
  for (auto it = leases_.begin(); it != leases_.end();) {
    const Lease& lease = it->second;
    const bool is_wanted =
        handed_in_.Contains(lease.id) || !lease.events.expired();
    if (!lease.is_over || is_wanted) {
      ++it;
      continue;
    }
    const auto worker = workers_.find(lease.worker);
    if (worker != workers_.end() && worker->second.port != nullptr) {
      base::Failpoint("lease.stored");
      worker->second.port->Acknowledge(lease.id);
      base::Failpoint("lease.acknowledged");
      it = leases_.erase(it);
    } else if (worker == workers_.end()) {
      it = leases_.erase(it);
    } else {
      ++it;  // when it is back
    }
  }
}

}  // namespace meshwright::jobs
