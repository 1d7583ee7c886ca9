// LineQueue: lines that one thread writes, so that nobody else waits for it.
//
// Concept: whoever says something may hold a lock, and the pipe or the disk
// that takes it may stand still. So lines wait in memory, a bounded number of
// them; beyond it new ones are dropped, and counted. The count is said with the
// next line that is written.
// Threads: Add and Flush from any. `write` is called on one thread, its own.
// Ownership: at the end what waits is written; a write that does not return
// keeps the queue.
// Errors: none; a line that was dropped gives false.
#ifndef MESHWRIGHT_BASE_LOG_LINE_QUEUE_H_
#define MESHWRIGHT_BASE_LOG_LINE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "base/mutex.h"

namespace meshwright::base {

class LineQueue {
 public:
  // `dropped`: how many lines were, since the one before.
  using Write = std::function<void(const std::string& line, int64_t dropped)>;

  LineQueue(size_t capacity, Write write);
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  // Never waits. False: the line was dropped.
  bool Add(std::string line) ABSL_LOCKS_EXCLUDED(mutex_);
  // True once all lines of before are written, false after `timeout`.
  bool Flush(absl::Duration timeout) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  const size_t capacity_;
  const Write write_;
  Mutex mutex_;
  std::deque<std::string> lines_ ABSL_GUARDED_BY(mutex_);
  int64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t added_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t written_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // last: joined before the rest is destroyed
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_LOG_LINE_QUEUE_H_
