// made-up-worker: a worker process without devices, for tests that kill it.
//
//   made-up-worker ADDRESS NAME LOG
//
// It is the worker daemon (worker/service) with a made-up machine in the
// runner's place, whose row for a program is always the same. Before it hands a
// row in it appends the program's key to LOG, a line that outlives it.
// Failpoints (base/failpoint.h): worker.leased, worker.measured,
// worker.answered, worker.finished. SIGTERM drains it.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "base/failpoint.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "worker/service/worker.h"

namespace meshwright::integration {
namespace {

class MadeUpRunner {
 public:
  explicit MadeUpRunner(int log) : log_(log) { machine_.machine = 7; }

  absl::Status Run(const v1::RunnerRequest& request,
                   const worker::OnRunnerEvent& on_event,
                   const std::stop_token& stop) {
    on_event(MakeReady(request));
    if (request.programs().empty()) return absl::OkStatus();
    base::Failpoint("worker.leased");
    RETURN_IF_ERROR(machine_.Measure(
        request,
        [&](const v1::ProfileResult& result) {
          if (stop.stop_requested()) return absl::CancelledError("stopped");
          return Answer(result, on_event);
        },
        nullptr));
    base::Failpoint("worker.finished");
    return absl::OkStatus();
  }

 private:
  static v1::RunnerEvent MakeReady(const v1::RunnerRequest& request) {
    v1::RunnerEvent event;
    v1::RunnerEvent::Ready& ready = *event.mutable_ready();
    ready.set_platform_name("cpu");
    ready.set_platform_version("made up 1");
    ready.set_device_count(request.device().device_count());
    ready.set_device_kind("made up");
    ready.mutable_fingerprint()->set_platform("cpu");
    ready.mutable_fingerprint()->set_device_kind("made up");
    return event;
  }

  absl::Status Answer(const v1::ProfileResult& result,
                      const worker::OnRunnerEvent& on_event) const {
    const std::string line = result.key() + "\n";
    if (write(log_, line.data(), line.size()) !=
        static_cast<ssize_t>(line.size())) {
      return absl::InternalError("the log cannot be written");
    }
    base::Failpoint("worker.measured");
    v1::RunnerEvent event;
    *event.mutable_result() = result;
    on_event(event);
    base::Failpoint("worker.answered");
    return absl::OkStatus();
  }

  const int log_;
  jobs::FakeMeasurer machine_;
};

int Main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "made-up-worker ADDRESS NAME LOG\n");
    return 2;
  }
  const int log =
      open(argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) {
    std::perror(argv[3]);
    return 1;
  }
  MadeUpRunner runner(log);
  worker::Worker::Dependencies dependencies;
  dependencies.coordinator_address = argv[1];
  dependencies.name = argv[2];
  dependencies.host = "here";
  dependencies.devices.set_platform("cpu");
  dependencies.devices.set_device_count(8);
  dependencies.first_backoff = absl::Milliseconds(10);
  dependencies.longest_backoff = absl::Milliseconds(50);
  dependencies.run_batch = [&](const v1::RunnerRequest& request,
                               const worker::OnRunnerEvent& on_event,
                               std::stop_token stop) {
    return runner.Run(request, on_event, stop);
  };
  worker::Worker worker(std::move(dependencies));
  const base::Interrupt interrupt([&] { worker.Stop(); });
  const absl::Status status = worker.Start();
  if (!status.ok()) {
    std::fprintf(stderr, "made-up-worker: %s\n", status.ToString().c_str());
    return 1;
  }
  const std::stop_callback drain(interrupt.token(), [&] { worker.Drain(); });
  worker.Wait();
  return 0;
}

}  // namespace
}  // namespace meshwright::integration

int main(int argc, char** argv) {
  return meshwright::integration::Main(argc, argv);
}
