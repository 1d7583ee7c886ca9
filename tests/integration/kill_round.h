// KillRound: one store, its coordinators, workers and clients, and so many
// kills.
//
// Concept: a file has one coordinator, a database several, of which one leads.
// The coordinators and the workers are processes that die at random
// failpoints (base/failpoint.h) and are started again. Workers kill their
// runners in mid-batch (made_up_worker.cc). Clients go on submitting plans and
// watching them. The updates that clients read are checked against
// PlanHistory, the store after each kill of a coordinator against RowHistory.
// After the last kill all plans are seen to their end, and each is the plan
// that one process makes without any kill.
//
//   kill ─▶ read the store ─▶ start again ─▶ clients come back, to any of the
//             coordinators: the same submission, the record, the stream
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
#include <set>
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
    int64_t leader_kills = 0;          // of these, of who led for certain
    int64_t runner_kills = 0;          // beside these
    int64_t plans = 0;
    int64_t cancelled = 0;
    int64_t lost_programs = 0;  // plans that a program was lost to
    int64_t rows = 0;
    int64_t measured = 0;
    int64_t acknowledged = 0;  // programs
    int64_t updates = 0;
  };

  // `folder` is its own. `database`: the URL of a store without tables; empty:
  // a file in the folder.
  KillRound(const std::string& folder, const std::string& database,
            uint64_t seed);
  ~KillRound();

  // So many kills at least, one of them of a leader. Adds what there was to the
  // tally. Faults fail the test at hand.
  void Run(int kills, Tally& tally);

  // A model to plan, and the plan that one process makes of it.
  struct Model {
    v1::PlanRequest request;
    std::string plan;
  };
  static const std::vector<Model>& Models();

 private:
  class Client;
  struct Coordinator {
    std::string address;
    std::string failpoint;
    std::unique_ptr<Process> process;
  };
  struct Worker {
    int number = 0;
    int starts = 0;
    std::string failpoint;
    std::unique_ptr<Process> process;
  };

  void StartCoordinator(Coordinator& coordinator, const std::string& failpoint);
  void StartWorker(Worker& worker, const std::string& failpoint);
  std::string NextCoordinatorFailpoint();
  std::string NextWorkerFailpoint();
  void AwaitKill(Tally& tally);
  void KillAnywhere();
  void CheckRows();
  void KillCoordinators() ABSL_LOCKS_EXCLUDED(mutex_);

  // For clients.
  bool TakesPlans() ABSL_LOCKS_EXCLUDED(mutex_);
  // To a coordinator that answers, the next one at each call; null: the round
  // is over.
  std::unique_ptr<client::PlanningClient> Connect(size_t& turn)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // A fault ends the coordinators, and so the round.
  void Report(const std::string& fault) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string store_;
  const std::string log_path_;
  std::mt19937_64 random_;
  RowHistory rows_;
  std::vector<Coordinator> coordinators_;
  std::vector<Worker> workers_;
  int worker_kills_ = 0;                  // since a coordinator was killed
  std::vector<std::string> points_left_;  // of the coordinator, in this turn

  base::Mutex mutex_;
  // Coordinators that were started and have not been waited for.
  std::set<pid_t> running_ ABSL_GUARDED_BY(mutex_);
  bool takes_plans_ ABSL_GUARDED_BY(mutex_) = true;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_KILL_ROUND_H_
