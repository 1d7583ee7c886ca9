// ParallelFor: work(0), ..., work(count - 1), on at most `threads` threads, the
// caller's among them; 0: as many as there are processors. Returns when all are
// done. `work` is called from several threads at once, in no order, and must
// not throw.
#ifndef MESHWRIGHT_BASE_PARALLEL_FOR_H_
#define MESHWRIGHT_BASE_PARALLEL_FOR_H_

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace meshwright::base {

template <typename Work>
void ParallelFor(int count, const Work& work, int threads = 0) {
  std::atomic<int> next = 0;
  const auto run = [&] {
    for (int i = next++; i < count; i = next++) work(i);
  };
  if (threads <= 0) {
    threads = static_cast<int>(std::thread::hardware_concurrency());
  }
  std::vector<std::jthread> others;
  for (int i = 1; i < std::min(threads, count); ++i) others.emplace_back(run);
  run();
}

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_PARALLEL_FOR_H_
