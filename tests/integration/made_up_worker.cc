// made-up-worker: a worker process without devices, for tests that kill it.
//
//   made-up-worker ADDRESS NAME LOG
//   made-up-worker JOB RESULTS --parent PID ...     as its own runner
//
// It is the worker daemon (worker/service, worker/sandbox) with a made-up
// machine in the runner, whose row for a program is always the same. Before it
// hands a row in it appends the program's key to LOG, a line that outlives it.
// Keys that it is given are lines of LOG.leases, and so are those of results
// that are acknowledged, as "acknowledged KEY". Failpoints (base/failpoint.h):
// worker.leased, worker.measured, worker.answered, worker.finished.
// MADE_UP_RUNNER_KILLS=SEED: it kills the runner of a batch once, at a result
// that the seed draws, and appends a line to LOG.runners. SIGTERM drains it.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/failpoint.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log/log_context.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "proto/v1/services.pb.h"
#include "worker/sandbox/event_stream.h"
#include "worker/sandbox/runner_process.h"
#include "worker/service/worker.h"

namespace meshwright::integration {
namespace {

// ---- the runner

v1::RunnerEvent MakeReady(const v1::RunnerRequest& request) {
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

absl::Status MeasureJob(const std::string& job,
                        worker::sandbox::EventWriter& events) {
  ASSIGN_OR_RETURN(const std::string content, base::ReadFile(job));
  v1::RunnerRequest request;
  if (!request.ParseFromString(content)) {
    return absl::InvalidArgumentError(job + " is no job file");
  }
  events.Write(MakeReady(request));
  jobs::FakeMeasurer machine;
  machine.machine = 7;
  for (const v1::Program& program : request.programs()) {
    events.Started(program.key(), v1::RunnerEvent::Started::MEASURE);
    ASSIGN_OR_RETURN(const store::Results row, machine.MeasureAll({program}));
    events.Result(row.at(program.key()));
  }
  return events.status();
}

int RunAsRunner(const std::string& job, const std::string& results,
                const char* parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != std::atoi(parent)) return 1;  // it was killed before
  const auto events = worker::sandbox::EventWriter::Open(results);
  if (!events.ok()) return 2;
  v1::RunnerEvent finished;
  finished.mutable_finished()->set_error(
      std::string(MeasureJob(job, **events).message()));
  (*events)->Write(finished);
  return (*events)->status().ok() ? 0 : 1;
}

// ---- the worker

void AppendLine(int file, const std::string& text) {
  const std::string line = text + "\n";
  if (write(file, line.data(), line.size()) !=
      static_cast<ssize_t>(line.size())) {
    std::perror("made-up-worker: the log cannot be written");
    _exit(1);
  }
}

// What coordinators gave to this worker and acknowledged, for LOG.leases.
//   A result counts as acknowledged where its lease was given and acknowledged
// on one connection, and not cancelled in between. A coordinator may drop what
// a cancelled plan had measured, and what no plan asks for after a restart.
// Threads: any.
class LeaseLog {
 public:
  explicit LeaseLog(int log) : log_(log) {}

  void Hear(const v1::CoordinatorMessage& said) ABSL_LOCKS_EXCLUDED(mutex_) {
    base::MutexLock lock(&mutex_);
    if (said.has_welcome()) results_.clear();
    if (said.has_cancel()) results_.erase(said.cancel().job_id());
    if (said.has_batch()) {
      results_.try_emplace(said.batch().job_id());
      for (const v1::Program& program : said.batch().request().programs()) {
        AppendLine(log_, program.key());
      }
    }
    if (!said.has_acknowledge()) return;
    const auto lease = results_.find(said.acknowledge().job_id());
    if (lease == results_.end()) return;
    for (const std::string& key : lease->second) {
      AppendLine(log_, "acknowledged " + key);
    }
    results_.erase(lease);
  }

  void Add(const std::string& lease, const v1::ProfileResult& result)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    base::MutexLock lock(&mutex_);
    const auto held = results_.find(lease);
    if (held == results_.end() || result.outcome() != v1::MEASURED) return;
    held->second.push_back(result.key());
  }

 private:
  const int log_;
  base::Mutex mutex_;
  // Keys that were measured, by lease.
  std::map<std::string, std::vector<std::string>> results_
      ABSL_GUARDED_BY(mutex_);
};

class MadeUpBatches {
 public:
  MadeUpBatches(int log, int kills_log, LeaseLog* leases)
      : log_(log), kills_log_(kills_log), leases_(leases) {
    const char* const seed = std::getenv("MADE_UP_RUNNER_KILLS");
    if (seed != nullptr) random_.emplace(std::strtoull(seed, nullptr, 10));
  }

  absl::Status Run(const v1::RunnerRequest& request,
                   const worker::OnRunnerEvent& on_event,
                   const std::stop_token& stop) {
    const std::string lease = base::LogScope::Current().lease;
    const bool is_empty = request.programs().empty();
    if (!is_empty) base::Failpoint("worker.leased");
    int results = 0;
    const int fatal = random_.has_value() ? 1 + (*random_)() % kLongestLife : 0;
    pid_t runner = -1;
    worker::sandbox::RunOptions options;
    options.runner_path = std::filesystem::read_symlink("/proc/self/exe");
    options.stop = stop;
    options.on_child = [&](int pid) { runner = pid; };
    RETURN_IF_ERROR(worker::sandbox::RunBatch(
        request,
        [&](const v1::RunnerEvent& event) {
          if (!event.has_result()) return on_event(event);
          AppendLine(log_, event.result().key());
          leases_->Add(lease, event.result());
          base::Failpoint("worker.measured");
          on_event(event);
          base::Failpoint("worker.answered");
          // It is somewhere in the programs that follow.
          if (++results != fatal) return;
          AppendLine(kills_log_, event.result().key());
          kill(runner, SIGKILL);
        },
        options));
    if (!is_empty) base::Failpoint("worker.finished");
    return absl::OkStatus();
  }

 private:
  static constexpr int kLongestLife = 40;  // of a runner, in results

  const int log_;
  const int kills_log_;
  LeaseLog* const leases_;
  std::optional<std::mt19937_64> random_;
};

int OpenLog(const std::string& path) {
  const int log =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) std::perror(path.c_str());
  return log;
}

int Main(int argc, char** argv) {
  if (argc > 4 && std::string(argv[3]) == "--parent") {
    return RunAsRunner(argv[1], argv[2], argv[4]);
  }
  if (argc != 4) {
    std::fprintf(stderr, "made-up-worker ADDRESS NAME LOG\n");
    return 2;
  }
  const int log = OpenLog(argv[3]);
  const int kills_log = OpenLog(std::string(argv[3]) + ".runners");
  const int leases_log = OpenLog(std::string(argv[3]) + ".leases");
  if (log < 0 || kills_log < 0 || leases_log < 0) return 1;
  worker::sandbox::SweepJobFolders();
  LeaseLog leases(leases_log);
  MadeUpBatches batches(log, kills_log, &leases);
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
    return batches.Run(request, on_event, stop);
  };
  dependencies.on_message = [&](const v1::CoordinatorMessage& said) {
    leases.Hear(said);
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
