// Gang: workers that run the programs of one chunk together.
//
// Concept: a program for more devices than a worker has is run by several
// workers at once, one rank each, in the order of their places on the bus, then
// of their names. Of the idle ones those with most links between them are taken
// (linked_members.h). Each has a lease, and all of them together are this one
// thing.
//
//   preparing ──every member is at the gate──▶ running ──every member is
//       │                                         │       finished──▶ over
//       └───────────────▶ broken ◀────────────────┘
//            a member is lost, says nothing for too long, or finishes
//            without a result for every program
//
// A program has its result when every member has said one, never before: so no
// program is half run. Where all measured it, it is that of the shortest time,
// with the noise of any and the memory of the fullest: the member that began
// last, whose kernels waited for nobody. Otherwise it is that of the first that
// did not. A program that ends a member's runner in the last try, in which it
// is alone, has that as its result. A word that comes out of turn changes
// nothing. The members are taken all at once or not at all, under the queue's
// lock. So no gang holds a worker while it waits for another one, and no two
// wait for each other (job_queue_gangs.cc). In → Out: what the members say →
// when they go, and results. Nothing here reads a clock or sends a word.
// Threads: one at a time; the queue's lock guards it. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_GANGS_GANG_H_
#define MESHWRIGHT_COORDINATOR_JOBS_GANGS_GANG_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::jobs::gangs {

struct GangOptions {
  // From the beginning until every member is at the gate.
  absl::Duration ready_time = absl::Minutes(2);
  // Of a member that runs: longer than a runner waits for anything on its own
  // machine (worker/sandbox/runner_process.cc).
  absl::Duration silence = absl::Minutes(25);
};

// A member that keeps the others waiting, and why.
struct Holdup {
  int rank = 0;
  std::string reason;
};

class Gang {
 public:
  enum class State { kPreparing, kRunning, kOver };

  // `keys`: of the programs that all of them run.
  Gang(int size, const std::vector<std::string>& keys, absl::Time now,
       GangOptions options);

  State state() const { return state_; }
  int size() const { return static_cast<int>(members_.size()); }

  // The member says something.
  void Hear(int rank, absl::Time now) { members_[rank].heard = now; }
  // It is at the gate. True: with it all are, and all may go.
  bool Arrive(int rank, absl::Time now);
  // A result of the member's. Returns the program's, once all have one.
  std::optional<v1::ProfileResult> Add(int rank,
                                       const v1::ProfileResult& result);
  // The member is finished. False: it leaves programs behind, so the gang is
  // broken.
  bool Finish(int rank);
  // Of a gang of one program, the first member's result that its runner may
  // have ended in; nullopt: there is none. Add() does not return it: who says
  // one may be dead by now.
  std::optional<v1::ProfileResult> FindDeath() const;
  // Where the gang gets no further.
  std::optional<Holdup> FindHoldup(absl::Time now) const;

 private:
  struct Member {
    absl::Time heard;
    bool is_at_gate = false;
    bool is_finished = false;
    int results = 0;
  };
  struct Program {
    std::vector<std::optional<v1::ProfileResult>> results;  // by rank
    int count = 0;
  };

  const GangOptions options_;
  const absl::Time began_;
  State state_ = State::kPreparing;
  std::vector<Member> members_;
  std::map<std::string, Program> programs_;
};

}  // namespace meshwright::jobs::gangs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_GANGS_GANG_H_
