// ComesTrue: waits for what another thread or process does, with an end.
//
// Concept: a test that waits for ever does not say for what; this one fails at
// its line: ASSERT_TRUE(ComesTrue([&] { return !queue.Workers().empty(); })).
// Threads: any. The caller yields its core between two questions.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_COMES_TRUE_H_
#define MESHWRIGHT_TESTS_INTEGRATION_COMES_TRUE_H_

#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace meshwright::integration {

template <typename Question>
[[nodiscard]] bool ComesTrue(const Question& question) {
  const absl::Time end = absl::Now() + absl::Minutes(1);
  while (!question()) {
    if (absl::Now() >= end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_COMES_TRUE_H_
