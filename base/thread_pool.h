// ThreadPool and ParallelFor: the one way to spread calls over threads.
//
// Concept: boost::asio::thread_pool behind plain functions. A thread with a
// loop of its own (a socket, a watcher, a child's reader) is a std::jthread.
// Threads: Post from any thread; calls must not throw. Errors: none.
#ifndef MESHWRIGHT_BASE_THREAD_POOL_H_
#define MESHWRIGHT_BASE_THREAD_POOL_H_

#include <functional>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace meshwright::base {

class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();  // joins
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls are begun in their order, each on one of the threads.
  void Post(std::function<void()> call);
  // True once no call runs or waits, false if some still do after `timeout`.
  bool AwaitIdle(absl::Duration timeout);
  // Returns when every call has; no Post may follow.
  void Join();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// work(0), ..., work(count - 1) on at most `threads` threads, the caller's
// among them; 0: as many as there are processors. Returns when all are done.
// `work` is called from several threads at once, in no order.
void ParallelFor(int count, absl::FunctionRef<void(int)> work, int threads = 0);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_THREAD_POOL_H_
