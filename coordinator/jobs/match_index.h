// MatchIndex: which waiting job an idle worker gets, and which idle worker a
// waiting job.
//
// Concept: jobs that need equal devices are of one *need*, workers that have
// equal devices are of one *kind*. CanRun decides once for a pair of these.
//
//   need ◀── which kinds can run it ──▶ kind
//    └ priority ─▶ namespace ─▶ jobs     └ workers: idle ones, usable ones
//
// Of the jobs that a worker can run it gets that of the highest priority. Equal
// ones go by namespace, the one charged least first, then by age. So a decision
// costs the number of needs, kinds and namespaces, whatever the number of jobs
// and workers.
// A job may need several workers of a kind at once, a gang (gangs/gang.h). If
// it is its turn, its kind is *held*: idle workers get nothing until there are
// enough. Otherwise small jobs would keep it waiting for ever. A kind that has
// too few usable ones does not run it, and is not held. Workers that join gangs
// are of one kind only if they are on one host.
// Threads: one at a time; the queue's lock guards it. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_MATCH_INDEX_H_
#define MESHWRIGHT_COORDINATOR_JOBS_MATCH_INDEX_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "coordinator/jobs/fair_share.h"
#include "coordinator/jobs/ids.h"
#include "coordinator/jobs/worker_port.h"

namespace meshwright::jobs {

class MatchIndex {
 public:
  // `shares` outlives it.
  explicit MatchIndex(const FairShare* shares) : shares_(shares) {}

  // Not usable and not idle until SetWorker.
  void AddWorker(WorkerId worker, const WorkerDescription& description);
  // An unknown worker or job changes nothing, here and below.
  void RemoveWorker(WorkerId worker);
  // Usable: it takes leases, now or when it is idle again.
  void SetWorker(WorkerId worker, bool is_usable, bool is_idle);

  // A job waits for nothing until SetWaiting.
  void AddJob(JobId job, const v1::DeviceSpec& device,
              const DeviceDescription* exactly, int priority,
              const std::string& name_space, bool may_share = false);
  // `may_share`: whether several workers may run it together.
  // SetWaiting: whether it has programs that no worker has.
  void RemoveJob(JobId job);
  void SetWaiting(JobId job, bool is_waiting);
  void SetPriority(JobId job, int priority);

  // False for an unknown worker.
  bool IsIdle(WorkerId worker) const;
  // The job whose turn it is with this worker; nullopt where none waits that it
  // can run, or its kind is held.
  std::optional<JobId> FindJob(WorkerId worker) const;
  // Whether its kind is held; false for an unknown one.
  bool IsHeld(WorkerId worker) const;
  // How many workers of the kind run the job together, and those of the kind
  // that are idle. The worker and the job are known.
  int CountMembers(WorkerId worker, JobId job) const;
  const std::set<WorkerId>& FindIdle(WorkerId worker) const;
  // An idle one, of a kind that is not held.
  std::optional<WorkerId> FindWorker(JobId job) const;
  // A usable one, or enough of them.
  bool HasUsableWorker(JobId job) const;
  // A usable worker with such devices, alone or with enough others like it, the
  // one that came first; nullopt where there is none. `exactly`: with these
  // devices, null: any.
  std::optional<WorkerId> FindUsable(const v1::DeviceSpec& device,
                                     const DeviceDescription* exactly) const;

 private:
  struct Kind;
  using Jobs = std::map<std::string, std::set<JobId>>;  // by namespace
  struct Need {
    v1::DeviceSpec device;
    std::optional<DeviceDescription> exactly;
    bool may_share = false;
    std::map<Kind*, int> kinds;  // that can run it, and how many together
    std::map<int, Jobs, std::greater<>> waiting;
    int jobs = 0;

    const DeviceDescription* exact() const {
      return exactly.has_value() ? &*exactly : nullptr;
    }
  };
  struct Kind {
    WorkerDescription description;  // of one of them
    std::map<Need*, int> needs;     // that it can run, and how many together
    int shared_needs = 0;           // of these, for several workers together
    std::set<WorkerId> usable;
    std::set<WorkerId> idle;
    int workers = 0;
  };
  using Name = std::vector<std::string>;
  struct JobEntry {
    Name need;
    int priority = 0;
    std::string name_space;
    bool is_waiting = false;
  };

  struct Turn {
    JobId job;
    int members = 0;
  };

  // Joins the two where workers of the kind can run it.
  static void Join(Need& need, Kind& kind);
  // Whose turn it is with the kind.
  std::optional<Turn> FindTurn(const Kind& kind) const;
  static bool LacksMembers(const Kind& kind, const Turn& turn);
  bool IsHeld(const Kind& kind) const;
  void Insert(JobId job, const JobEntry& entry);
  void Erase(JobId job, const JobEntry& entry);

  const FairShare* const shares_;
  std::map<Name, Need> needs_;  // by what they ask for
  std::map<Name, Kind> kinds_;  // by what they have
  absl::flat_hash_map<int64_t, JobEntry> jobs_;
  absl::flat_hash_map<int64_t, Name> workers_;  // their kind
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_MATCH_INDEX_H_
