// CpuTime: what a process or a thread has run so far; other programs of the
// machine do not count.
#ifndef MESHWRIGHT_TESTS_BENCH_CPU_TIME_H_
#define MESHWRIGHT_TESTS_BENCH_CPU_TIME_H_

#include <chrono>
#include <ctime>

namespace meshwright {

inline std::chrono::duration<double> CpuTime(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) +
         std::chrono::nanoseconds(now.tv_nsec);
}

// Of all threads of this process.
inline double CpuSeconds() { return CpuTime(CLOCK_PROCESS_CPUTIME_ID).count(); }

}  // namespace meshwright

#endif  // MESHWRIGHT_TESTS_BENCH_CPU_TIME_H_
