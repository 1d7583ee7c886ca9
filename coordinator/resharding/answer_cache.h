// AnswerCache: reshardings by content, each problem solved once.
//
// Concept: the key is the SHA-256 of the problem without its names, in the
// order of its tasks and hosts, and of the solver. If the solver draws random
// numbers, the seed is part of it. Tasks or hosts in another order are another
// problem.
//
//   unknown ──▶ solving ──▶ kept ──more time──▶ solving ──▶ kept (the better)
//                              └── proven: for good
//
// * A proven answer serves every caller. Any other answer serves a caller with
//   at most a quarter more time than its search had. A caller without a
//   deadline gets a fixed amount of work, and answers with that amount serve
//   it. A caller with more time has the problem searched again; the better
//   schedule and the higher bound stay.
// * Callers that ask for one problem with the same time while it is being
//   solved wait for the one search. The search ends early when all of them have
//   left; an answer cut short in this way is kept only if it is proven.
// * The cache has a limit in bytes; the least recently used answers go first.
// Threads: any number at once. A search runs on the thread of a caller, and
// goes on there for the others if that one leaves.
// Errors: those of the solver; kCancelled for a caller that left.
#ifndef MESHWRIGHT_COORDINATOR_RESHARDING_ANSWER_CACHE_H_
#define MESHWRIGHT_COORDINATOR_RESHARDING_ANSWER_CACHE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "base/mutex.h"
#include "planner/reshard/solve.h"

namespace meshwright::resharding {

class AnswerCache {
 public:
  using SolveFunction = std::function<absl::StatusOr<reshard::Answer>(
      const reshard::ReshardProblem&, const reshard::Options&)>;

  struct Options {
    int64_t max_bytes = int64_t{64} << 20;
    SolveFunction solve = reshard::Solve;
  };

  struct Served {
    reshard::Answer answer;
    bool cached = false;  // no search was made for this caller
  };

  struct Statistics {
    int64_t solved = 0;  // searches begun
    int64_t served = 0;  // callers without one
    int64_t evicted = 0;
    int64_t entries = 0;  // now
    int64_t bytes = 0;    // now
    int64_t waiting = 0;  // now, for the searches of others
  };

  explicit AnswerCache(Options options);

  // `problem` is valid. The deadline of `options` is the time brought, its stop
  // token says that the caller has gone.
  absl::StatusOr<Served> Solve(const reshard::ReshardProblem& problem,
                               const reshard::Options& options);

  // Since the cache was made.
  Statistics statistics() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Clock = std::chrono::steady_clock;

  // An answer, and the time it had.
  struct Kept {
    reshard::Answer answer;
    bool fixed_work = false;  // searched without a deadline, to its end
    std::chrono::duration<double> longest{};
  };
  using KeptPtr = std::shared_ptr<const Kept>;

  // The time that a caller brings.
  struct Budget {
    std::optional<Clock::time_point> deadline;
    std::chrono::duration<double> seconds{};  // until then

    static Budget From(const base::Deadline& deadline);
    bool ServedBy(const Kept& kept) const;
    // May wait for a search that has `other`.
    bool JoinedTo(const Budget& other) const;
  };

  struct Search {
    Budget budget;
    int callers = 0;
    std::stop_source stop;
    bool over = false;
    KeptPtr found;  // null: it failed, or was cut short
    absl::Status status;
  };
  using SearchPtr = std::shared_ptr<Search>;

  struct Entry {
    KeptPtr kept;
    std::list<std::string>::iterator place;
  };

  static KeptPtr Better(const KeptPtr& known, Kept found);
  KeptPtr Find(const std::string& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Keep(const std::string& key, KeptPtr kept)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  SearchPtr Join(const std::string& key, const Budget& budget, bool* leads)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Runs or awaits it; false: this caller has gone.
  bool Attend(const std::string& key, const reshard::ReshardProblem& problem,
              const reshard::Options& options, const SearchPtr& search,
              bool leads) ABSL_LOCKS_EXCLUDED(mutex_);
  void Run(const std::string& key, const reshard::ReshardProblem& problem,
           reshard::Options options, const SearchPtr& search)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const Options options_;
  mutable base::Mutex mutex_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::list<std::string> recent_ ABSL_GUARDED_BY(mutex_);  // the latest first
  absl::flat_hash_map<std::string, std::vector<SearchPtr>> searches_
      ABSL_GUARDED_BY(mutex_);
  Statistics statistics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::resharding

#endif  // MESHWRIGHT_COORDINATOR_RESHARDING_ANSWER_CACHE_H_
