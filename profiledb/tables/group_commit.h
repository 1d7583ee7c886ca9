// GroupCommit: many writers, one transaction, one wait for the disk.
//
// Concept: a writer queues its work. The writer at the head becomes the leader,
// runs everything queued in one transaction and gives each its status.
// Meanwhile later ones queue up behind for the next transaction.
//
//   A ─┐                       ┌─ A: OK
//   B ─┼─▶ A leads: begin, A B C, commit ─┼─ B: OK      D leads the next
//   C ─┘                       └─ C: OK
//
// Threads: Write from any; `transact` runs on one of them, never two at once.
// Errors: those of `transact` and of the work. A work that fails undoes the
// transaction; the others of it run again without that work, so that a work may
// run more than once before its transaction commits. A store that is away, and
// a commit that fails, fail all in the transaction. Source: leveldb's
// DBImpl::Write.
#ifndef MESHWRIGHT_PROFILEDB_TABLES_GROUP_COMMIT_H_
#define MESHWRIGHT_PROFILEDB_TABLES_GROUP_COMMIT_H_

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"

namespace meshwright::tables {

class GroupCommit {
 public:
  using Work = std::function<absl::Status()>;
  // Runs the work given to it within one transaction.
  using Transact = std::function<absl::Status(const Work&)>;

  explicit GroupCommit(Transact transact) : transact_(std::move(transact)) {}

  // Returns when `work` is durable, or has failed.
  absl::Status Write(const Work& work) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Waiter {
    const Work* work;
    absl::Status status;
    bool is_done = false;
  };

  // Gives each its status.
  void Commit(std::vector<Waiter*> group) const;

  const Transact transact_;
  base::Mutex mutex_;
  std::deque<Waiter*> queue_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::tables

#endif  // MESHWRIGHT_PROFILEDB_TABLES_GROUP_COMMIT_H_
