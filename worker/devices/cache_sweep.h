// CacheSweep: takes a program's data out of the caches of the processors.
//
// Concept: a program that runs twice in a row finds its data in the caches that
// a core has for itself. In a step it does not: the segments before it, the
// other layers, went through them. So before a run that is recorded every core
// reads more than these caches hold. The cache that all cores share keeps what
// it has; a step of many layers finds part of its data there, too.
//   Start gives none in a container with a CPU quota, which the threads would
// use up, and where a core cannot be taken.
// Ownership: a thread per core, joined by the destructor.
// Threads: one calls Run.
// Source: measured, docs/decisions/measuring.md.
#ifndef MESHWRIGHT_WORKER_DEVICES_CACHE_SWEEP_H_
#define MESHWRIGHT_WORKER_DEVICES_CACHE_SWEEP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace meshwright::worker::devices {

class CacheSweep {
 public:
  // Of the cores that this process may run on.
  static std::unique_ptr<CacheSweep> Start();
  explicit CacheSweep(const std::vector<int>& cores);
  ~CacheSweep();
  CacheSweep(const CacheSweep&) = delete;
  CacheSweep& operator=(const CacheSweep&) = delete;

  // Returns when every core has read all of the scratch: a millisecond or two.
  void Run();

  int64_t bytes() const { return static_cast<int64_t>(scratch_.size()); }
  int64_t reads() const { return reads_; }  // by all cores, all runs

 private:
  void Serve(int core);

  std::vector<char> scratch_;  // which all read, and none writes
  std::atomic<int> round_ = 0;
  std::atomic<int> busy_ = 0;
  std::atomic<int64_t> reads_ = 0;
  std::atomic<bool> ends_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace meshwright::worker::devices

#endif  // MESHWRIGHT_WORKER_DEVICES_CACHE_SWEEP_H_
