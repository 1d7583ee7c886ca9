#include "worker/service/worker.h"

#include <grpcpp/grpcpp.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "base/rpc/channel.h"
#include "base/rpc/local_address.h"
#include "base/rpc/rpc_status.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "worker/service/leases.h"
#include "worker/service/session.h"

namespace meshwright::worker {
namespace {

// 256 bits, in hex.
absl::StatusOr<std::string> RandomSecret() {
  char bytes[32];
  if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
    return absl::InternalError("the kernel gives no random bytes");
  }
  return absl::BytesToHexString(absl::string_view(bytes, sizeof(bytes)));
}

}  // namespace

std::string MakeWorkerName() {
  return absl::StrCat(base::ReadHostName(), "-", getpid());
}

absl::StatusOr<v1::RunnerEvent::Ready> DescribeDevices(
    const v1::DeviceSpec& devices, const BatchFunction& run_batch) {
  v1::RunnerRequest request;
  *request.mutable_device() = devices;
  std::optional<v1::RunnerEvent::Ready> ready;
  std::string error;
  RETURN_IF_ERROR(run_batch(request,
                            [&](const v1::RunnerEvent& event) {
                              if (event.has_ready()) ready = event.ready();
                              if (event.has_finished())
                                error = event.finished().error();
                            },
                            {}));
  if (!error.empty()) return absl::FailedPreconditionError(error);
  if (!ready.has_value()) {
    return absl::InternalError("the runner said nothing about its devices");
  }
  return *std::move(ready);
}

// The life of the worker, session after session.
class Worker::Daemon {
 public:
  explicit Daemon(Dependencies dependencies)
      : dependencies_(std::move(dependencies)) {}
  ~Daemon() { Stop(); }

  absl::Status Start();
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_);
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);
  void Wait() ABSL_LOCKS_EXCLUDED(mutex_) {
    base::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&left_));
  }
  bool WaitFor(absl::Duration timeout) ABSL_LOCKS_EXCLUDED(mutex_) {
    base::MutexLock lock(&mutex_);
    return mutex_.AwaitWithTimeout(absl::Condition(&left_), timeout);
  }

 private:
  void Live();
  // The next one to try. `leader`: where the last one sent this worker; empty:
  // nowhere.
  absl::Status Choose(const std::string& leader);
  bool Connect();
  absl::Status RunSession(std::string& leader) ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsDraining() ABSL_LOCKS_EXCLUDED(mutex_) {
    base::MutexLock lock(&mutex_);
    return draining_;
  }
  // True when the worker is to leave rather than wait that long. Leases end
  // meanwhile where their time is over.
  bool LeavesWithin(absl::Duration duration) ABSL_LOCKS_EXCLUDED(mutex_);

  const Dependencies dependencies_;
  v1::WorkerHello hello_;
  std::vector<std::string> addresses_;
  size_t next_ = 0;      // of these
  std::string address_;  // of the channel
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Leases> leases_;

  base::Mutex mutex_;
  Session* session_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;  // no further session
  bool left_ ABSL_GUARDED_BY(mutex_) = true;

  std::jthread thread_;  // last: joined before the rest is destroyed
};

absl::Status Worker::Daemon::Start() {
  base::SilenceGrpc();
  ASSIGN_OR_RETURN(
      const v1::RunnerEvent::Ready ready,
      DescribeDevices(dependencies_.devices, dependencies_.run_batch));
  hello_.set_worker_id(dependencies_.name);
  hello_.set_host(dependencies_.host);
  hello_.set_platform(dependencies_.devices.platform());
  hello_.set_platform_version(ready.platform_version());
  hello_.set_device_kind(ready.device_kind());
  hello_.set_device_count(ready.device_count());
  hello_.set_plugin_path(dependencies_.devices.plugin_path());
  *hello_.mutable_fingerprint() = ready.fingerprint();
  hello_.set_memory_bytes(ready.memory_bytes());
  hello_.set_joins_gangs(dependencies_.run_member != nullptr);
  for (const DeviceLinks& it : dependencies_.links) {
    v1::DeviceLinks& links = *hello_.add_links();
    links.set_place(it.place);
    links.mutable_devices()->Assign(it.devices.begin(), it.devices.end());
    links.mutable_switches()->Assign(it.switches.begin(), it.switches.end());
  }
  hello_.set_software_version(base::Version());
  hello_.mutable_protocols()->set_oldest(base::kOldestWorkerProtocol);
  hello_.mutable_protocols()->set_newest(base::kWorkerProtocol);
  hello_.set_measuring_protocol(base::kMeasuringProtocol);

  ASSIGN_OR_RETURN(*hello_.mutable_session_secret(), RandomSecret());
  addresses_ = absl::StrSplit(dependencies_.coordinator_address, ',');
  RETURN_IF_ERROR(Choose(""));
  leases_ = std::make_unique<Leases>(dependencies_);
  {
    base::MutexLock lock(&mutex_);
    left_ = false;
  }
  thread_ = std::jthread([this] { Live(); });
  return absl::OkStatus();
}

absl::Status Worker::Daemon::Choose(const std::string& leader) {
  std::string address = leader;
  if (address.empty()) address = addresses_[next_++ % addresses_.size()];
  if (channel_ != nullptr && address == address_) return absl::OkStatus();
  ASSIGN_OR_RETURN(channel_, base::OpenChannel(address, dependencies_.security,
                                               {dependencies_.first_backoff,
                                                dependencies_.longest_backoff,
                                                absl::Seconds(10)}));
  address_ = address;
  return absl::OkStatus();
}

void Worker::Daemon::Live() {
  absl::Duration backoff = dependencies_.first_backoff;
  const base::SteadyClock clock;
  while (Connect()) {
    const absl::Time began = clock.Now();
    std::string leader;
    const absl::Status status = RunSession(leader);
    base::LogInfo("worker ", dependencies_.name, ": the session with ",
                  address_, " ended: ", status.ToString());
    if (status.ok() && IsDraining()) break;
    const absl::Status chosen = Choose(leader);
    if (!chosen.ok()) {
      base::LogWarning("worker ", dependencies_.name, ": ", chosen.message());
    }
    if (clock.Now() - began > dependencies_.longest_backoff) {
      backoff = dependencies_.first_backoff;
    }
    if (LeavesWithin(backoff)) break;
    backoff = std::min(backoff * 2, dependencies_.longest_backoff);
  }
  leases_->Stop();
  leases_->AwaitEnd();
  base::MutexLock lock(&mutex_);
  left_ = true;
}

bool Worker::Daemon::LeavesWithin(absl::Duration duration) {
  const base::SteadyClock clock;
  const absl::Time end = clock.Now() + duration;
  while (true) {
    const bool is_silent = leases_->EndIfSilent(clock.Now());
    const bool has_leases = leases_->HasAny();
    const absl::Duration left = end - clock.Now();
    base::MutexLock lock(&mutex_);
    if (stopping_ || (draining_ && (is_silent || !has_leases))) return true;
    const auto has_order = [this, was_draining = draining_] {
      return stopping_ || draining_ != was_draining;
    };
    const bool is_news = mutex_.AwaitWithTimeout(
        absl::Condition(&has_order), std::min(left, absl::Seconds(1)));
    if (!is_news && left <= absl::Seconds(1)) return false;
  }
}

// The channel itself tries again, each time later; this only waits, or goes on
// to another coordinator.
bool Worker::Daemon::Connect() {
  constexpr int kLooksAtOne = 4;
  constexpr absl::Duration kLook = absl::Milliseconds(250);
  // A coordinator that starts again is back before: it is not worth a line.
  const int looks_until_said =
      1 + static_cast<int>(2 * (dependencies_.longest_backoff / kLook));
  for (int looks = 1; !LeavesWithin(absl::ZeroDuration()); ++looks) {
    if (channel_->WaitForConnected(absl::ToChronoTime(absl::Now() + kLook))) {
      return true;
    }
    const bool is_only = addresses_.size() == 1 && address_ == addresses_[0];
    if (looks == looks_until_said) {
      base::LogWarning("worker ", dependencies_.name,
                       ": no coordinator answers at ",
                       dependencies_.coordinator_address,
                       "; it goes on trying: check the address, and --ca if "
                       "the coordinator asks for TLS");
    }
    if (looks % kLooksAtOne == 0 && !is_only) Choose("").IgnoreError();
  }
  return false;
}

absl::Status Worker::Daemon::RunSession(std::string& leader) {
  Session session(channel_, dependencies_, hello_, leases_.get());
  {
    base::MutexLock lock(&mutex_);
    if (stopping_) session.Stop();
    if (draining_) session.Drain();
    session_ = &session;
  }
  absl::Status status = session.Run();
  leader = session.leader();
  base::MutexLock lock(&mutex_);
  session_ = nullptr;
  return status;
}

void Worker::Daemon::Drain() {
  base::MutexLock lock(&mutex_);
  draining_ = true;
  if (session_ != nullptr) session_->Drain();
}

void Worker::Daemon::Stop() {
  base::MutexLock lock(&mutex_);
  stopping_ = true;
  if (leases_ != nullptr) leases_->Stop();
  if (session_ != nullptr) session_->Stop();
}

Worker::Worker(Dependencies dependencies)
    : daemon_(std::make_unique<Daemon>(std::move(dependencies))) {}

Worker::~Worker() = default;

absl::Status Worker::Start() { return daemon_->Start(); }

void Worker::Drain() { daemon_->Drain(); }

void Worker::Stop() {
  daemon_->Stop();
  daemon_->Wait();
}

void Worker::Wait() { daemon_->Wait(); }

bool Worker::WaitFor(absl::Duration timeout) {
  return daemon_->WaitFor(timeout);
}

}  // namespace meshwright::worker
