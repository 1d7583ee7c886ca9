// ParallelFor: calls work(i) for i in [0, count) on at most `threads` threads,
// the caller's among them. Returns when all are done. `work` does not throw.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_PARALLEL_FOR_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_PARALLEL_FOR_H_

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace meshwright::checkpoint {

template <typename Work>
void ParallelFor(int count, int threads, const Work& work) {
  std::atomic<int> next = 0;
  const auto run = [&] {
    for (int i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  for (int i = 1; i < std::min(threads, count); ++i) others.emplace_back(run);
  run();
}

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_PARALLEL_FOR_H_
