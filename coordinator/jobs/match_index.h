// MatchIndex: which waiting job an idle worker gets, and which idle worker a
// waiting job.
//
// Concept: jobs that need equal devices are of one *need*, workers that have
// equal devices are of one *kind*. CanRun decides once for a pair of these.
//
//   need ◀── which kinds can run it ──▶ kind
//    └ priority ─▶ namespace ─▶ jobs     └ hosts ─▶ workers: idle ones,
//                                                   usable ones
//
// Of the jobs that a worker can run it gets that of the highest priority. Equal
// ones go by namespace, the one charged least first, then by age.
// A job may need several workers of a kind at once, a gang (gangs/gang.h), all
// of one *host*. A worker that joins no gangs counts as a host of its own. If
// it is a gang's turn, the host is *held*: its idle workers get nothing until
// there are enough. Otherwise small jobs would keep the gang waiting for ever.
// A host that has too few usable ones does not run it, and is not held.
// The *size* of a host is how many of its workers are usable, and how many are
// idle. Whose turn it is, and whether a host is held, is the same for all hosts
// of a kind and a size. So a decision costs the number of needs, kinds, sizes
// and namespaces, whatever the number of jobs, workers and hosts.
// Threads: one at a time; the queue's lock guards it. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_MATCH_INDEX_H_
#define MESHWRIGHT_COORDINATOR_JOBS_MATCH_INDEX_H_

#include <compare>
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
  // can run, or its host is held.
  std::optional<JobId> FindJob(WorkerId worker) const;
  // An idle worker that FindJob has a job for: nobody says that a hold ends.
  std::optional<WorkerId> FindReleased() const;
  // How many workers of the host run the job together, and those of the host
  // that are idle. The worker and the job are known.
  int CountMembers(WorkerId worker, JobId job) const;
  const std::set<WorkerId>& FindIdle(WorkerId worker) const;
  // An idle one, of a host that is not held.
  std::optional<WorkerId> FindWorker(JobId job) const;
  // A usable one, or enough of them.
  bool HasUsableWorker(JobId job) const;
  // A usable worker with such devices, alone or with enough others like it, the
  // one that came first; nullopt where there is none. `exactly`: with these
  // devices, null: any.
  std::optional<WorkerId> FindUsable(const v1::DeviceSpec& device,
                                     const DeviceDescription* exactly) const;

  // What all calls so far have cost: pairs of a need and a kind, and sizes.
  int64_t looked_at() const { return looked_at_; }

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
  struct Size {
    int usable = 0;
    int idle = 0;
    auto operator<=>(const Size&) const = default;
  };
  struct Workers {
    std::set<WorkerId> usable;
    std::set<WorkerId> idle;
  };
  struct Host {
    Workers workers;
    int count = 0;  // with those that are not usable

    Size size() const {
      return {static_cast<int>(workers.usable.size()),
              static_cast<int>(workers.idle.size())};
    }
  };
  using Hosts = std::map<std::string, Host>;  // by name, or worker
  struct Kind {
    WorkerDescription description;  // of one of them
    std::map<Need*, int> needs;     // that it can run, and how many together
    int shared_needs = 0;           // of these, for several workers together
    Hosts hosts;
    std::map<Size, Workers> sizes;  // those of all hosts of a size
  };
  using Name = std::vector<std::string>;
  using Kinds = std::map<Name, Kind>;  // by what they have
  struct Place {
    Kinds::iterator kind;
    Hosts::iterator host;
  };
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
  void Join(Need& need, Kind& kind);
  // Its workers among those of its size: to be taken out before it changes, and
  // put in again.
  static void TakeOut(Kind& kind, const Host& host);
  static void PutIn(Kind& kind, const Host& host);
  // Whose turn it is with hosts of the kind that have so many usable ones.
  std::optional<Turn> FindTurn(const Kind& kind, int usable) const;
  static bool LacksMembers(const Turn& turn, Size size);
  // The turn, unless hosts of this size are held.
  std::optional<Turn> FindTurnNow(const Kind& kind, Size size) const;
  bool IsHeld(const Kind& kind, Size size) const;
  void Insert(JobId job, const JobEntry& entry);
  void Erase(JobId job, const JobEntry& entry);

  const FairShare* const shares_;
  std::map<Name, Need> needs_;  // by what they ask for
  Kinds kinds_;
  absl::flat_hash_map<int64_t, JobEntry> jobs_;
  absl::flat_hash_map<int64_t, Place> workers_;
  mutable int64_t looked_at_ = 0;
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_MATCH_INDEX_H_
