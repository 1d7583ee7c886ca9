// ProgressPage: what a runner times or has compiled, in shared memory.
//
// Concept: a page of memory that parent and child share. Between timed runs,
// and after every compilation, the child stores numbers there. That costs
// nanoseconds where an event costs a system call and wakes the parent. The
// parent reads them when the child is silent (does it still take turns?) or has
// died (in which program?).
// Ownership: the parent makes the page and hands its file to the child, which
// opens it. Threads: any, both sides.
// Errors: errno's, where the page cannot be made or mapped.
#ifndef MESHWRIGHT_WORKER_SANDBOX_PROGRESS_PAGE_H_
#define MESHWRIGHT_WORKER_SANDBOX_PROGRESS_PAGE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"

namespace meshwright::worker::sandbox {

class ProgressPage {
 public:
  // A new page, all zeros, in a file of its own.
  static absl::StatusOr<std::unique_ptr<ProgressPage>> Make();
  // Takes the file over.
  static absl::StatusOr<std::unique_ptr<ProgressPage>> Open(int file);
  ~ProgressPage();
  ProgressPage(const ProgressPage&) = delete;
  ProgressPage& operator=(const ProgressPage&) = delete;

  int file() const { return file_; }

  // A run that is of no program of the request: an anchor's.
  static constexpr int kOther = -2;

  // The child: a program is through the compiler, however that went.
  void EndCompile() {
    numbers_->compiled.fetch_add(1, std::memory_order_release);
  }
  // The child: a run of program `number` of the request begins.
  void BeginRun(int number) {
    numbers_->program.store(number + 1, std::memory_order_relaxed);
    numbers_->runs.fetch_add(1, std::memory_order_release);
  }
  void BeginOtherRun() { BeginRun(kOther); }
  // No program is being timed.
  void EndRuns() { numbers_->program.store(0, std::memory_order_release); }

  // The parent.
  int64_t compiled() const {
    return numbers_->compiled.load(std::memory_order_acquire);
  }
  int64_t runs() const {
    return numbers_->runs.load(std::memory_order_acquire);
  }
  // The number of the program that is being timed; nullopt: none. kOther for
  // another run.
  std::optional<int> program() const {
    const int number = numbers_->program.load(std::memory_order_acquire);
    if (number == 0) return std::nullopt;
    return number - 1;
  }

 private:
  // The kernel gives it out as zeros.
  struct Numbers {
    std::atomic<int64_t> runs;
    std::atomic<int32_t> program;  // its number + 1; 0: none
    // Behind those that a worker of before reads.
    std::atomic<int64_t> compiled;
  };
  static_assert(std::atomic<int64_t>::is_always_lock_free);

  ProgressPage(int file, Numbers* numbers) : file_(file), numbers_(numbers) {}

  const int file_;
  Numbers* const numbers_;
};

}  // namespace meshwright::worker::sandbox

#endif  // MESHWRIGHT_WORKER_SANDBOX_PROGRESS_PAGE_H_
