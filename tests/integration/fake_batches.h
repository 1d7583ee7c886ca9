// FakeBatches: a runner made of words. A program's label says what becomes of
// it: "crash", "no compile", "hold" (until Release or a stop), else measured.
// Where programs have labels of their own, one is held by its number.
//
// Threads: all methods from any thread.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_FAKE_BATCHES_H_
#define MESHWRIGHT_TESTS_INTEGRATION_FAKE_BATCHES_H_

#include <string>
#include <utility>

#include "base/mutex.h"
#include "worker/service/worker.h"

namespace meshwright::integration {

class FakeBatches {
 public:
  // `before_held`: so many programs run first; -1: none is held by its number.
  explicit FakeBatches(std::string version = "fake 1", int before_held = -1)
      : version_(std::move(version)), before_held_(before_held) {}

  worker::BatchFunction function() {
    return [this](const v1::RunnerRequest& request,
                  const worker::OnRunnerEvent& on_event, std::stop_token stop) {
      const absl::Status status = Run(request, on_event, std::move(stop));
      base::MutexLock lock(&mutex_);
      if (request.programs_size() > 0) ++ended_;
      return status;
    };
  }

  // Until some program is being held.
  void AwaitHeld() {
    base::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&held_));
  }
  void Release() {
    base::MutexLock lock(&mutex_);
    released_ = true;
  }
  // Until so many batches have ended.
  void AwaitEnded(int batches) {
    base::MutexLock lock(&mutex_);
    const auto have_ended = [&] { return ended_ >= batches; };
    mutex_.Await(absl::Condition(&have_ended));
  }
  // Programs that were begun so far.
  int started() {
    base::MutexLock lock(&mutex_);
    return started_;
  }

 private:
  absl::Status Run(const v1::RunnerRequest& request,
                   const worker::OnRunnerEvent& on_event,
                   std::stop_token stop) {
    v1::RunnerEvent ready;
    ready.mutable_ready()->set_platform_name(request.device().platform());
    ready.mutable_ready()->set_platform_version(version_);
    ready.mutable_ready()->set_device_kind("fake");
    ready.mutable_ready()->set_device_count(request.device().device_count());
    on_event(ready);
    for (const v1::Program& program : request.programs()) {
      bool is_held = program.label() == "hold";
      {
        base::MutexLock lock(&mutex_);
        is_held |= started_++ == before_held_;
      }
      v1::RunnerEvent started;
      started.mutable_started()->set_key(program.key());
      on_event(started);
      if (is_held && !Hold(stop)) {
        return absl::CancelledError("the batch was stopped");
      }
      on_event(Result(program, request.has_reference()));
    }
    return absl::OkStatus();
  }

  // False: stopped.
  bool Hold(const std::stop_token& stop) {
    // Its release of the lock wakes the waiter below.
    const std::stop_callback wake(stop,
                                  [this] { base::MutexLock lock(&mutex_); });
    base::MutexLock lock(&mutex_);
    held_ = true;
    const auto may_go = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return released_ || stop.stop_requested();
    };
    mutex_.Await(absl::Condition(&may_go));
    held_ = false;
    return !stop.stop_requested();
  }

  static v1::RunnerEvent Result(const v1::Program& program, bool compared) {
    v1::RunnerEvent event;
    v1::ProfileResult& result = *event.mutable_result();
    result.set_key(program.key());
    result.set_outcome(v1::MEASURED);
    if (program.label() == "crash") {
      result.set_outcome(v1::CRASHED);
      result.set_reason("signal 11");
    } else if (program.label() == "no compile") {
      result.set_outcome(v1::COMPILE_FAILED);
      result.set_reason("unknown opcode");
    } else {
      result.mutable_measurement()->set_minimum_ns(1000);
      result.mutable_measurement()->mutable_memory()->set_peak_bytes(1 << 20);
      if (compared) result.set_max_relative_difference(1e-6);
    }
    return event;
  }

  const std::string version_;
  const int before_held_;
  base::Mutex mutex_;
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  bool released_ ABSL_GUARDED_BY(mutex_) = false;
  int started_ ABSL_GUARDED_BY(mutex_) = 0;
  int ended_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_FAKE_BATCHES_H_
