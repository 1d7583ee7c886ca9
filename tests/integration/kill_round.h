// KillRound: one store, its coordinator, workers and clients, and so many
// kills.
//
// Concept: the coordinator and the workers are processes that die at random
// failpoints (base/failpoint.h) and are started again. Workers kill their
// runners in mid-batch (made_up_worker.cc). Clients go on submitting plans and
// watching them. The updates that clients read are checked against
// PlanHistory, the store after each kill of the coordinator against RowHistory.
// After the last kill all plans are seen to their end, and each is the plan
// that one process makes without any kill.
//
//   kill ─▶ read a copy of the store ─▶ start again ─▶ clients come back: the
//                                same submission, the record, the stream
//
// Randomness: all of a round's follows from its seed, but for what threads of
// the processes do first.
// Threads: one makes and runs it; clients are threads of its own.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_KILL_ROUND_H_
#define MESHWRIGHT_TESTS_INTEGRATION_KILL_ROUND_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "coordinator/client/planning_client.h"
#include "tests/integration/process.h"
#include "tests/integration/row_history.h"

namespace meshwright::integration {

class KillRound {
 public:
  struct Tally {
    std::map<std::string, int> kills;  // by failpoint, each of them
    int64_t runner_kills = 0;          // beside these
    int64_t plans = 0;
    int64_t cancelled = 0;
    int64_t lost_programs = 0;  // plans that a program was lost to
    int64_t rows = 0;
    int64_t measured = 0;
    int64_t updates = 0;
  };

  // `folder` is its own.
  KillRound(const std::string& folder, uint64_t seed);
  ~KillRound();

  // Adds what there was to the tally. Faults fail the test at hand.
  void Run(int kills, Tally& tally);

  // A model to plan, and the plan that one process makes of it.
  struct Model {
    v1::PlanRequest request;
    std::string plan;
  };
  static const std::vector<Model>& Models();

 private:
  class Client;
  struct Worker {
    int number = 0;
    int starts = 0;
    std::string failpoint;
    std::unique_ptr<Process> process;
  };

  void StartCoordinator(const std::string& failpoint);
  void StartWorker(Worker& worker, const std::string& failpoint);
  std::string NextCoordinatorFailpoint();
  std::string NextWorkerFailpoint();
  void AwaitKill(Tally& tally);
  void CheckRows();
  void SetRunning(pid_t coordinator) ABSL_LOCKS_EXCLUDED(mutex_);

  // For clients.
  bool TakesPlans() ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits for a coordinator after the one of number `after`; null: the round
  // is over.
  std::unique_ptr<client::PlanningClient> Connect(int& after)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // A fault ends the coordinator, and so the round.
  void Report(const std::string& fault) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string address_;
  const std::string store_path_;
  const std::string log_path_;
  std::mt19937_64 random_;
  RowHistory rows_;
  std::unique_ptr<Process> coordinator_;
  std::string coordinator_failpoint_;
  std::vector<Worker> workers_;
  std::vector<std::string> points_left_;  // of the coordinator, in this turn

  base::Mutex mutex_;
  int coordinators_ ABSL_GUARDED_BY(mutex_) = 0;  // that listened so far
  pid_t running_ ABSL_GUARDED_BY(mutex_) = -1;    // the coordinator's
  bool takes_plans_ ABSL_GUARDED_BY(mutex_) = true;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_KILL_ROUND_H_
