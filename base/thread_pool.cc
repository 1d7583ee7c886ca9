#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <thread>
#include <utility>

#include "base/mutex.h"

namespace meshwright::base {

struct ThreadPool::State {
  explicit State(size_t threads) : pool(threads) {}

  void Count(int change) {
    const MutexLock lock(&mutex);
    calls += change;
    is_idle = calls == 0;
  }

  Mutex mutex;
  int calls ABSL_GUARDED_BY(mutex) = 0;
  bool is_idle ABSL_GUARDED_BY(mutex) = true;
  boost::asio::thread_pool pool;
};

ThreadPool::ThreadPool(int threads)
    : state_(std::make_unique<State>(std::max(threads, 1))) {}

ThreadPool::~ThreadPool() { Join(); }

void ThreadPool::Post(std::function<void()> call) {
  state_->Count(1);
  boost::asio::post(state_->pool,
                    [state = state_.get(), call = std::move(call)] {
                      call();
                      state->Count(-1);
                    });
}

bool ThreadPool::AwaitIdle(absl::Duration timeout) {
  const MutexLock lock(&state_->mutex);
  return state_->mutex.AwaitWithTimeout(absl::Condition(&state_->is_idle),
                                        timeout);
}

void ThreadPool::Join() { state_->pool.join(); }

void ParallelFor(int count, absl::FunctionRef<void(int)> work, int threads) {
  std::atomic<int> next = 0;
  const auto run = [&] {
    for (int i = next++; i < count; i = next++) work(i);
  };
  if (threads <= 0) {
    threads = static_cast<int>(std::thread::hardware_concurrency());
  }
  const int others = std::min(threads, count) - 1;
  if (others <= 0) return run();
  ThreadPool pool(others);
  for (int i = 0; i < others; ++i) pool.Post(run);
  run();
}

}  // namespace meshwright::base
