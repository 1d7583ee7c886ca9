#include "coordinator/jobs/job_queue.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/log/log.h"
#include "base/mutex.h"

namespace meshwright::jobs {
namespace {

constexpr size_t kMaxNamed = 5;  // workers that one sentence names
// Ways out where workers have some of the devices.
constexpr char kMeshOverHosts[] =
    "for a mesh over hosts, start workers with --solo and plan with --solo and "
    "--links";
constexpr char kOneForAll[] =
    "a comparison needs one worker that has all devices";

}  // namespace

JobQueue::JobQueue(const base::Clock* clock, Options options)
    : clock_(clock), options_(options), standings_(options.standings) {}

JobQueue::~JobQueue() = default;

void JobQueue::BeginEpoch(int64_t epoch) {
  base::MutexLock lock(&mutex_);
  if (epoch_ == epoch) return;
  epoch_ = epoch;
  RefuseClaims(epoch);
  grace_ends_ = clock_->Now() + options_.restart_grace;
  handing_in_ends_ = clock_->Now() + options_.handed_in_time;
}

// ---- submitters ------------------------------------------------------------

std::deque<JobQueue::Chunk> JobQueue::Cut(const JobRequest& request) const {
  const v1::RunnerRequest& asked = request.request;
  const int count = asked.programs_size();
  if (count == 0) return {};
  const bool is_whole = IsWhole(asked);
  std::deque<Chunk> cut(1);
  const int limit = is_whole ? count : std::max(1, ChunkPrograms(request));
  const int64_t chunks = (count + limit - 1) / limit;
  int64_t at = 0;
  int64_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t own = std::ssize(asked.programs(i).hlo_module());
    const bool is_full =
        !is_whole && bytes > 0 && bytes + own > options_.chunk_bytes;
    if (is_full || i * chunks / count != at) {
      cut.emplace_back();
      bytes = 0;
    }
    at = i * chunks / count;
    bytes += own;
    cut.back().programs.push_back(i);
  }
  return cut;
}

int JobQueue::ChunkPrograms(const JobRequest& request) const {
  const int workers = std::max<int>(1, static_cast<int>(workers_.size()));
  const int share = (request.request.programs_size() + workers - 1) / workers;
  return std::clamp(share,
                    std::min(options_.min_chunk, options_.chunk_programs),
                    options_.chunk_programs);
}

JobId JobQueue::NewJobId() {
  base::MutexLock lock(&mutex_);
  return JobId{next_job_++};
}

Submission JobQueue::Submit(JobRequest request) {
  std::set<std::string> keys;
  auto* programs = request.request.mutable_programs();
  programs->erase(std::remove_if(programs->begin(), programs->end(),
                                 [&](const v1::Program& program) {
                                   return !keys.insert(program.key()).second;
                                 }),
                  programs->end());
  base::MutexLock lock(&mutex_);
  auto job = std::make_unique<Job>();
  job->id = request.id == JobId() ? JobId{next_job_++} : request.id;
  job->waiting = Cut(request);
  job->request = std::move(request);
  job->events = std::make_shared<JobEvents>();
  job->submitted = clock_->Now();
  job->asker = base::LogScope::Current();
  Submission submission{job->id, job->events};
  Job& added = *job;
  jobs_.emplace(submission.id, std::move(job));
  const v1::RunnerRequest& asked = added.request.request;
  JobOrigin& origin = added.request.origin;
  for (const v1::Program& program : asked.programs()) {
    const auto wanted = wants_.FindPriority(program.key());
    if (wanted.has_value() && !IsWhole(asked)) {
      origin.priority = std::max(origin.priority, *wanted);
    }
  }
  shares_.Enter(origin.name_space);
  index_.AddJob(added.id, asked.device(), added.exactly(), origin.priority,
                origin.name_space, /*may_share=*/!IsWhole(asked));
  if (!IsWhole(asked)) {
    for (const v1::Program& program : asked.programs()) {
      wanted_.try_emplace(program.key(), added.id);
    }
  }
  if (origin.was_interrupted && clock_->Now() < grace_ends_) {
    added.is_held_back = true;
    held_back_.push_back(added.id);
  }
  for (const v1::Program& program : added.request.request.programs()) {
    added.by_key.emplace(program.key(), std::ssize(added.programs));
    v1::JobProgram& state = added.programs.emplace_back();
    state.set_key(program.key());
    state.set_label(program.label());
    state.set_state(v1::JobProgram::WAITING);
  }
  Log(added, absl::StrCat(added.request.request.programs_size(),
                          " programs in ", added.waiting.size(), " chunks"));
  if (shut_down_) {
    FinishJob(added, absl::UnavailableError("the coordinator is stopping"));
  } else if (added.waiting.empty()) {
    FinishJob(added, absl::OkStatus());
  } else {
    NoteJob(added);
    TakeHandedIn(added);
    Dispatch();
  }
  return submission;
}

WantId JobQueue::Want(const std::vector<std::string>& keys,
                      const JobOrigin& origin) {
  base::MutexLock lock(&mutex_);
  for (const std::string& key : keys) {
    const auto found = wanted_.find(key);
    Job* const job = found == wanted_.end() ? nullptr : Find(found->second);
    if (job == nullptr || job->request.origin.priority >= origin.priority) {
      continue;
    }
    job->request.origin.priority = origin.priority;
    index_.SetPriority(job->id, origin.priority);
    Log(*job, absl::StrCat("wanted with priority ", origin.priority));
  }
  return wants_.Add(keys, origin);
}

void JobQueue::Unwant(WantId want) {
  base::MutexLock lock(&mutex_);
  std::set<JobId> jobs;
  for (const std::string& key : wants_.Remove(want)) {
    const auto found = wanted_.find(key);
    if (found != wanted_.end()) jobs.insert(found->second);
  }
  for (const JobId id : jobs) {
    Job* const job = Find(id);
    if (job != nullptr && job->is_let_go) Narrow(*job);
  }
  Dispatch();
}

void JobQueue::LetGo(JobId id) {
  base::MutexLock lock(&mutex_);
  Job* const job = Find(id);
  if (job == nullptr) return;
  job->is_let_go = true;
  Narrow(*job);
  Dispatch();
}

bool JobQueue::IsWanted(const Job& job, int program) const {
  if (!job.is_let_go) return true;
  const std::string& key = job.request.request.programs(program).key();
  const auto measured = wanted_.find(key);
  return measured != wanted_.end() && measured->second == job.id &&
         wants_.Contains(key);
}

bool JobQueue::HasWanted(const Job& job, const Chunk& chunk) const {
  return std::any_of(chunk.programs.begin(), chunk.programs.end(),
                     [&](int program) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
                       return IsWanted(job, program);
                     });
}

std::optional<WantId> JobQueue::FindWant(const Job& job) const {
  std::optional<WantId> oldest;
  for (int i = 0; i < std::ssize(job.programs); ++i) {
    if (!IsWanted(job, i)) continue;
    const auto want = wants_.FindFirst(job.programs[i].key());
    if (!oldest.has_value() || *want < *oldest) oldest = want;
  }
  return oldest;
}

void JobQueue::Narrow(Job& job) {
  const auto want = FindWant(job);
  if (!want.has_value() || is_handed_over_) {
    return FinishJob(job, absl::CancelledError("the job was cancelled"));
  }
  const auto drop = [&](Chunk& chunk) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return std::erase_if(
        chunk.programs, [&](int program) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
          return !IsWanted(job, program);
        });
  };
  for (Chunk& chunk : job.waiting) drop(chunk);
  std::erase_if(job.waiting,
                [](const Chunk& chunk) { return chunk.programs.empty(); });
  for (auto& [due, delayed] : delayed_) {
    if (delayed.job == job.id) {
      job.delayed -= static_cast<int>(drop(delayed.chunk));
    }
  }
  for (const LeaseId id : job.leases) {
    Chunk left = leases_.at(id).chunk;
    drop(left);
    if (left.programs.empty()) CancelLease(id);
  }
  PassOn(job, *want);
  NoteJob(job);
}

void JobQueue::PassOn(Job& job, WantId want) {
  JobOrigin& origin = job.request.origin;
  const JobOrigin& next = wants_.origin(want);
  if (origin.plan != next.plan) Log(job, "goes on for " + next.plan);
  if (origin.name_space != next.name_space) {
    shares_.Leave(origin.name_space);
    shares_.Enter(next.name_space);
  }
  origin = next;
  for (int i = 0; i < std::ssize(job.programs); ++i) {
    if (!IsWanted(job, i)) continue;
    origin.priority =
        std::max(origin.priority, *wants_.FindPriority(job.programs[i].key()));
  }
  index_.RemoveJob(job.id);
  index_.AddJob(job.id, job.request.request.device(), job.exactly(),
                origin.priority, origin.name_space, /*may_share=*/true);
}

void JobQueue::Cancel(JobId id) {
  base::MutexLock lock(&mutex_);
  Job* const job = Find(id);
  if (job == nullptr) return;
  FinishJob(*job, absl::CancelledError("the job was cancelled"));
}

void JobQueue::Retire(JobId id) {
  base::MutexLock lock(&mutex_);
  Job* const job = Find(id);
  if (job == nullptr) return;
  job->is_retired = true;
  job->waiting.clear();
  std::erase_if(delayed_,
                [&](const auto& entry) { return entry.second.job == id; });
  job->delayed = 0;
  NoteJob(*job);
  Log(*job, "gives way: it is given no more leases");
  FinishIfRetired(id);
}

absl::StatusOr<WorkerDescription> JobQueue::FindWorker(
    const v1::DeviceSpec& device, const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] {
    base::MutexLock lock(&mutex_);
    ++changes_;
  });
  base::MutexLock lock(&mutex_);
  const absl::Time deadline = clock_->Now() + options_.worker_grace;
  while (true) {
    if (stop.stop_requested()) return absl::CancelledError("cancelled");
    if (shut_down_) {
      return absl::UnavailableError("the coordinator is stopping");
    }
    const auto worker = index_.FindUsable(device, nullptr);
    if (worker.has_value()) return DescribeFor(*worker, device);
    const absl::Duration left = deadline - clock_->Now();
    if (left <= absl::ZeroDuration()) {
      return MakeNoWorkerError(device, nullptr, /*may_share=*/true);
    }
    const auto changed = [this, seen = changes_] { return changes_ != seen; };
    mutex_.AwaitWithTimeout(absl::Condition(&changed), left);
  }
}

absl::StatusOr<WorkerDescription> JobQueue::MatchWorker(
    const v1::DeviceSpec& device, const DeviceDescription* exactly) const {
  base::MutexLock lock(&mutex_);
  const auto worker = index_.FindUsable(device, exactly);
  if (!worker.has_value()) {
    return MakeNoWorkerError(device, exactly, /*may_share=*/true);
  }
  return DescribeFor(*worker, device);
}

WorkerDescription JobQueue::DescribeFor(WorkerId id,
                                        const v1::DeviceSpec& device) const {
  WorkerDescription worker = workers_.at(id).description;
  // Of a gang: what its members have together.
  worker.devices.device_count =
      std::max(worker.devices.device_count, device.device_count());
  return worker;
}

// ---- the owner -------------------------------------------------------------

absl::Status JobQueue::MakeNoWorkerError(const v1::DeviceSpec& device,
                                         const DeviceDescription* exactly,
                                         bool may_share) const {
  if (workers_.empty()) {
    return absl::UnavailableError("no worker is attached to the coordinator");
  }
  std::vector<std::string> reasons;
  std::set<std::string> hosts;  // whose workers have some of the devices
  for (const auto& [id, worker] : workers_) {
    const int members = CountMembers(worker.description, device, exactly,
                                     /*may_share=*/true);
    if (members > 1) hosts.insert(worker.description.host);
    if (reasons.size() == kMaxNamed) continue;
    if (members == 0 || (members > 1 && !may_share)) {
      reasons.push_back(
          std::string(CanRun(worker.description, device, exactly).message()));
      continue;
    }
    std::string obstacle = FindObstacle(worker);
    if (obstacle.empty()) {
      obstacle = members == 1 ? "is about to be tried"
                              : absl::StrCat("needs ", members - 1,
                                             " more like it on its host");
    }
    reasons.push_back(
        absl::StrCat("worker ", worker.description.name, " ", obstacle));
  }
  if (workers_.size() > kMaxNamed) {
    const size_t others = workers_.size() - kMaxNamed;
    reasons.push_back(absl::StrCat("and ", others, " more"));
  }
  if (may_share && hosts.size() > 1) reasons.push_back(kMeshOverHosts);
  if (!may_share && !hosts.empty()) reasons.push_back(kOneForAll);
  return absl::UnavailableError(absl::StrCat(
      "no attached worker can run programs on ", device.device_count(), " ",
      device.platform().empty() ? "cpu" : device.platform(),
      " devices: ", absl::StrJoin(reasons, "; ")));
}

void JobQueue::Tick() {
  base::MutexLock lock(&mutex_);
  const absl::Time now = clock_->Now();
  for (auto it = workers_.begin(); it != workers_.end();) {
    const auto worker = it++;
    const absl::Duration silent = now - worker->second.seen;
    if (silent <= options_.lease_time) continue;
    const std::string reason =
        absl::StrCat("silent for ", absl::FormatDuration(silent));
    if (worker->second.port != nullptr) {
      worker->second.port->Close(absl::DeadlineExceededError(reason));
    }
    DropWorker(worker, reason, Ending::kLost);
  }
  BreakStuckGangs(now);
  // Members of gangs that have ended.
  for (auto it = workers_.begin(); it != workers_.end();) {
    CloseIfDrained(it++);
  }
  Acknowledge(now);
  standings_.Expire(now);
  // Some are probed from now on.
  for (const auto& [id, worker] : workers_) NoteWorker(id);
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    const Delayed due = std::move(delayed_.begin()->second);
    delayed_.erase(delayed_.begin());
    Job* const job = Find(due.job);
    if (job == nullptr) continue;
    job->delayed -= static_cast<int>(due.chunk.programs.size());
    job->waiting.push_back(due.chunk);
    NoteJob(*job);
  }
  if (now >= grace_ends_) {
    for (const JobId id : std::exchange(held_back_, {})) {
      Job* const job = Find(id);
      if (job == nullptr) continue;
      job->is_held_back = false;
      NoteJob(*job);
    }
  }
  Dispatch();
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    Job& job = *(it++)->second;
    if (job.waiting.empty() || index_.HasUsableWorker(job.id)) {
      job.without_worker_since.reset();
    } else if (!job.without_worker_since.has_value()) {
      job.without_worker_since = now;
    } else if (now - *job.without_worker_since >= options_.worker_grace) {
      FinishJob(job,
                MakeNoWorkerError(job.request.request.device(), job.exactly(),
                                  !IsWhole(job.request.request)));
    }
  }
  ++changes_;
}

void JobQueue::HandOver() {
  base::MutexLock lock(&mutex_);
  is_handed_over_ = true;
}

void JobQueue::Shutdown() {
  base::MutexLock lock(&mutex_);
  shut_down_ = true;
  while (!jobs_.empty()) {
    FinishJob(*jobs_.begin()->second,
              absl::UnavailableError("the coordinator is stopping"));
  }
  ++changes_;
}

}  // namespace meshwright::jobs
