#include "worker/devices/cache_sweep.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "worker/devices/cores.h"

namespace meshwright::worker::devices {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kUnknownCache = int64_t{2} << 20;

// Four times the largest cache of a core alone: one that is not strictly of
// least recent use keeps nothing of before then.
int64_t CountScratchBytes() {
  const int64_t cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return 4 * std::clamp(cache > 0 ? cache : kUnknownCache, int64_t{1} << 18,
                        int64_t{1} << 24);
}

}  // namespace

std::unique_ptr<CacheSweep> CacheSweep::Start() {
  const std::vector<int> cores = ListOwnCores();
  return cores.empty() ? nullptr : std::make_unique<CacheSweep>(cores);
}

CacheSweep::CacheSweep(const std::vector<int>& cores)
    : scratch_(CountScratchBytes(), 1) {
  for (const int core : cores) {
    threads_.emplace_back([this, core] { Serve(core); });
  }
}

CacheSweep::~CacheSweep() {
  ends_ = true;
  ++round_;
  round_.notify_all();
}

void CacheSweep::Run() {
  busy_ = static_cast<int>(threads_.size());
  ++round_;
  round_.notify_all();
  for (int left = busy_; left > 0; left = busy_) busy_.wait(left);
}

void CacheSweep::Serve(int core) {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(core, &here);
  // Where it cannot be had, the thread reads on another: no run waits for it.
  pthread_setaffinity_np(pthread_self(), sizeof(here), &here);
  for (int seen = 0; true; ++seen) {
    round_.wait(seen);
    if (ends_) return;
    int64_t sum = 0;
    for (size_t at = 0; at < scratch_.size(); at += kLine) sum += scratch_[at];
    reads_ += sum;
    if (--busy_ == 0) busy_.notify_all();
  }
}

}  // namespace meshwright::worker::devices
