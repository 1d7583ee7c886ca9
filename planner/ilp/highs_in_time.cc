#include "planner/ilp/highs_in_time.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "base/mutex.h"

namespace meshwright::ilp {
namespace {

using Clock = std::chrono::steady_clock;

// Between two looks at `is_over`.
constexpr std::chrono::milliseconds kLook{1};
// Runs left behind that may still go on; with as many no other begins.
constexpr size_t kMostLeft = 4;

// What the two threads share.
class Job {
 public:
  explicit Job(std::shared_ptr<const Linear> linear, HighsOptions options)
      : linear_(std::move(linear)), options_(std::move(options)) {
    options_.is_over = [this] { return is_stopped_.load(); };
  }

  void Run() {
    auto answer = RunHighs(*linear_, options_);
    const base::MutexLock lock(&mutex_);
    answer_ = std::move(answer);
    is_done_ = true;
  }

  void Stop() { is_stopped_ = true; }

  // Waits for so long at most.
  bool IsDone(Clock::duration longest) {
    const base::MutexLock lock(&mutex_);
    return mutex_.AwaitWithTimeout(absl::Condition(&is_done_),
                                   absl::FromChrono(longest));
  }

  absl::StatusOr<HighsAnswer> Take() {
    const base::MutexLock lock(&mutex_);
    return *std::move(answer_);
  }

 private:
  const std::shared_ptr<const Linear> linear_;
  HighsOptions options_;
  std::atomic<bool> is_stopped_ = false;
  base::Mutex mutex_;
  bool is_done_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::StatusOr<HighsAnswer>> answer_ ABSL_GUARDED_BY(mutex_);
};

class LeftBehind {
 public:
  ~LeftBehind() {
    for (Left& left : left_) left.thread.join();
  }

  void Add(std::shared_ptr<Job> job, std::thread thread) {
    const base::MutexLock lock(&mutex_);
    left_.push_back({std::move(job), std::move(thread)});
  }

  bool IsFull() {
    const base::MutexLock lock(&mutex_);
    std::erase_if(left_, [](Left& left) {
      if (!left.job->IsDone(Clock::duration::zero())) return false;
      left.thread.join();
      return true;
    });
    return left_.size() >= kMostLeft;
  }

 private:
  struct Left {
    std::shared_ptr<Job> job;
    std::thread thread;
  };

  base::Mutex mutex_;
  std::vector<Left> left_ ABSL_GUARDED_BY(mutex_);
};

LeftBehind& TheLeftBehind() {
  static LeftBehind left;
  return left;
}

// Whether it was done before the options said stop.
bool Await(Job& job, const HighsOptions& options) {
  const auto begin = Clock::now();
  while (!job.IsDone(kLook)) {
    if (options.is_over && options.is_over()) return false;
    if (options.seconds.has_value() &&
        std::chrono::duration<double>(Clock::now() - begin).count() >=
            *options.seconds) {
      return false;
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<HighsAnswer> RunHighsInTime(std::shared_ptr<const Linear> linear,
                                           const HighsOptions& options) {
  if (!options.is_over && !options.seconds.has_value()) {
    return RunHighs(*linear, options);
  }
  if (TheLeftBehind().IsFull()) return HighsAnswer{};
  const auto job = std::make_shared<Job>(std::move(linear), options);
  std::thread thread([job] { job->Run(); });
  if (!Await(*job, options)) {
    job->Stop();
    if (!job->IsDone(kGrace)) {
      TheLeftBehind().Add(job, std::move(thread));
      return HighsAnswer{};
    }
  }
  thread.join();
  return job->Take();
}

}  // namespace meshwright::ilp
