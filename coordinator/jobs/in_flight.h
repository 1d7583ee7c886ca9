// InFlight: which programs are being measured now, so that plans that run at
// once measure equal programs once.
//
// Concept: a plan claims the programs it is about to measure. Those that
// another plan has claimed it leaves to that one, and waits. A claim ends with
// the program's row in the store, or without one (the plan was cancelled, its
// worker was lost). In the latter case whoever waited may claim the program.
//
//   plan A: Claim a, b ─▶ measures a, b ─▶ End
//   plan B: Claim b, c ─▶ measures c ─▶ Await b ─▶ b's row is in the store
//
// Nobody waits while it holds a claim, so no two plans wait for each other.
// A program that ended with a row since a plan last looked counts as another's,
// too.
// Threads: all methods from any thread.
// Errors: Await gives kCancelled after a stop, and where it is to give way.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_IN_FLIGHT_H_
#define MESHWRIGHT_COORDINATOR_JOBS_IN_FLIGHT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"

namespace meshwright::jobs {

class InFlight {
 public:
  struct Flight {
    std::string key;
    bool is_over = false;
    bool has_row = false;
  };
  using Flights = std::vector<std::shared_ptr<const Flight>>;

  // How many claims have ended with a row so far.
  int64_t Count() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Claims those of `keys` that nobody has or ended with a row since there were
  // `since` of them. Returns the others' flights.
  Flights Claim(const std::vector<std::string>& keys, int64_t since)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends a claim of the caller's.
  void End(const std::string& key, bool has_row) ABSL_LOCKS_EXCLUDED(mutex_);
  // Until all are over. Returns the keys of those that ended without a row.
  absl::StatusOr<std::vector<std::string>> Await(
      const Flights& flights, const std::stop_token& stop,
      const std::stop_token& give_way = {}) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Rows that came earlier are found by who looks them up.
  static constexpr size_t kRemembered = 16384;

  mutable base::Mutex mutex_;
  int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, int64_t> ended_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> order_ ABSL_GUARDED_BY(mutex_);  // of ended_
  absl::flat_hash_map<std::string, std::shared_ptr<Flight>> flights_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_IN_FLIGHT_H_
