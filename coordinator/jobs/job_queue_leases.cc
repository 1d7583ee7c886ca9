// The lease half of JobQueue: who gets which chunk, and what a lost one means.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/failpoint.h"
#include "base/log/log.h"
#include "coordinator/jobs/check_result.h"
#include "coordinator/jobs/job_queue.h"
#include "profiledb/store/text.h"

namespace meshwright::jobs {
namespace {

constexpr size_t kMaxLogBytes = 2048;  // of one program's

}  // namespace

base::LogContext JobQueue::DescribeForLog(const Job& job, const Lease* lease) {
  base::LogContext about = job.asker;
  about.job = absl::StrCat("job-", job.id.value);
  if (lease != nullptr) {
    about.lease = FormatLeaseId(lease->id);
    about.worker = lease->worker_name;
  }
  return about;
}

JobQueue::Job* JobQueue::Find(JobId id) {
  const auto job = jobs_.find(id);
  return job == jobs_.end() ? nullptr : job->second.get();
}

void JobQueue::NoteJob(Job& job) {
  const bool is_waiting = !job.waiting.empty() && !job.is_held_back;
  index_.SetWaiting(job.id, is_waiting);
  if (is_waiting) noted_jobs_.insert(job.id);
}

void JobQueue::NoteWorker(WorkerId id) {
  const Worker& worker = workers_.at(id);
  const bool is_usable = FindObstacle(worker).empty();
  const bool is_idle =
      is_usable && worker.port != nullptr && !worker.running.has_value();
  index_.SetWorker(id, is_usable, is_idle);
  if (is_idle) noted_workers_.insert(id);
}

void JobQueue::Dispatch() {
  const std::set<WorkerId> workers = std::exchange(noted_workers_, {});
  const std::set<JobId> jobs = std::exchange(noted_jobs_, {});
  if (is_handed_over_) return;
  for (const WorkerId id : workers) {
    const auto worker = workers_.find(id);
    if (worker == workers_.end() || !index_.IsIdle(id)) continue;
    // A gang's members may be others than the one that was asked.
    while (index_.IsIdle(id) && index_.FindJob(id).has_value()) OfferTo(id);
  }
  for (const JobId id : jobs) {
    for (Job* job = Find(id); job != nullptr && !job->waiting.empty();) {
      const auto worker = index_.FindWorker(id);
      if (!worker.has_value()) break;
      OfferTo(*worker);  // another's turn may come first
    }
  }
  while (const auto worker = index_.FindReleased()) OfferTo(*worker);
}

void JobQueue::OfferTo(WorkerId id) {
  const auto next = index_.FindJob(id);
  if (next.has_value()) Give(ChooseMembers(id, *next), *Find(*next));
}

JobQueue::Lease& JobQueue::OpenLease(WorkerId id, Job& job) {
  const LeaseId lease_id{epoch_, next_lease_++};
  Worker& worker = workers_.at(id);
  Lease& lease = leases_[lease_id];
  lease.id = lease_id;
  lease.worker = id;
  lease.worker_name = worker.description.name;
  lease.worker_host = worker.description.host;
  lease.worker_owner = worker.description.owner;
  lease.job = job.id;
  lease.events = job.events;
  lease.name_space = job.request.origin.name_space;
  lease.given = clock_->Now();
  job.leases.insert(lease_id);
  worker.leases.insert(lease_id);
  worker.running = lease_id;
  NoteWorker(id);
  return lease;
}

void JobQueue::Give(const std::vector<WorkerId>& members, Job& job) {
  std::vector<LeaseId> leases;
  for (const WorkerId id : members) leases.push_back(OpenLease(id, job).id);
  Lease& lease = leases_.at(leases.front());
  lease.chunk = std::move(job.waiting.front());
  job.waiting.pop_front();
  lease.charged = mean_time_ * std::ssize(lease.chunk.programs);
  shares_.Charge(lease.name_space, lease.charged);
  job.started = true;
  if (leases.size() > 1) FormGang(leases);

  const v1::RunnerRequest& whole = job.request.request;
  v1::RunnerRequest request;
  *request.mutable_device() = whole.device();
  *request.mutable_options() = whole.options();
  if (whole.has_reference()) *request.mutable_reference() = whole.reference();
  if (whole.has_sequence()) {
    request = whole;  // also those that have a result: it calls them by number
  } else {
    for (const int program : lease.chunk.programs) {
      *request.add_programs() = whole.programs(program);
    }
  }
  Log(job,
      absl::StrCat("lease ", FormatLeaseId(lease.id), ": ",
                   lease.chunk.programs.size(), " programs to worker ",
                   lease.worker_name,
                   leases.size() == 1
                       ? ""
                       : absl::StrCat(" and ", leases.size() - 1, " more"),
                   ", try ", lease.chunk.tries + 1),
      &lease);
  for (const int program : lease.chunk.programs) {
    job.programs[program].set_state(v1::JobProgram::LEASED);
    job.programs[program].set_worker(lease.worker_name);
  }
  NoteJob(job);
  for (const LeaseId id : leases) {
    const Lease& member = leases_.at(id);
    if (leases.size() > 1) {
      request.mutable_gang()->set_rank(member.rank);
      request.mutable_gang()->set_size(static_cast<int>(leases.size()));
    }
    const base::LogScope scope(DescribeForLog(job, &member));
    workers_.at(member.worker).port->Push(id, request);
    base::Failpoint("lease.given");
  }
}

void JobQueue::TakeHandedIn(Job& job) {
  if (handed_in_.empty() || !job.request.origin.was_taken_over ||
      IsWhole(job.request.request)) {
    return;
  }
  std::set<LeaseId> leases;
  for (const v1::Program& program : job.request.request.programs()) {
    const auto lease = handed_in_.Find(program.key());
    if (lease.has_value()) leases.insert(*lease);
  }
  const JobId id = job.id;
  for (const LeaseId lease : leases) {
    Job* const open = Find(id);
    if (open == nullptr) return;
    Bind(leases_.at(lease), *open);
  }
}

void JobQueue::Bind(Lease& lease, Job& job) {
  const v1::RunnerRequest& request = job.request.request;
  for (Chunk& chunk : job.waiting) {
    std::vector<int> others;
    for (const int program : chunk.programs) {
      const bool is_here =
          handed_in_.Find(request.programs(program).key()) == lease.id;
      (is_here ? lease.chunk.programs : others).push_back(program);
    }
    chunk.programs = std::move(others);
  }
  std::erase_if(job.waiting,
                [](const Chunk& chunk) { return chunk.programs.empty(); });
  if (lease.chunk.programs.empty()) return;
  NoteJob(job);
  Log(job,
      absl::StrCat("lease ", FormatLeaseId(lease.id), ": worker ",
                   lease.worker_name, " has ", lease.chunk.programs.size(),
                   " of its programs since before the restart"),
      &lease);
  for (const int program : lease.chunk.programs) {
    job.programs[program].set_state(v1::JobProgram::LEASED);
    job.programs[program].set_worker(lease.worker_name);
  }
  lease.job = job.id;
  lease.events = job.events;
  lease.name_space = job.request.origin.name_space;
  job.started = true;
  if (!lease.is_over) job.leases.insert(lease.id);
  const JobId id = job.id;
  for (const v1::ProfileResult& result : handed_in_.Release(lease.id)) {
    Job* const open = Find(id);
    if (open == nullptr) return;
    TakeResult(lease, *open, result);
  }
  if (lease.is_over) PutBack(lease, "its worker was lost", Ending::kGivenBack);
}

void JobQueue::TakeResult(Lease& lease, Job& job,
                          const v1::ProfileResult& result) {
  std::vector<int>& open = lease.chunk.programs;
  const auto program =
      std::find_if(open.begin(), open.end(), [&](int candidate) {
        return job.request.request.programs(candidate).key() == result.key();
      });
  if (program == open.end()) {
    // A second word about the same program is none.
    if (!job.by_key.contains(result.key())) {
      base::LogWarning("lease ", FormatLeaseId(lease.id), ": worker ",
                       lease.worker_name, " reports ", result.key(),
                       ", which is not of it: refused");
    }
    return;
  }
  const std::string fault =
      FindFault(job.request.request.programs(*program), result);
  open.erase(program);
  ++lease.results;
  standings_.Clear(lease.worker_name);
  v1::ProfileResult located = result;
  if (!fault.empty()) {
    located.Clear();
    located.set_key(result.key());
    located.set_outcome(v1::TRANSIENT);
    located.set_reason(
        absl::StrCat("worker ", lease.worker_name,
                     " sent a result that no device measures: ", fault));
  }
  const auto worker = workers_.find(lease.worker);
  if (located.outcome() == v1::MEASURED && worker != workers_.end()) {
    ++worker->second.programs_measured;
  }
  located.set_host(lease.worker_host);
  located.set_worker(lease.worker_name);
  AddResult(job, located);
}

void JobQueue::AddResult(Job& job, const v1::ProfileResult& result) {
  ++job.finished;
  v1::JobProgram& state = job.programs[job.by_key.at(result.key())];
  state.set_state(v1::JobProgram::DONE);
  state.set_outcome(result.outcome());
  state.set_reason(store::MendText(result.reason().substr(0, kMaxLogBytes)));
  if (!result.worker().empty()) state.set_worker(result.worker());
  if (result.outcome() != v1::MEASURED && result.outcome() != v1::PRUNED) {
    ++job.failed;
    Log(job,
        absl::StrCat("program ",
                     state.label().empty() ? result.key() : state.label(), ": ",
                     absl::AsciiStrToLower(v1::Outcome_Name(result.outcome())),
                     ": ", result.reason()));
    const std::string& log = result.log();
    if (!log.empty())
      Keep(job, log.substr(log.size() - std::min(log.size(), kMaxLogBytes)));
  }
  const auto wanted = wanted_.find(result.key());
  if (wanted != wanted_.end() && wanted->second == job.id) {
    wanted_.erase(wanted);
  }
  if (options_.observer != nullptr) options_.observer->AddResult(result);
  job.events->Add(result);
  if (job.finished == job.request.request.programs_size()) {
    FinishJob(job, absl::OkStatus());
  } else if (job.is_let_go && !FindWant(job).has_value()) {
    FinishJob(job, absl::CancelledError("the job was cancelled"));
  }
}

void JobQueue::CorrectCharge(Lease& lease) {
  const absl::Duration took = clock_->Now() - lease.given;
  shares_.Charge(lease.name_space, took - lease.charged);
  lease.charged = took;
  if (lease.results > 0) {
    mean_time_ = mean_time_ * 0.8 + took / lease.results * 0.2;
  }
}

std::optional<v1::RunnerEvent> JobQueue::BlameFlags(
    const Lease& lease, const v1::RunnerEvent& event) const {
  if (!event.has_finished() || event.finished().final() ||
      event.finished().error().empty()) {
    return std::nullopt;
  }
  const Lease& whole = lease.gang.has_value() ? leases_.at(*lease.gang) : lease;
  const auto job = jobs_.find(lease.job);
  if (job == jobs_.end() || whole.has_started || whole.results > 0 ||
      job->second->request.request.options().xla_flags().empty()) {
    return std::nullopt;
  }
  v1::RunnerEvent blamed = event;
  blamed.mutable_finished()->set_final(true);
  absl::StrAppend(blamed.mutable_finished()->mutable_error(),
                  "; the request's xla_flags may be flags that this compiler "
                  "does not know: ask without them, or for others");
  return blamed;
}

void JobQueue::EndLease(Lease& lease, const std::string& reason,
                        Ending ending) {
  base::Failpoint("lease.ended");
  lease.is_over = true;
  CorrectCharge(lease);
  Job* const job = Find(lease.job);
  // Of a gang, the one that holds it up is blamed (BreakGang). Nobody is where
  // the lease was cancelled.
  const bool is_barren = !lease.gang.has_value() && lease.results == 0 &&
                         !lease.has_started && job != nullptr &&
                         HasWanted(*job, lease.chunk);
  if (is_barren && (ending == Ending::kLost || ending == Ending::kFailed)) {
    standings_.AddBarren(lease.worker_name, reason, clock_->Now());
  }
  const auto worker = workers_.find(lease.worker);
  if (worker != workers_.end()) {
    worker->second.leases.erase(lease.id);
    if (worker->second.running == lease.id) worker->second.running.reset();
    NoteWorker(lease.worker);
  }
  if (job != nullptr) job->leases.erase(lease.id);
  PutBack(lease, reason, ending);
  FinishIfRetired(lease.job);
}

void JobQueue::PutBack(const Lease& lease, const std::string& reason,
                       Ending ending) {
  Job* const job = Find(lease.job);
  if (job == nullptr || lease.chunk.programs.empty()) return;
  for (const int program : lease.chunk.programs) {
    job->programs[program].set_state(v1::JobProgram::WAITING);
    job->programs[program].clear_worker();
  }
  if (job->is_retired) return;
  std::vector<int> programs = lease.chunk.programs;
  std::erase_if(programs, [&](int program) ABSL_EXCLUSIVE_LOCKS_REQUIRED(
                              mutex_) { return !IsWanted(*job, program); });
  if (programs.empty()) return;
  if (ending == Ending::kGivenBack) {
    Log(*job,
        absl::StrCat("lease ", FormatLeaseId(lease.id),
                     ": given back: ", reason),
        &lease);
    job->waiting.push_front({programs, lease.chunk.tries});
    NoteJob(*job);
    return;
  }
  const bool final = ending == Ending::kFinal;
  const int tries = lease.chunk.tries + 1;
  Log(*job,
      absl::StrCat("lease ", FormatLeaseId(lease.id), ": ", programs.size(),
                   " programs unfinished after try ", tries, ": ", reason),
      &lease);
  if (!final && tries < options_.maximum_tries) {
    const bool alone =
        tries + 1 == options_.maximum_tries && !IsWhole(job->request.request);
    std::vector<Chunk> chunks;
    if (!alone) {
      chunks.push_back({programs, tries});
    } else {
      for (const int program : programs) {
        chunks.push_back({{program}, tries});
      }
    }
    if (ending == Ending::kFailed) {
      const absl::Time due =
          clock_->Now() + options_.retry_backoff * (1 << (tries - 1));
      job->delayed += static_cast<int>(programs.size());
      for (Chunk& chunk : chunks) {
        delayed_.emplace(due, Delayed{job->id, std::move(chunk)});
      }
      return;
    }
    job->waiting.insert(alone ? job->waiting.end() : job->waiting.begin(),
                        chunks.begin(), chunks.end());
    NoteJob(*job);
    return;
  }
  // The last AddResult ends the job, and with it *job.
  const JobId id = job->id;
  for (const int program : programs) {
    Job* const open = Find(id);
    if (open == nullptr) return;
    v1::ProfileResult result;
    result.set_key(open->request.request.programs(program).key());
    // Nothing is known of the program: its worker was lost.
    result.set_outcome(v1::TRANSIENT);
    result.set_reason(final ? reason
                            : absl::StrCat(reason, "; given up after ", tries,
                                           tries == 1 ? " try" : " tries"));
    AddResult(*open, result);
  }
}

void JobQueue::CancelLease(LeaseId id) {
  if (is_handed_over_) return;
  if (gangs_.contains(id)) return CancelGang(id);
  const Lease& lease = leases_.at(id);
  const auto worker = workers_.find(lease.worker);
  if (worker != workers_.end() && worker->second.port != nullptr &&
      !lease.gang.has_value() && !lease.chunk.programs.empty()) {
    worker->second.port->Cancel(id);
  }
}

void JobQueue::FinishIfRetired(JobId id) {
  Job* const job = Find(id);
  if (job == nullptr || !job->is_retired || !job->leases.empty()) return;
  FinishJob(*job, absl::CancelledError("the job gave way to others"));
}

void JobQueue::FinishJob(Job& job, absl::Status status) {
  for (const LeaseId id : job.leases) CancelLease(id);
  Log(job, absl::StrCat(
               job.finished, " of ", job.request.request.programs_size(),
               " programs done, ", job.failed, " failed: ",
               status.ToString(absl::StatusToStringMode::kWithNoExtraData)));
  v1::JobDetails details = DescribeInFull(job);
  v1::JobSummary& summary = *details.mutable_job();
  summary.set_state(v1::JobSummary::DONE);
  summary.set_reason(std::string(status.message()));
  summary.clear_worker_id();
  done_.push_back(std::move(details));
  while (done_.size() > static_cast<size_t>(options_.remembered_jobs)) {
    done_.pop_front();
  }
  job.events->Add(JobDone{std::move(status)});
  for (const v1::Program& program : job.request.request.programs()) {
    const auto wanted = wanted_.find(program.key());
    if (wanted != wanted_.end() && wanted->second == job.id) {
      wanted_.erase(wanted);
    }
  }
  index_.RemoveJob(job.id);
  shares_.Leave(job.request.origin.name_space);
  jobs_.erase(job.id);
}

}  // namespace meshwright::jobs
