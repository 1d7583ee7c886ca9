#include "worker/timing/awake_cores.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <optional>

#include "worker/timing/cpu_quota.h"

namespace meshwright::worker::timing {
namespace {

absl::Duration ReadClock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return absl::DurationFromTimespec(now);
}

// To the core's other thread, and to a hypervisor, that nothing is done here.
void Rest() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether the calling thread now runs only where nothing else wants to.
bool BecomeIdle() {
  const sched_param parameters{};
  return pthread_setschedparam(pthread_self(), SCHED_IDLE, &parameters) == 0;
}

}  // namespace

std::vector<int> CoresToKeepAwake() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return {};
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  const std::optional<double> quota = CpuQuota();
  if (quota.has_value() && *quota < static_cast<double>(cores.size())) {
    return {};
  }
  bool idle = false;
  std::thread([&idle] { idle = BecomeIdle(); }).join();
  if (!idle) return {};
  return cores;
}

AwakeCores::AwakeCores(const std::vector<int>& cores) {
  for (const int core : cores) {
    threads_.emplace_back([this, core] { Turn(core); });
    clockid_t clock;
    if (pthread_getcpuclockid(threads_.back().native_handle(), &clock) == 0) {
      clocks_.push_back(clock);
    }
  }
}

AwakeCores::~AwakeCores() {
  Set(kGone);
  for (std::thread& thread : threads_) thread.join();
}

absl::Duration AwakeCores::WorkTime() const {
  absl::Duration time = ReadClock(CLOCK_PROCESS_CPUTIME_ID);
  for (const clockid_t clock : clocks_) time -= ReadClock(clock);
  return time;
}

void AwakeCores::Set(Wanted wanted) {
  wanted_.store(wanted, std::memory_order_relaxed);
  wanted_.notify_all();
}

void AwakeCores::Turn(int core) {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(core, &here);
  const bool pinned =
      pthread_setaffinity_np(pthread_self(), sizeof(here), &here) == 0;
  if (!pinned || !BecomeIdle()) return;
  while (true) {
    wanted_.wait(kAsleep, std::memory_order_relaxed);
    Wanted now = wanted_.load(std::memory_order_relaxed);
    for (; now == kAwake; now = wanted_.load(std::memory_order_relaxed)) {
      Rest();
    }
    if (now == kGone) return;
  }
}

}  // namespace meshwright::worker::timing
