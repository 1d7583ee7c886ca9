// Leadership: which of several coordinators over one store runs the plans.
//
// Concept: the leader is a row of the store with a holder, an epoch and an
// expiry on the database's clock. Each coordinator asks for it about once a
// second; the leader prolongs its term by that. Every write of a plan states
// the epoch, so a leader that was replaced while it slept changes nothing.
// Between two answers of the store a leader trusts its own clock for one term
// from the moment it asked. That ends before the row does.
//
//   following ── the row has expired ──▶ leading ── not prolonged in time ──▶
//       following again; the next leadership has a higher epoch
//
// That holds for one that nobody replaced, too: it let its workers go, and the
// leases that they bring along are taken in a later epoch alone.
//
// A leader that is killed is replaced after one term and one turn of asking, at
// most eight seconds with the defaults.
// Threads: any. Renew waits for the database; nothing else does.
// Errors: those of the store; CheckLeads gives kUnavailable with the address of
// the leader, in its sentence and as a payload that a client can follow.
// CheckTakesWorkers gives it also where this one is about to begin.
// Source: docs/decisions/durable-plans.md.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_LEADERSHIP_H_
#define MESHWRIGHT_COORDINATOR_PLANS_LEADERSHIP_H_

#include <chrono>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "profiledb/store/plan_store.h"

namespace meshwright::plans {

// In the trailing metadata of an answer from the store's rows: the address of
// the leader, which knows more.
inline constexpr char kLeaderMetadata[] = "meshwright-leader-bin";

class Leadership {
 public:
  // Monotonic: a step of the wall clock must not prolong a term.
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  struct Options {
    absl::Duration term = absl::Seconds(6);
    Now now = std::chrono::steady_clock::now;
  };

  // `address`: where the others' workers and clients reach this coordinator.
  // `plans` outlives it.
  Leadership(store::PlanStore* plans, std::string address, Options options)
      : plans_(plans),
        options_(std::move(options)),
        address_(std::move(address)) {}

  // Where it listens, once that is known.
  void SetAddress(const std::string& address) ABSL_LOCKS_EXCLUDED(mutex_) {
    base::MutexLock lock(&mutex_);
    address_ = address;
  }

  // Asks for the leadership, or prolongs it; about once a second.
  absl::Status Renew() ABSL_LOCKS_EXCLUDED(mutex_);
  // Another coordinator may lead at once.
  void StepDown() ABSL_LOCKS_EXCLUDED(mutex_);

  // By this process's clock; asks nobody.
  bool Leads() const ABSL_LOCKS_EXCLUDED(mutex_);
  // The queue of this coordinator has begun the epoch: workers may attach. One
  // that came earlier would bring leases along that the queue does not know.
  void NoteBegun(store::Epoch epoch) ABSL_LOCKS_EXCLUDED(mutex_);
  // Until workers may attach; false: they may not within `patience`.
  bool AwaitLeads(absl::Duration patience) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Of this coordinator's newest leadership; zero: it never led.
  store::Epoch epoch() const ABSL_LOCKS_EXCLUDED(mutex_);
  // The leader's address; empty: none is known.
  std::string leader() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Of what only the leader does, such as "measures".
  absl::Status CheckLeads(absl::string_view deed) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Of attached workers: it leads, and its epoch has begun.
  absl::Status CheckTakesWorkers() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  bool LeadsNow() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  store::PlanStore* const plans_;
  const Options options_;
  mutable base::Mutex mutex_;
  std::string address_ ABSL_GUARDED_BY(mutex_);
  store::Epoch epoch_ ABSL_GUARDED_BY(mutex_);
  store::Epoch begun_ ABSL_GUARDED_BY(mutex_);
  std::string holder_ ABSL_GUARDED_BY(mutex_);  // of the row, as last read
  std::chrono::steady_clock::time_point leads_until_ ABSL_GUARDED_BY(mutex_);
};

// The same of a coordinator that may be without others, `leadership` null, and
// then does everything.
absl::Status CheckLeads(const Leadership* leadership, absl::string_view deed);
// Of the streams of workers.
absl::Status CheckTakesWorkers(const Leadership* leadership);
// Of calls that ask for workers or jobs.
absl::Status CheckHoldsWorkers(const Leadership* leadership);

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_LEADERSHIP_H_
