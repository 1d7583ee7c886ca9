// JobQueue's reports to administrators, and their orders.
#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "coordinator/jobs/job_queue.h"
#include "profiledb/store/text.h"

namespace meshwright::jobs {
namespace {

constexpr size_t kMaxLines = 500;  // of the log of a job
constexpr size_t kMaxLineBytes = 4096;

}  // namespace

void JobQueue::Log(Job& job, const std::string& text, const Lease* lease) {
  const base::LogScope scope(DescribeForLog(job, lease));
  base::LogInfo("job ", job.id.value, ": ", text);
  Keep(job, text);
}

void JobQueue::Keep(Job& job, const std::string& text) {
  v1::JobLine& line = job.log.emplace_back();
  line.set_seconds(absl::ToDoubleSeconds(clock_->Now() - job.submitted));
  line.set_text(store::MendText(text.substr(0, kMaxLineBytes)));
  if (job.log.size() > kMaxLines) job.log.pop_front();
}

// ---- jobs ------------------------------------------------------------------

std::string JobQueue::FindReason(const Job& job) const {
  for (const LeaseId id : job.leases) {
    const Lease& lease = leases_.at(id);
    if (lease.pause.empty()) continue;
    return absl::StrCat("worker ", lease.worker_name, " waits: ", lease.pause);
  }
  if (!job.leases.empty()) return "";
  if (job.is_held_back) {
    return "after the restart, waits for workers that may have its programs";
  }
  if (job.waiting.empty()) {
    if (job.delayed == 0) return "";
    return absl::StrCat("tries ", job.delayed, " programs again in a moment");
  }
  if (index_.HasUsableWorker(job.id)) {
    return "waits for its turn: the workers with its devices are busy";
  }
  const v1::RunnerRequest& asked = job.request.request;
  return std::string(
      MakeNoWorkerError(asked.device(), job.exactly(), !IsWhole(asked))
          .message());
}

v1::JobSummary JobQueue::Describe(const Job& job) const {
  std::set<std::string> names;
  for (const LeaseId id : job.leases) names.insert(leases_.at(id).worker_name);
  const JobOrigin& origin = job.request.origin;
  v1::JobSummary summary;
  summary.set_id(FormatJobId(job.id));
  summary.set_state(job.started ? v1::JobSummary::RUNNING
                                : v1::JobSummary::QUEUED);
  summary.set_worker_id(absl::StrJoin(names, ","));
  summary.set_programs(job.request.request.programs_size());
  summary.set_finished(job.finished);
  summary.set_failed(job.failed);
  summary.set_age_seconds(absl::ToDoubleSeconds(clock_->Now() - job.submitted));
  summary.set_owner(origin.owner);
  summary.set_namespace_(origin.name_space);
  summary.set_model(IsWhole(job.request.request) && origin.model.empty()
                        ? "comparison"
                        : origin.model);
  summary.set_plan(origin.plan);
  summary.set_priority(origin.priority);
  summary.set_reason(FindReason(job));
  return summary;
}

v1::JobDetails JobQueue::DescribeInFull(const Job& job) const {
  v1::JobDetails details;
  *details.mutable_job() = Describe(job);
  details.mutable_programs()->Add(job.programs.begin(), job.programs.end());
  details.mutable_log()->Add(job.log.begin(), job.log.end());
  return details;
}

QueueCounts JobQueue::Count() const {
  base::MutexLock lock(&mutex_);
  QueueCounts counts;
  for (const auto& [id, job] : jobs_) {
    counts.programs_waiting += job->delayed;
    for (const Chunk& chunk : job->waiting) {
      counts.programs_waiting += std::ssize(chunk.programs);
    }
  }
  for (const auto& [id, lease] : leases_) {
    if (!lease.is_over) {
      counts.programs_leased += std::ssize(lease.chunk.programs);
    }
  }
  return counts;
}

std::vector<v1::JobSummary> JobQueue::Jobs() const {
  base::MutexLock lock(&mutex_);
  std::vector<v1::JobSummary> jobs;
  for (const v1::JobDetails& done : done_) jobs.push_back(done.job());
  for (const auto& [id, job] : jobs_) jobs.push_back(Describe(*job));
  return jobs;
}

absl::Status JobQueue::MakeNoJobError(JobId id) const {
  const bool is_done =
      std::any_of(done_.begin(), done_.end(), [&](const v1::JobDetails& done) {
        return done.job().id() == FormatJobId(id);
      });
  if (is_done) {
    return absl::FailedPreconditionError(absl::StrCat(
        FormatJobId(id), " is over; submit its plan again to measure again"));
  }
  return absl::NotFoundError(absl::StrCat(
      "there is no ", FormatJobId(id),
      "; \"meshwright jobs list\" names those that run and the last ones"));
}

absl::StatusOr<v1::JobDetails> JobQueue::GetJob(JobId id) const {
  base::MutexLock lock(&mutex_);
  const auto job = jobs_.find(id);
  if (job != jobs_.end()) return DescribeInFull(*job->second);
  for (const v1::JobDetails& done : done_) {
    if (done.job().id() == FormatJobId(id)) return done;
  }
  return MakeNoJobError(id);
}

absl::StatusOr<v1::JobSummary> JobQueue::EndJob(JobId id,
                                                const std::string& reason) {
  base::MutexLock lock(&mutex_);
  Job* const job = Find(id);
  if (job == nullptr) return MakeNoJobError(id);
  FinishJob(*job, absl::AbortedError(
                      absl::StrCat("an administrator ended ", FormatJobId(id),
                                   reason.empty() ? "" : ": ", reason)));
  return done_.back().job();
}

absl::StatusOr<v1::JobSummary> JobQueue::RetryJob(JobId id) {
  base::MutexLock lock(&mutex_);
  Job* const job = Find(id);
  if (job == nullptr) return MakeNoJobError(id);
  Log(*job, "an administrator has it tried again");
  for (auto it = delayed_.begin(); it != delayed_.end();) {
    if (it->second.job == id) {
      job->waiting.push_back(std::move(it->second.chunk));
      it = delayed_.erase(it);
    } else {
      ++it;
    }
  }
  job->delayed = 0;
  for (Chunk& chunk : job->waiting) chunk.tries = 0;
  NoteJob(*job);
  Dispatch();
  return Describe(*job);
}

// ---- workers ---------------------------------------------------------------

std::string JobQueue::FindObstacle(const Worker& worker) const {
  const std::string& name = worker.description.name;
  const auto order = orders_.find(name);
  if (order != orders_.end()) {
    return absl::StrCat(order->second.kind() == v1::WorkerOrder::QUARANTINE
                            ? "is quarantined by an administrator"
                            : "is drained by an administrator",
                        order->second.reason().empty() ? "" : ": ",
                        order->second.reason());
  }
  if (!worker.fault.empty()) return "is unhealthy: " + worker.fault;
  if (worker.draining) return "is draining";
  const std::string aside = standings_.FindReason(name, clock_->Now());
  return aside.empty() ? "" : "is set aside: it " + aside;
}

v1::WorkerSummary JobQueue::Describe(const Worker& worker) const {
  const DeviceDescription& devices = worker.description.devices;
  const std::string& name = worker.description.name;
  const auto order = orders_.find(name);
  v1::WorkerSummary summary;
  summary.set_id(name);
  summary.set_host(worker.description.host);
  summary.set_platform(devices.platform);
  summary.set_device_kind(devices.device_kind);
  summary.set_device_count(devices.device_count);
  if (order != orders_.end() &&
      order->second.kind() == v1::WorkerOrder::QUARANTINE) {
    summary.set_state(v1::WorkerSummary::QUARANTINED);
  } else if (!worker.fault.empty()) {
    summary.set_state(v1::WorkerSummary::UNHEALTHY);
  } else if (worker.port == nullptr) {
    summary.set_state(v1::WorkerSummary::AWAY);
  } else if (worker.draining || order != orders_.end()) {
    summary.set_state(worker.leases.empty() ? v1::WorkerSummary::DRAINED
                                            : v1::WorkerSummary::DRAINING);
  } else if (!standings_.FindReason(name, clock_->Now()).empty()) {
    summary.set_state(v1::WorkerSummary::SET_ASIDE);
  } else {
    summary.set_state(worker.running.has_value() ? v1::WorkerSummary::BUSY
                                                 : v1::WorkerSummary::IDLE);
  }
  summary.set_reason(FindObstacle(worker));
  if (worker.running.has_value()) {
    const Lease& lease = leases_.at(*worker.running);
    if (lease.job != JobId()) summary.set_job_id(FormatJobId(lease.job));
    if (summary.reason().empty() && !lease.pause.empty()) {
      summary.set_reason("waits: " + lease.pause);
    }
  }
  summary.set_seen_seconds_ago(
      absl::ToDoubleSeconds(clock_->Now() - worker.seen));
  summary.set_programs_measured(worker.programs_measured);
  return summary;
}

std::vector<v1::WorkerSummary> JobQueue::Workers() const {
  base::MutexLock lock(&mutex_);
  std::vector<v1::WorkerSummary> workers;
  for (const auto& [id, worker] : workers_) workers.push_back(Describe(worker));
  return workers;
}

void JobQueue::TakeBack(Worker& worker, const std::string& reason) {
  if (worker.running.has_value()) {
    BreakGangsOf(leases_.at(*worker.running).worker, reason,
                 Ending::kGivenBack);
  }
  const std::set<LeaseId> leases = worker.leases;
  for (const LeaseId id : leases) {
    if (worker.port != nullptr) worker.port->Cancel(id);
    EndLease(leases_.at(id), reason, Ending::kGivenBack);
    if (!handed_in_.Contains(id)) leases_.erase(id);
  }
}

void JobQueue::SetOrders(const std::vector<v1::WorkerOrder>& orders) {
  base::MutexLock lock(&mutex_);
  orders_.clear();
  for (const v1::WorkerOrder& order : orders) orders_[order.worker()] = order;
  for (const auto& [id, worker] : workers_) NoteWorker(id);
  Dispatch();
}

absl::StatusOr<v1::WorkerSummary> JobQueue::Order(
    const v1::WorkerOrder& order) {
  const std::string& name = order.worker();
  base::MutexLock lock(&mutex_);
  const auto found = std::find_if(
      workers_.begin(), workers_.end(),
      [&](const auto& entry) { return entry.second.description.name == name; });
  if (found == workers_.end()) {
    return absl::NotFoundError(
        absl::StrCat("no worker of the name ", name,
                     " is attached; \"meshwright workers list\" names them"));
  }
  Worker& worker = found->second;
  if (order.kind() == v1::WorkerOrder::RESUME) {
    orders_.erase(name);
    standings_.Clear(name);
  } else {
    orders_[name] = order;
  }
  if (order.kind() == v1::WorkerOrder::QUARANTINE) {
    TakeBack(worker, absl::StrCat("worker ", name, " ", FindObstacle(worker)));
  }
  base::LogInfo("worker ", name, ": ",
                order.kind() == v1::WorkerOrder::RESUME
                    ? "resumed by an administrator"
                    : FindObstacle(worker));
  NoteWorker(found->first);
  Dispatch();
  v1::WorkerSummary summary = Describe(worker);
  CloseIfDrained(found);
  return summary;
}

}  // namespace meshwright::jobs
