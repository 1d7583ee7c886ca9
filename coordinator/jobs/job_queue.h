// JobQueue: the programs that wait, who runs them, and what came of them.
//
// Concept: a *job* is one RunnerRequest of one submitter. The queue cuts it
// into *chunks* of at most Options::chunk_programs and chunk_bytes, so that
// several workers share it. A chunk handed to a worker is a *lease*. A job with
// a reference program is a comparison, and one may have a sequence: these stay
// in one chunk. An idle worker gets a chunk of the job that match_index.h
// names: by priority, fair share, age. Where no worker has the devices, several
// get one chunk together, a lease each (gangs/gang.h).
//
//   chunk:   waiting ──Push──▶ leased ──every program has its result──▶ done
//               ▲                │
//               └── remainder ◀──┘ worker lost, or it reported a failure that
//                                  is not final: tries + 1, and after a failure
//                                  a while later. On the last try each program
//                                  travels alone, so that one that kills
//                                  workers takes no other with it. After it the
//                                  rest is TRANSIENT, with the reason.
//   job:     queued ──first lease──▶ running ──last result──▶ done
//               └──────────┬────────────┘
//                          └── Cancel, Shutdown, no worker for worker_grace,
//                              Retire when its leases are over, LetGo when
//                              nobody else wants what is left (wants.h)
//   worker:  idle ⇄ busy;  ── Drain ──▶ draining ──lease over──▶ closed
//            busy ──Detach──▶ away ──Attach──▶ busy, with the same lease
//                               └── lease_time is over ──▶ lost
//
// A worker whose batches end before their first program is set aside
// (worker_standings.h). One with a fault of its own (a child that does not die)
// gets no lease until it says that it is well. The programs that it had lose no
// try. A lease outlives its worker's connection, and ends when nothing was
// heard of the worker for lease_time. Messages under a lease that has ended, or
// that the worker does not have, are ignored. After a restart, workers come
// back with leases of an earlier epoch. The job that asks for such programs
// gets the results and waits for the rest, if its plan is from before the
// restart: nothing else was leased then. A job of an interrupted plan is held
// back for restart_grace, so that no program is leased again while its worker
// is on its way. Flags of a request that the compiler does not know end each
// runner before its first program. So where a request has flags, a failure
// before that is final, and no worker's fault. A worker keeps what it reported
// until that is acknowledged: when the submitter has let go of its JobEvents,
// so has stored what it wanted. A lease of a gang ends with the connection, and
// when another one of the gang ends early: all of them end, and rank 0's has
// the programs that are put back.
//
// In → Out: every program of a job gets exactly one result through the job's
// JobEvents, then comes JobDone. Programs with equal keys are one program. A
// result that no device measures (check_result.h) becomes TRANSIENT.
// Threads and ownership: all methods from any thread. WorkerPort is called
// under the queue's lock. Time moves only through the clock; the owner calls
// Tick about once a second.
// Errors: JobDone carries kUnavailable when no attached worker could take the
// programs for worker_grace (the message says what each one lacks),
// kCancelled after Cancel, Retire and LetGo, kAborted after EndJob,
// kUnavailable after Shutdown. A worker's port is closed with kDeadlineExceeded
// when it was silent for the lease time, with kAborted when it is replaced.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_JOB_QUEUE_H_
#define MESHWRIGHT_COORDINATOR_JOBS_JOB_QUEUE_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/log/log_context.h"
#include "base/mutex.h"
#include "coordinator/jobs/fair_share.h"
#include "coordinator/jobs/gangs/gang.h"
#include "coordinator/jobs/gangs/key_values.h"
#include "coordinator/jobs/handed_in.h"
#include "coordinator/jobs/ids.h"
#include "coordinator/jobs/job_events.h"
#include "coordinator/jobs/lease_id.h"
#include "coordinator/jobs/match_index.h"
#include "coordinator/jobs/queue_observer.h"
#include "coordinator/jobs/wants.h"
#include "coordinator/jobs/worker_port.h"
#include "coordinator/jobs/worker_standings.h"
#include "proto/v1/job.pb.h"
#include "proto/v1/plan_record.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::jobs {

struct JobRequest {
  v1::RunnerRequest request;
  // Only workers with this plugin version and device kind.
  std::optional<DeviceDescription> exactly;
  JobOrigin origin;
  JobId id = {};  // of NewJobId; zero: the queue gives it one
};

struct Submission {
  JobId id;
  std::shared_ptr<JobEvents> events;
};

// How much there is to measure.
struct QueueCounts {
  int64_t programs_waiting = 0;
  int64_t programs_leased = 0;  // and without a result so far
};

class JobQueue {
 public:
  struct Options {
    // Programs of one chunk at the most: what is timed together compares best.
    int chunk_programs = 128;
    // Attached workers share a job's programs, down to chunks of this many.
    int min_chunk = 16;
    // Programs of one chunk have no more bytes; a larger one travels alone.
    int64_t chunk_bytes = int64_t{12} << 20;
    int maximum_tries = 3;
    // After the first failure that a worker reports; twice as long after the
    // next. The programs of a lost worker go to another at once.
    absl::Duration retry_backoff = absl::Seconds(1);
    WorkerStandings::Options standings = {};
    // How long a job waits while no attached worker could run it.
    absl::Duration worker_grace = absl::Seconds(15);
    // A worker silent for longer is lost, and its lease has ended. With Tick
    // once a second its programs are another's after 16 s.
    absl::Duration lease_time = absl::Seconds(15);
    // After a restart, jobs of interrupted plans wait so long: a worker takes
    // 5 s at most to connect again.
    absl::Duration restart_grace = absl::Seconds(8);
    // After a restart workers may hand in leases of earlier epochs for so long.
    // It is kept as long for whoever asks for it.
    absl::Duration handed_in_time = absl::Minutes(10);
    gangs::GangOptions gangs = {};
    int remembered_jobs = 100;
    QueueObserver* observer = nullptr;  // outlives the queue; null: none
  };

  JobQueue(const base::Clock* clock, Options options);
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  // The epoch of the leases from here on; the grace after a restart begins. One
  // that has begun goes on: its leases stand.
  void BeginEpoch(int64_t epoch) ABSL_LOCKS_EXCLUDED(mutex_);

  // ---- submitters
  // For a JobRequest. It is unknown until that is submitted.
  JobId NewJobId() ABSL_LOCKS_EXCLUDED(mutex_);
  // The job's lines and its workers' say for whom it is: what the caller's log
  // scope says.
  Submission Submit(JobRequest request) ABSL_LOCKS_EXCLUDED(mutex_);
  // The job ends with kCancelled. An unknown job: nothing.
  void Cancel(JobId job) ABSL_LOCKS_EXCLUDED(mutex_);
  // The job is given no more leases, and ends with kCancelled when those that
  // it has are over. An unknown job: nothing.
  void Retire(JobId job) ABSL_LOCKS_EXCLUDED(mutex_);
  // The submitter wants its programs no more. Those that others want go on, for
  // the first of them from here on; the submitter takes their results until
  // JobDone. The job ends with kCancelled when none is left. An unknown job:
  // nothing.
  void LetGo(JobId job) ABSL_LOCKS_EXCLUDED(mutex_);
  // The caller waits for programs that jobs of others measure, now or later.
  // These jobs are wanted with its priority, too. They go on being charged to
  // those who submitted them.
  WantId Want(const std::vector<std::string>& keys, const JobOrigin& origin)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // It does not any more. An unknown want: nothing.
  void Unwant(WantId want) ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits up to worker_grace for a worker that can run programs for `device`.
  absl::StatusOr<WorkerDescription> FindWorker(const v1::DeviceSpec& device,
                                               const std::stop_token& stop)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The same without waiting. `exactly`: only one with these devices; null:
  // any.
  absl::StatusOr<WorkerDescription> MatchWorker(
      const v1::DeviceSpec& device, const DeviceDescription* exactly) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // ---- workers
  // A worker of the same name that is attached or away is replaced, if it has
  // the same owner and, while it is connected, the same session. Errors:
  // kAlreadyExists otherwise.
  absl::StatusOr<WorkerId> Attach(const WorkerDescription& description,
                                  WorkerPort* port,
                                  const std::vector<HeldLease>& held = {})
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The connection is lost. The port is not used again once this returns.
  // Unknown ids are no error: the queue may have dropped the worker first.
  void Detach(WorkerId worker, const std::string& reason)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The worker stops, and gives its lease back.
  void Leave(WorkerId worker) ABSL_LOCKS_EXCLUDED(mutex_);
  // An event of the runner under a lease; Finished ends the lease.
  void Update(WorkerId worker, LeaseId lease, const v1::RunnerEvent& event)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The worker lives. An unknown worker: nothing.
  void Heartbeat(WorkerId worker) ABSL_LOCKS_EXCLUDED(mutex_);
  // The fault of a worker's machine; empty: it is well again.
  void SetFault(WorkerId worker, const std::string& fault)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Another coordinator leads: workers are closed with this reason, and go on
  // there with the leases they have.
  void ReleaseWorkers(const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);
  // No more leases for this worker; it is closed when it holds none.
  void Drain(WorkerId worker) ABSL_LOCKS_EXCLUDED(mutex_);

  // ---- the owner
  void Tick() ABSL_LOCKS_EXCLUDED(mutex_);
  // The coordinator stops: workers keep the leases they have, for the next one.
  // Jobs that end from here on cancel none, and nothing is leased any more.
  void HandOver() ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends every job; later ones end at once.
  void Shutdown() ABSL_LOCKS_EXCLUDED(mutex_);

  // ---- administrators; errors: kNotFound for an unknown job or worker
  absl::StatusOr<v1::JobDetails> GetJob(JobId job) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The plan that waits for it fails with this reason. kFailedPrecondition for
  // a job that is over, here and below.
  absl::StatusOr<v1::JobSummary> EndJob(JobId job, const std::string& reason)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The programs that it failed at are tried at once, as often as at first.
  absl::StatusOr<v1::JobSummary> RetryJob(JobId job)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Drains, quarantines or resumes the worker of that name; the answer is its
  // state after it. kNotFound where none of the name is attached.
  absl::StatusOr<v1::WorkerSummary> Order(const v1::WorkerOrder& order)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Those that the store keeps, of workers that may attach later.
  void SetOrders(const std::vector<v1::WorkerOrder>& orders)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Those that are done first.
  std::vector<v1::JobSummary> Jobs() const ABSL_LOCKS_EXCLUDED(mutex_);
  // The attached ones, in the order in which they came.
  std::vector<v1::WorkerSummary> Workers() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Of all jobs together.
  QueueCounts Count() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Chunk {
    std::vector<int> programs;  // indices into the job's request
    int tries = 0;
  };
  struct Job {
    JobId id;
    JobRequest request;
    std::shared_ptr<JobEvents> events;
    absl::Time submitted;
    base::LogContext asker;
    bool is_held_back = false;  // for the grace after a restart
    bool is_retired = false;
    bool is_let_go = false;  // by its submitter
    std::deque<Chunk> waiting;
    std::set<LeaseId> leases;  // those not over
    bool started = false;
    int finished = 0;
    int failed = 0;
    std::optional<absl::Time> without_worker_since;
    int delayed = 0;                       // programs that wait for another try
    std::vector<v1::JobProgram> programs;  // as they stand
    absl::flat_hash_map<std::string, int> by_key;
    std::deque<v1::JobLine> log;

    const DeviceDescription* exactly() const {
      return request.exactly.has_value() ? &*request.exactly : nullptr;
    }
  };
  struct Lease {
    LeaseId id;
    WorkerId worker;
    std::string worker_name;
    std::string worker_host;
    std::string worker_owner;
    JobId job;    // zero: of an earlier epoch, and no job asked for it yet
    Chunk chunk;  // programs: those without a result yet
    std::weak_ptr<JobEvents> events;  // of the job
    std::string name_space;           // of the job, charged for it
    absl::Duration charged;           // so far: what it is expected to take
    absl::Time given;
    int results = 0;
    bool has_started = false;  // a program of it
    std::string pause;         // what the worker waits for; empty: it does not
    // Of a gang: the lease of its rank 0, which has the chunk.
    std::optional<LeaseId> gang;
    int rank = 0;
    // The worker has said all. The lease stays until that is acknowledged.
    bool is_over = false;
  };
  struct Worker {
    WorkerDescription description;
    WorkerPort* port = nullptr;  // null: away
    absl::Time seen;
    bool draining = false;
    std::string fault;               // of its machine
    std::set<LeaseId> leases;        // those not over
    std::optional<LeaseId> running;  // one of them
    int64_t programs_measured = 0;
  };
  // A chunk that several workers have.
  struct RunningGang {
    std::vector<LeaseId> leases;  // by rank
    gangs::Gang gang;
    gangs::KeyValues values;
  };
  // How a lease ends that has programs left.
  enum class Ending { kLost, kFailed, kFinal, kGivenBack };
  using JobMap = std::map<JobId, std::unique_ptr<Job>>;
  using WorkerMap = std::map<WorkerId, Worker>;
  using LeaseMap = std::map<LeaseId, Lease>;

  // Whether its programs are of use together alone.
  static bool IsWhole(const v1::RunnerRequest& request) {
    return request.has_reference() || request.has_sequence();
  }
  std::deque<Chunk> Cut(const JobRequest& request) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int ChunkPrograms(const JobRequest& request) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // After a change of what it waits for or whether it is idle, for Dispatch.
  void NoteJob(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteWorker(WorkerId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of the jobs and workers that were noted.
  void Dispatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OfferTo(WorkerId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A chunk of the job's, to several workers together or one alone.
  void Give(const std::vector<WorkerId>& members, Job& job)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Lease& OpenLease(WorkerId id, Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // ---- gangs (job_queue_gangs.cc); `id` is the lease of rank 0
  // Those of the worker's kind that get a chunk of the job together with it.
  std::vector<WorkerId> ChooseMembers(WorkerId id, JobId job) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FormGang(const std::vector<LeaseId>& leases)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // False: the event is treated as that of any lease.
  bool TakeGangEvent(Lease& lease, const v1::RunnerEvent& event, Ending ending)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tell(const RunningGang& running, int rank,
            const v1::GangMessage& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsLastTry(LeaseId id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What a member's runner ended in is its only program's result.
  void TakeDeath(LeaseId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // All are finished.
  void DisbandGang(LeaseId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The one of this rank holds it up: it ends on all.
  void BreakGang(LeaseId id, int rank, const std::string& reason, Ending ending)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Those that the worker is a member of.
  void BreakGangsOf(WorkerId id, const std::string& reason, Ending ending)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void BreakStuckGangs(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The members stop, and report that.
  void CancelGang(LeaseId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `lease`: the one that a line is about; null: none.
  static base::LogContext DescribeForLog(const Job& job, const Lease* lease);
  Job* Find(JobId job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Why the worker gets no lease; empty: it gets some.
  std::string FindObstacle(const Worker& worker) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  v1::JobSummary Describe(const Job& job) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  v1::JobDetails DescribeInFull(const Job& job) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  v1::WorkerSummary Describe(const Worker& worker) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Why nothing of the job runs; empty: something does.
  std::string FindReason(const Job& job) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status MakeNoJobError(JobId job) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Keep(Job& job, const std::string& text)  // in its log
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // In its log and the daemon's.
  void Log(Job& job, const std::string& text, const Lease* lease = nullptr)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeBack(Worker& worker, const std::string& reason)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether the worker goes on with a lease that it brought.
  bool Resume(WorkerId id, const HeldLease& held)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Workers that came before the epoch was known may claim leases of it. Its
  // gangs end whole.
  void RefuseClaims(int64_t epoch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The job, if any, that is held back and asks for a program of the lease.
  Job* FindHeldBack(const HeldLease& held)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of what waits, takes the programs that workers brought along. The job may
  // be done then.
  void TakeHandedIn(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The same for one lease of an earlier epoch.
  void Bind(Lease& lease, Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeResult(Lease& lease, Job& job, const v1::ProfileResult& result)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Corrects what the lease was charged at its beginning.
  void CorrectCharge(Lease& lease) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A failure that the flags of the request may explain, as a final one;
  // nothing for any other event.
  std::optional<v1::RunnerEvent> BlameFlags(const Lease& lease,
                                            const v1::RunnerEvent& event) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndLease(Lease& lease, const std::string& reason, Ending ending)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PutBack(const Lease& lease, const std::string& reason, Ending ending)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddResult(Job& job, const v1::ProfileResult& result)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // False: its submitter let go of it, and no other wants the program.
  bool IsWanted(const Job& job, int program) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Any program of a chunk of the job.
  bool HasWanted(const Job& job, const Chunk& chunk) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The oldest want of what is left of the job.
  std::optional<WantId> FindWant(const Job& job) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of one that its submitter let go of, drops what nobody wants.
  void Narrow(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PassOn(Job& job, WantId want) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Its worker stops, and reports that.
  void CancelLease(LeaseId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // One that is retired, and has no lease any more.
  void FinishIfRetired(JobId job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishJob(Job& job, absl::Status status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // One that drains by itself, and has no lease any more.
  void CloseIfDrained(WorkerMap::iterator worker)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Its leases are forgotten, too.
  void DropWorker(WorkerMap::iterator worker, const std::string& reason,
                  Ending ending) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Acknowledge(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A usable one, as the devices that run programs for `device`.
  WorkerDescription DescribeFor(WorkerId id, const v1::DeviceSpec& device) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `may_share`: whether several workers may run it together.
  absl::Status MakeNoWorkerError(const v1::DeviceSpec& device,
                                 const DeviceDescription* exactly,
                                 bool may_share) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const base::Clock* const clock_;
  const Options options_;

  mutable base::Mutex mutex_;
  // Counts: workers came, time moved, or the queue shut down.
  int64_t changes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_handed_over_ ABSL_GUARDED_BY(mutex_) = false;
  bool shut_down_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t next_job_ ABSL_GUARDED_BY(mutex_) = 1;
  int64_t next_worker_ ABSL_GUARDED_BY(mutex_) = 1;
  JobMap jobs_ ABSL_GUARDED_BY(mutex_);  // unfinished ones
  std::deque<v1::JobDetails> done_ ABSL_GUARDED_BY(mutex_);
  WorkerMap workers_ ABSL_GUARDED_BY(mutex_);
  int64_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: none has begun
  absl::Time grace_ends_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Time handing_in_ends_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  int64_t next_lease_ ABSL_GUARDED_BY(mutex_) = 1;
  LeaseMap leases_ ABSL_GUARDED_BY(mutex_);
  std::map<LeaseId, RunningGang> gangs_ ABSL_GUARDED_BY(mutex_);  // by rank 0's
  HandedIn handed_in_ ABSL_GUARDED_BY(mutex_);
  std::vector<JobId> held_back_ ABSL_GUARDED_BY(mutex_);
  // Who measures a program or waits to, by key. Comparisons are not here.
  absl::flat_hash_map<std::string, JobId> wanted_ ABSL_GUARDED_BY(mutex_);
  Wants wants_ ABSL_GUARDED_BY(mutex_);
  FairShare shares_ ABSL_GUARDED_BY(mutex_);
  MatchIndex index_ ABSL_GUARDED_BY(mutex_){&shares_};
  struct Delayed {
    JobId job;
    Chunk chunk;
  };
  std::multimap<absl::Time, Delayed> delayed_ ABSL_GUARDED_BY(mutex_);
  WorkerStandings standings_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, v1::WorkerOrder> orders_ ABSL_GUARDED_BY(mutex_);
  std::set<JobId> noted_jobs_ ABSL_GUARDED_BY(mutex_);
  std::set<WorkerId> noted_workers_ ABSL_GUARDED_BY(mutex_);
  // Of a program, as leases go.
  absl::Duration mean_time_ ABSL_GUARDED_BY(mutex_) = absl::Seconds(1);
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_JOB_QUEUE_H_
