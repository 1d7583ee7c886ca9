#include "base/log/line_queue.h"

#include <utility>

namespace meshwright::base {

LineQueue::LineQueue(size_t capacity, Write write)
    : capacity_(capacity),
      write_(std::move(write)),
      thread_([this] { Run(); }) {}

LineQueue::~LineQueue() {
  MutexLock lock(&mutex_);
  is_over_ = true;
}

bool LineQueue::Add(std::string line) {
  MutexLock lock(&mutex_);
  if (lines_.size() >= capacity_) {
    ++dropped_;
    return false;
  }
  lines_.push_back(std::move(line));
  ++added_;
  return true;
}

bool LineQueue::Flush(absl::Duration timeout) {
  MutexLock lock(&mutex_);
  const auto are_written = [this, end = added_]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(
                               mutex_) { return written_ >= end; };
  return mutex_.AwaitWithTimeout(absl::Condition(&are_written), timeout);
}

void LineQueue::Run() {
  const auto is_woken = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return is_over_ || !lines_.empty();
  };
  while (true) {
    std::string line;
    int64_t dropped = 0;
    {
      MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&is_woken));
      if (lines_.empty()) return;
      line = std::move(lines_.front());
      lines_.pop_front();
      dropped = std::exchange(dropped_, 0);
    }
    write_(line, dropped);
    MutexLock lock(&mutex_);
    ++written_;
  }
}

}  // namespace meshwright::base
