// WorkerStandings: which workers get no lease for now, and why.
//
// Concept: a worker that loses batches before their first program measures
// nothing and costs every program a try. After two in a row it is *set aside*
// for a while; then one batch more is its probe. Each probe that fails doubles
// the time. A program that starts, or has a result, clears it.
//
//   trusted ──2 barren batches──▶ set aside ──time──▶ probed ──program──▶
//   trusted
//                                     ▲                 │
//                                     └──barren batch───┘
//
// Standings belong to names, since a worker that comes back is a new one.
// Threads: one at a time; the queue's lock guards it. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_WORKER_STANDINGS_H_
#define MESHWRIGHT_COORDINATOR_JOBS_WORKER_STANDINGS_H_

#include <map>
#include <string>

#include "absl/time/time.h"

namespace meshwright::jobs {

class WorkerStandings {
 public:
  struct Options {
    int barren_batches = 2;  // in a row, until it is set aside; 0: never
    absl::Duration first_time = absl::Seconds(10);
    absl::Duration longest_time = absl::Minutes(5);
  };

  explicit WorkerStandings(Options options) : options_(options) {}

  // It lost a batch before its first program, for this reason.
  void AddBarren(const std::string& worker, const std::string& reason,
                 absl::Time now);
  // It is trusted again; an unknown worker is.
  void Clear(const std::string& worker) { standings_.erase(worker); }
  // Why it is set aside; empty: it is not.
  std::string FindReason(const std::string& worker, absl::Time now) const;
  // Forgets what is long over.
  void Expire(absl::Time now);

 private:
  struct Standing {
    int barren = 0;
    absl::Duration time;  // that it is set aside for
    absl::Time until = absl::InfinitePast();
    std::string reason;
    absl::Time changed;
  };

  const Options options_;
  std::map<std::string, Standing> standings_;
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_WORKER_STANDINGS_H_
