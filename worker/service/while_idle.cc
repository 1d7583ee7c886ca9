#include "worker/service/while_idle.h"

#include <memory>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log/log.h"
#include "base/stop_wait.h"
#include "worker/service/idle_watch.h"
#include "worker/service/worker.h"

namespace meshwright::worker {
namespace {

// Ends what it is given with either of two stops.
BatchFunction StopWith(BatchFunction run, std::stop_token other) {
  return [run = std::move(run), other = std::move(other)](
             const v1::RunnerRequest& request, const OnRunnerEvent& on_event,
             const std::stop_token& stop) {
    // Not on the stack, where GCC 12 takes it for uninitialized.
    const auto either = std::make_unique<std::stop_source>();
    const auto end = [&either] { either->request_stop(); };
    const std::stop_callback one(stop, end);
    const std::stop_callback another(other, end);
    return run(request, on_event, either->get_token());
  };
}

class IdleServer {
 public:
  IdleServer(const WorkerDependencies& dependencies,
             const WhileIdleOptions& options)
      : dependencies_(dependencies),
        options_(options),
        watch_({options.idle_for, options.busy_for}) {}

  absl::Status Serve(const std::stop_token& stop) {
    bool has_served = false;
    while (!stop.stop_requested() && AwaitVerdict(true, stop)) {
      absl::Status status = ServeOnce(stop);
      if (status.ok()) {
        has_served = true;
        continue;
      }
      if (!has_served) return status;
      base::LogInfo(
          "worker ", dependencies_.name,
          ": its devices do not open, somebody has them: ", status.message());
      watch_ = IdleWatch({options_.idle_for, options_.busy_for});
    }
    return absl::OkStatus();
  }

 private:
  // Looks until the worker may serve, or may not. False: a stop came first.
  bool AwaitVerdict(bool may_serve, const std::stop_token& stop) {
    do {
      options_.alive();
      std::string user = options_.find_user();
      const bool is_used = !user.empty();
      if (is_used) user_ = std::move(user);
      if (watch_.Look(clock_.Now(), is_used) == may_serve) return true;
    } while (base::WaitFor(options_.look, stop));
    return false;
  }

  absl::Status ServeOnce(const std::stop_token& stop) {
    base::LogInfo("worker ", dependencies_.name, ": its devices are idle");
    std::stop_source leave;
    const std::stop_callback stopped(stop, [&] { leave.request_stop(); });
    std::jthread looks([&](const std::stop_token& over) {
      if (!AwaitVerdict(false, over)) return;
      base::LogInfo("worker ", dependencies_.name, ": it leaves, as ", user_,
                    " has its devices");
      leave.request_stop();
    });
    WorkerDependencies own = dependencies_;
    own.run_batch = StopWith(dependencies_.run_batch, leave.get_token());
    Worker worker(std::move(own));
    absl::Status status = worker.Start();
    if (leave.stop_requested()) return absl::OkStatus();
    if (!status.ok()) return status;
    const std::stop_callback leaves(leave.get_token(), [&] { worker.Stop(); });
    worker.Wait();
    return absl::OkStatus();
  }

  const WorkerDependencies& dependencies_;
  const WhileIdleOptions& options_;
  const base::SteadyClock clock_;
  IdleWatch watch_;
  std::string user_;  // the last one
};

}  // namespace

absl::Status ServeWhileIdle(const WorkerDependencies& dependencies,
                            const WhileIdleOptions& options,
                            const std::stop_token& stop) {
  return IdleServer(dependencies, options).Serve(stop);
}

}  // namespace meshwright::worker
