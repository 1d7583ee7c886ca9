// The gang half of JobQueue: chunks that several workers run together.
//
// A gang is taken in one step, under the lock, from workers that are idle: it
// waits for none while it has others. Its host is held until there are enough
// (match_index.h). So gangs do not wait for each other, and none waits for ever
// behind small jobs.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "coordinator/jobs/job_queue.h"

namespace meshwright::jobs {
namespace {

// By the first place on the bus, then by name: a worker without a place comes
// before all that have one.
std::pair<std::string, std::string> OrderMember(
    const WorkerDescription& worker) {
  const std::set<std::string>& places = worker.links.places;
  return {places.empty() ? "" : *places.begin(), worker.name};
}

}  // namespace

std::vector<WorkerId> JobQueue::ChooseMembers(WorkerId id, JobId job) const {
  const int count = index_.CountMembers(id, job);
  if (count == 1) return {id};
  const std::set<WorkerId>& idle = index_.FindIdle(id);
  std::vector<WorkerId> members(idle.begin(), idle.end());
  std::sort(members.begin(), members.end(), [&](WorkerId a, WorkerId b) {
    return OrderMember(workers_.at(a).description) <
           OrderMember(workers_.at(b).description);
  });
  std::vector<const gangs::LinkEnds*> links;
  for (const WorkerId member : members) {
    links.push_back(&workers_.at(member).description.links);
  }
  std::vector<WorkerId> chosen;
  for (const size_t place :
       gangs::ChooseLinkedMembers(links, static_cast<size_t>(count))) {
    chosen.push_back(members[place]);
  }
  return chosen;
}

void JobQueue::FormGang(const std::vector<LeaseId>& leases) {
  const Lease& first = leases_.at(leases.front());
  const Job& job = *Find(first.job);
  std::vector<std::string> keys;
  for (const int program : first.chunk.programs) {
    keys.push_back(job.request.request.programs(program).key());
  }
  gangs_.emplace(first.id,
                 RunningGang{leases,
                             gangs::Gang(static_cast<int>(leases.size()), keys,
                                         clock_->Now(), options_.gangs),
                             {}});
  for (size_t rank = 0; rank < leases.size(); ++rank) {
    Lease& member = leases_.at(leases[rank]);
    member.gang = first.id;
    member.rank = static_cast<int>(rank);
  }
}

bool JobQueue::TakeGangEvent(Lease& lease, const v1::RunnerEvent& event,
                             Ending ending) {
  const LeaseId id = *lease.gang;
  RunningGang& running = gangs_.at(id);
  running.gang.Hear(lease.rank, clock_->Now());
  switch (event.event_case()) {
    case v1::RunnerEvent::kAtGate:
      if (running.gang.Arrive(lease.rank, clock_->Now())) {
        v1::GangMessage go;
        go.mutable_go();
        for (int rank = 0; rank < running.gang.size(); ++rank) {
          Tell(running, rank, go);
        }
      }
      return true;
    case v1::RunnerEvent::kPut: {
      const auto answers =
          running.values.Put(event.put().key(), event.put().value());
      if (!answers.ok()) {
        BreakGang(id, lease.rank, std::string(answers.status().message()),
                  Ending::kFailed);
        Dispatch();
        return true;
      }
      for (const auto& answer : *answers) {
        Tell(running, answer.rank, answer.message);
      }
      return true;
    }
    case v1::RunnerEvent::kGet: {
      const auto answer =
          running.values.Get({lease.rank, event.get().number()},
                             event.get().key(), event.get().waits());
      if (!answer.ok()) {
        BreakGang(id, lease.rank, std::string(answer.status().message()),
                  Ending::kFailed);
        Dispatch();
      } else if (answer->has_value()) {
        Tell(running, (*answer)->rank, (*answer)->message);
      }
      return true;
    }
    case v1::RunnerEvent::kResult: {
      const auto result = running.gang.Add(lease.rank, event.result());
      Lease& first = leases_.at(id);
      Job* const job = Find(first.job);
      if (!result.has_value() || job == nullptr) return true;
      for (const LeaseId member : running.leases) {
        standings_.Clear(leases_.at(member).worker_name);
      }
      TakeResult(first, *job, *result);
      return true;
    }
    case v1::RunnerEvent::kFinished: {
      const std::string& error = event.finished().error();
      const bool is_open = !leases_.at(id).chunk.programs.empty();
      if (!running.gang.Finish(lease.rank) || (is_open && !error.empty())) {
        if (ending == Ending::kFailed && IsLastTry(id)) TakeDeath(id);
        BreakGang(id, lease.rank,
                  error.empty() ? "left its programs without a result" : error,
                  Find(lease.job) == nullptr ? Ending::kGivenBack : ending);
      } else if (running.gang.state() == gangs::Gang::State::kOver) {
        if (is_open) TakeDeath(id);  // their runners outlived it
        DisbandGang(id);
      }
      Dispatch();
      return true;
    }
    case v1::RunnerEvent::kStarted:
      return lease.rank > 0;  // one of them says it for all
    case v1::RunnerEvent::kReady:
    case v1::RunnerEvent::kWaiting:
    case v1::RunnerEvent::kCompared:
    case v1::RunnerEvent::EVENT_NOT_SET:
      return false;
  }
  return false;
}

void JobQueue::Tell(const RunningGang& running, int rank,
                    const v1::GangMessage& message) {
  const LeaseId lease = running.leases[rank];
  const auto worker = workers_.find(leases_.at(lease).worker);
  if (worker != workers_.end() && worker->second.port != nullptr) {
    worker->second.port->Tell(lease, message);
  }
}

bool JobQueue::IsLastTry(LeaseId id) const {
  return leases_.at(id).chunk.tries + 1 >= options_.maximum_tries;
}

void JobQueue::TakeDeath(LeaseId id) {
  Lease& first = leases_.at(id);
  Job* const job = Find(first.job);
  const auto death = gangs_.at(id).gang.FindDeath();
  if (job != nullptr && death.has_value()) TakeResult(first, *job, *death);
}

void JobQueue::DisbandGang(LeaseId id) {
  const std::vector<LeaseId> leases = gangs_.at(id).leases;
  gangs_.erase(id);
  for (const LeaseId member : leases) {
    EndLease(leases_.at(member), "", Ending::kGivenBack);
  }
}

void JobQueue::BreakGang(LeaseId id, int rank, const std::string& reason,
                         Ending ending) {
  const auto found = gangs_.find(id);
  const std::vector<LeaseId> leases = found->second.leases;
  const bool has_begun =
      found->second.gang.state() != gangs::Gang::State::kPreparing;
  gangs_.erase(found);  // no word of it is heard any more
  const std::string& name = leases_.at(leases[rank]).worker_name;
  const std::string why = absl::StrCat("worker ", name, ", rank ", rank, " of ",
                                       leases.size(), ", ", reason);
  if (!has_begun && (ending == Ending::kLost || ending == Ending::kFailed)) {
    standings_.AddBarren(name, why, clock_->Now());
  }
  for (const LeaseId member : leases) {
    Lease& lease = leases_.at(member);
    const auto worker = workers_.find(lease.worker);
    if (worker != workers_.end() && worker->second.port != nullptr) {
      worker->second.port->Cancel(member);
      worker->second.port->Acknowledge(member);
    }
    EndLease(lease, why, ending);
    leases_.erase(member);
  }
}

void JobQueue::BreakGangsOf(WorkerId id, const std::string& reason,
                            Ending ending) {
  const Worker& worker = workers_.at(id);
  if (!worker.running.has_value()) return;
  const Lease& lease = leases_.at(*worker.running);
  if (lease.gang.has_value()) {
    BreakGang(*lease.gang, lease.rank, reason, ending);
  }
}

void JobQueue::BreakStuckGangs(absl::Time now) {
  for (auto it = gangs_.begin(); it != gangs_.end();) {
    const auto& [id, running] = *(it++);
    const auto holdup = running.gang.FindHoldup(now);
    if (holdup.has_value()) {
      BreakGang(LeaseId(id), holdup->rank, holdup->reason, Ending::kFailed);
    }
  }
}

void JobQueue::CancelGang(LeaseId id) {
  if (leases_.at(id).chunk.programs.empty()) return;
  for (const LeaseId member : gangs_.at(id).leases) {
    const auto worker = workers_.find(leases_.at(member).worker);
    if (worker != workers_.end() && worker->second.port != nullptr) {
      worker->second.port->Cancel(member);
    }
  }
}

}  // namespace meshwright::jobs
