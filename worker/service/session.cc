#include "worker/service/session.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "base/rpc/rpc_status.h"
#include "proto/v1/services.grpc.pb.h"

namespace meshwright::worker {
namespace {

// For the coordinator's answer when the worker stops.
constexpr absl::Duration kFarewell = absl::Seconds(1);

}  // namespace

struct Session::State {
  State(const std::shared_ptr<grpc::Channel>& channel,
        const WorkerDependencies& given, const v1::WorkerHello& said,
        Leases* held)
      : dependencies(given),
        hello(said),
        leases(held),
        stub(v1::Workers::NewStub(channel)),
        stream(stub->Attach(&context)) {}

  const WorkerDependencies& dependencies;
  v1::WorkerHello hello;
  Leases* const leases;
  grpc::ClientContext context;
  const std::unique_ptr<v1::Workers::Stub> stub;
  const std::unique_ptr<
      grpc::ClientReaderWriter<v1::WorkerMessage, v1::CoordinatorMessage>>
      stream;

  std::string leader;

  base::Mutex write_mutex;
  bool has_greeted ABSL_GUARDED_BY(write_mutex) = false;

  base::Mutex mutex;
  bool over ABSL_GUARDED_BY(mutex) = false;
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  std::atomic<bool> is_welcome = false;
  std::atomic<bool> is_draining = false;
  std::jthread closer;  // of a stop

  void Write(const v1::WorkerMessage& message)
      ABSL_LOCKS_EXCLUDED(write_mutex) {
    base::MutexLock lock(&write_mutex);
    stream->Write(message);  // a broken stream ends the reading side
  }
  void Greet() ABSL_LOCKS_EXCLUDED(write_mutex);
  void WriteDrain() ABSL_EXCLUSIVE_LOCKS_REQUIRED(write_mutex) {
    v1::WorkerMessage message;
    message.mutable_drain();
    stream->Write(message);
  }
  // False: `duration` is over and the stream is not.
  bool IsOverWithin(absl::Duration duration) ABSL_LOCKS_EXCLUDED(mutex) {
    base::MutexLock lock(&mutex);
    return mutex.AwaitWithTimeout(absl::Condition(&over), duration);
  }
  void Beat();
  // False: it is no word of this protocol.
  bool Take(v1::CoordinatorMessage& said, bool is_first);
};

void Session::State::Greet() {
  v1::WorkerMessage message;
  *message.mutable_hello() = hello;
  leases->Describe(message.mutable_hello());
  base::MutexLock lock(&write_mutex);
  has_greeted = true;
  message.mutable_hello()->set_is_draining(is_draining);
  stream->Write(message);
  if (is_draining) WriteDrain();
}

void Session::State::Beat() {
  v1::WorkerMessage beat;
  beat.mutable_heartbeat();
  const base::SteadyClock clock;
  absl::Time next = clock.Now() + dependencies.heartbeat;
  while (!IsOverWithin(std::min(dependencies.heartbeat, absl::Seconds(1)))) {
    const absl::Time now = clock.Now();
    // The other side of the connection may be gone without a word.
    const bool was_heard = is_welcome || is_draining;
    if (leases->EndIfSilent(now) && was_heard) context.TryCancel();
    if (now < next) continue;
    next = now + dependencies.heartbeat;
    leases->LookForFaults();
    Write(beat);
  }
}

bool Session::State::Take(v1::CoordinatorMessage& said, bool is_first) {
  if (is_first && !said.has_welcome()) return false;
  dependencies.on_message(said);
  switch (said.message_case()) {
    case v1::CoordinatorMessage::kWelcome:
      is_welcome = true;
      base::LogInfo("the coordinator is Meshwright ",
                    said.welcome().software_version().empty()
                        ? "of unknown version"
                        : said.welcome().software_version());
      leases->Connect(said.welcome(), [this](const v1::WorkerMessage& message) {
        Write(message);
      });
      break;
    case v1::CoordinatorMessage::kBatch:
      leases->Take(std::move(*said.mutable_batch()));
      break;
    case v1::CoordinatorMessage::kCancel:
      leases->Cancel(said.cancel().job_id());
      break;
    case v1::CoordinatorMessage::kAcknowledge:
      leases->Acknowledge(said.acknowledge().job_id());
      break;
    case v1::CoordinatorMessage::kGang:
      leases->Tell(said.gang().job_id(), said.gang().message());
      break;
    case v1::CoordinatorMessage::kDrain: {
      v1::WorkerMessage message;
      message.mutable_drain();
      Write(message);
      break;
    }
    case v1::CoordinatorMessage::kHeartbeat:
    case v1::CoordinatorMessage::MESSAGE_NOT_SET:
      break;
  }
  return true;
}

Session::Session(const std::shared_ptr<grpc::Channel>& channel,
                 const WorkerDependencies& dependencies,
                 const v1::WorkerHello& hello, Leases* leases)
    : state_(std::make_unique<State>(channel, dependencies, hello, leases)) {}

Session::~Session() = default;

absl::Status Session::Run() {
  const base::SteadyClock clock;
  state_->Greet();
  std::jthread heart([this] { state_->Beat(); });
  v1::CoordinatorMessage said;
  absl::Status refused;
  bool is_first = true;
  while (state_->stream->Read(&said)) {
    state_->leases->Hear(clock.Now());
    if (!state_->Take(said, is_first)) {
      refused = absl::FailedPreconditionError(
          "the coordinator is older than this worker and does not welcome it; "
          "update the coordinator first");
      state_->context.TryCancel();
    }
    is_first = false;
  }
  state_->leases->Disconnect();
  {
    base::MutexLock lock(&state_->mutex);
    state_->over = true;
  }
  heart.join();
  const grpc::Status status = state_->stream->Finish();
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    state_->leader = status.error_details();
  }
  if (!refused.ok()) return refused;
  return base::FromRpc(status);
}

const std::string& Session::leader() const { return state_->leader; }

void Session::Drain() {
  base::MutexLock lock(&state_->write_mutex);
  state_->is_draining = true;
  if (state_->has_greeted) state_->WriteDrain();
}

void Session::Stop() {
  {
    base::MutexLock lock(&state_->mutex);
    if (std::exchange(state_->stopping, true)) return;
  }
  // Also ends a write that blocks.
  state_->closer = std::jthread([state = state_.get()] {
    if (!state->IsOverWithin(kFarewell)) state->context.TryCancel();
  });
  v1::WorkerMessage message;
  message.mutable_leave();
  state_->Write(message);
}

}  // namespace meshwright::worker
