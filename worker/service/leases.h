// Leases: what a worker was given to run, across its connections.
//
// Concept: a batch comes under a lease, runs, and its results are kept until
// the coordinator acknowledges them. A lost connection ends nothing. The next
// one brings all leases along; the coordinator says which it resumes, and is
// sent all results of these once more.
//
//   Take ──▶ waiting ──▶ running ──▶ over ──Acknowledge──▶ forgotten
//                           │
//                           └── Cancel, or silence for the lease time: stopped
//
// A lease of a gang ends with the connection: the other members do not wait.
// Silence is that of the coordinator. It counts alike, and gives the programs
// to another worker then; results there are so far are handed in anyway.
// Threads: all methods from any thread. Batches run on a thread of its own, one
// after another. `send` is called under the lock, and calls nothing back.
// Errors: none; how a batch ended is reported.
#ifndef MESHWRIGHT_WORKER_SERVICE_LEASES_H_
#define MESHWRIGHT_WORKER_SERVICE_LEASES_H_

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "proto/v1/services.pb.h"
#include "worker/service/dependencies.h"

namespace meshwright::worker {

class Leases {
 public:
  using Send = std::function<void(const v1::WorkerMessage&)>;

  // `dependencies` outlives it.
  explicit Leases(const WorkerDependencies& dependencies);
  ~Leases();  // stops
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  // ---- a connection
  // Adds what Hello says of them, and of the machine.
  void Describe(v1::WorkerHello* hello) ABSL_LOCKS_EXCLUDED(mutex_);
  // Resumes what `welcome` names and stops the rest; `send` takes the messages
  // from here on.
  void Connect(const v1::Welcome& welcome, Send send)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // `send` is not called again once this returns.
  void Disconnect() ABSL_LOCKS_EXCLUDED(mutex_);

  // ---- what the coordinator says
  void Take(v1::JobBatch batch) ABSL_LOCKS_EXCLUDED(mutex_);
  // The lease ends at once, with the results so far. An unknown lease: nothing.
  void Cancel(const std::string& lease) ABSL_LOCKS_EXCLUDED(mutex_);
  // Its results are stored: it is forgotten.
  void Acknowledge(const std::string& lease) ABSL_LOCKS_EXCLUDED(mutex_);
  // For the runner of a lease of a gang; of another lease: nothing.
  void Tell(const std::string& lease, const v1::GangMessage& message)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // It lives.
  void Hear(absl::Time now) ABSL_LOCKS_EXCLUDED(mutex_);

  // Reports a fault of the machine that is over.
  void LookForFaults() ABSL_LOCKS_EXCLUDED(mutex_);

  // True, and all leases end, where nothing was heard for the lease time.
  bool EndIfSilent(absl::Time now) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether something runs, or is not acknowledged.
  bool HasAny() ABSL_LOCKS_EXCLUDED(mutex_);
  // Gives everything up. Nothing is reported any more.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);
  // After Stop, from one thread: until what ran has ended, its child too.
  void AwaitEnd() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // One that nobody acknowledges goes when so many came after it.
  static constexpr int kMaxKept = 64;

  struct Lease {
    std::string id;
    v1::RunnerRequest request;  // until it runs
    std::string plan;           // for whom, for the log
    std::string traceparent;
    std::vector<std::string> keys;
    std::vector<v1::RunnerEvent> reported;  // what is sent again
    bool is_over = false;
    bool is_dropped = false;  // the coordinator does not want it
    std::stop_source stop;
    // Of a gang: for its runner.
    std::unique_ptr<sandbox::GangInbox> inbox;
  };

  Lease* Find(const std::string& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Lease* Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  void RunBatch(Lease* lease, v1::RunnerRequest request)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status RunRequest(const Lease& lease, const v1::RunnerRequest& request,
                          const OnRunnerEvent& on_event);
  void ReportFault() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Report(const std::string& lease, const v1::RunnerEvent& event)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(Lease& lease, const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Stops it if it runs; it is over then.
  void StopOne(Lease& lease) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const WorkerDependencies& dependencies_;
  base::Mutex mutex_;
  std::list<Lease> leases_ ABSL_GUARDED_BY(mutex_);  // as they came
  Lease* running_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Send send_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Duration> lease_time_ ABSL_GUARDED_BY(mutex_);
  absl::Time heard_ ABSL_GUARDED_BY(mutex_);
  std::string fault_ ABSL_GUARDED_BY(mutex_);
  std::string reported_fault_ ABSL_GUARDED_BY(mutex_);
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // last: joined before the rest is destroyed
};

}  // namespace meshwright::worker

#endif  // MESHWRIGHT_WORKER_SERVICE_LEASES_H_
