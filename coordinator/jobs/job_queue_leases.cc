// The lease half of JobQueue: who gets which chunk, and what a lost one means.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "coordinator/jobs/check_result.h"
#include "coordinator/jobs/job_queue.h"

namespace meshwright::jobs {

JobQueue::Job* JobQueue::Find(JobId id) {
  const auto job = jobs_.find(id);
  return job == jobs_.end() ? nullptr : job->second.get();
}

void JobQueue::Dispatch() {
  for (auto& [id, worker] : workers_) {
    if (worker.lease.has_value() || worker.draining) continue;
    Job* const job = NextFor(worker);
    if (job != nullptr) Give(worker, *job);
  }
}

JobQueue::Job* JobQueue::NextFor(const Worker& worker) {
  for (auto& [id, job] : jobs_) {
    if (!job->waiting.empty() &&
        CanRun(worker.description, job->request.request.device(),
               job->exactly())
            .ok()) {
      return job.get();
    }
  }
  return nullptr;
}

void JobQueue::Give(Worker& worker, Job& job) {
  Lease lease;
  lease.name = absl::StrCat("job-", job.id.value, ".", job.next_lease++);
  lease.job = job.id;
  lease.chunk = std::move(job.waiting.front());
  job.waiting.pop_front();
  job.started = true;

  const v1::RunnerRequest& whole = job.request.request;
  v1::RunnerRequest request;
  *request.mutable_device() = whole.device();
  *request.mutable_options() = whole.options();
  if (whole.has_reference()) *request.mutable_reference() = whole.reference();
  for (const int program : lease.chunk.programs) {
    *request.add_programs() = whole.programs(program);
  }
  base::LogInfo("lease ", lease.name, ": ", lease.chunk.programs.size(),
                " programs to worker ", worker.description.name, ", try ",
                lease.chunk.tries + 1);
  worker.port->Push(lease.name, request);
  worker.lease = std::move(lease);
}

void JobQueue::TakeResult(Worker& worker, Job& job,
                          const v1::ProfileResult& result) {
  std::vector<int>& open = worker.lease->chunk.programs;
  const auto program =
      std::find_if(open.begin(), open.end(), [&](int candidate) {
        return job.request.request.programs(candidate).key() == result.key();
      });
  if (program == open.end()) return;  // a second word about the same program
  const std::string fault =
      FindFault(job.request.request.programs(*program), result);
  open.erase(program);
  v1::ProfileResult located = result;
  if (!fault.empty()) {
    located.Clear();
    located.set_key(result.key());
    located.set_outcome(v1::TRANSIENT);
    located.set_reason(
        absl::StrCat("worker ", worker.description.name,
                     " sent a result that no device measures: ", fault));
  }
  if (located.outcome() == v1::MEASURED) ++worker.programs_measured;
  located.set_host(worker.description.host);
  located.set_worker(worker.description.name);
  AddResult(job, located);
}

void JobQueue::AddResult(Job& job, const v1::ProfileResult& result) {
  ++job.finished;
  if (result.outcome() != v1::MEASURED && result.outcome() != v1::PRUNED) {
    ++job.failed;
    base::LogInfo("job ", job.id.value, ": program ", result.key(), ": ",
                  result.reason());
  }
  job.events->Add(result);
  if (job.finished == job.request.request.programs_size()) {
    FinishJob(job, absl::OkStatus());
  }
}

void JobQueue::EndLease(Worker& worker, const std::string& reason, bool final) {
  const Lease lease = *std::move(worker.lease);
  worker.lease.reset();
  Job* const job = Find(lease.job);
  if (job == nullptr || lease.chunk.programs.empty()) return;
  const int tries = lease.chunk.tries + 1;
  base::LogWarning("lease ", lease.name, ": ", lease.chunk.programs.size(),
                   " programs unfinished after try ", tries, ": ", reason);
  if (!final && tries < options_.maximum_tries) {
    const bool alone = tries + 1 == options_.maximum_tries &&
                       !job->request.request.has_reference();
    if (!alone) {
      job->waiting.push_front({lease.chunk.programs, tries});
      return;
    }
    for (const int program : lease.chunk.programs) {
      job->waiting.push_back({{program}, tries});
    }
    return;
  }
  // The last AddResult ends the job, and with it *job.
  const JobId id = job->id;
  for (const int program : lease.chunk.programs) {
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

void JobQueue::DropWorker(WorkerMap::iterator worker,
                          const std::string& reason) {
  const std::string name = worker->second.description.name;
  base::LogInfo("worker ", name, ": detached: ", reason);
  if (worker->second.lease.has_value()) {
    EndLease(worker->second,
             absl::StrCat("worker ", name, " was lost (", reason, ")"),
             /*final=*/false);
  }
  workers_.erase(worker);
}

void JobQueue::FinishJob(Job& job, absl::Status status) {
  for (auto& [id, worker] : workers_) {
    if (worker.lease.has_value() && worker.lease->job == job.id &&
        !worker.lease->chunk.programs.empty()) {
      worker.port->Cancel(worker.lease->name);
    }
  }
  base::LogInfo("job ", job.id.value, ": ", job.finished, " of ",
                job.request.request.programs_size(), " programs done, ",
                job.failed, " failed: ", status.ToString());
  v1::JobSummary summary = Describe(job);
  summary.set_state("done");
  summary.clear_worker_id();
  done_.push_back({std::move(summary), job.submitted});
  while (done_.size() > static_cast<size_t>(options_.remembered_jobs)) {
    done_.pop_front();
  }
  job.events->Add(JobDone{std::move(status)});
  jobs_.erase(job.id);
}

}  // namespace meshwright::jobs
