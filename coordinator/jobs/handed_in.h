// HandedIn: leases of earlier epochs whose programs no job has asked for yet.
//
// Concept: after a restart, workers come back with what they were given before.
// The plans that asked for it are run again and ask for it again, sooner or
// later than the workers come. Until then the results stand here, by key.
//
//   Add (a worker holds it) ─▶ Keep, Keep ─▶ Release (a job asks for it)
//                                       └──▶ Expire (nobody did)
//
// Threads: one at a time; the queue's lock guards it. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_HANDED_IN_H_
#define MESHWRIGHT_COORDINATOR_JOBS_HANDED_IN_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "coordinator/jobs/lease_id.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::jobs {

class HandedIn {
 public:
  // `keys`: of the programs of the lease. Results of others are not kept.
  void Add(LeaseId lease, const std::vector<std::string>& keys,
           absl::Time expires);
  // A second result of a program is dropped. False: the lease does not have
  // the program, and the result is refused.
  bool Keep(LeaseId lease, const v1::ProfileResult& result);

  bool empty() const { return leases_.empty(); }
  bool Contains(LeaseId lease) const { return leases_.contains(lease); }
  // The lease that has the program; where several do, the last one added.
  std::optional<LeaseId> Find(const std::string& key) const;
  // Forgets the lease; the results so far.
  std::vector<v1::ProfileResult> Release(LeaseId lease);
  // Forgets what nobody asked for in time; returns the leases of it.
  std::vector<LeaseId> Expire(absl::Time now);

 private:
  struct Entry {
    std::vector<std::string> keys;
    absl::Time expires;
    std::map<std::string, v1::ProfileResult> results;
  };

  std::map<LeaseId, Entry> leases_;
  absl::flat_hash_map<std::string, LeaseId> by_key_;
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_HANDED_IN_H_
