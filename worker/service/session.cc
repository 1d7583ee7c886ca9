#include "worker/service/session.h"

#include <grpcpp/grpcpp.h>

#include <deque>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "proto/v1/services.grpc.pb.h"

namespace meshwright::worker {
namespace {

// Whether another try, here or elsewhere, would end the same way.
bool IsFinal(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) ||
         absl::IsInvalidArgument(status) || absl::IsUnimplemented(status);
}

}  // namespace

struct Session::State {
  State(std::shared_ptr<grpc::Channel> channel, const WorkerDependencies& given,
        const v1::WorkerHello& said)
      : dependencies(given),
        hello(said),
        stub(v1::Workers::NewStub(channel)),
        stream(stub->Attach(&context)) {}

  const WorkerDependencies& dependencies;
  const v1::WorkerHello hello;
  grpc::ClientContext context;
  const std::unique_ptr<v1::Workers::Stub> stub;
  const std::unique_ptr<
      grpc::ClientReaderWriter<v1::WorkerMessage, v1::CoordinatorMessage>>
      stream;

  base::Mutex write_mutex;

  base::Mutex mutex;
  std::deque<v1::JobBatch> batches ABSL_GUARDED_BY(mutex);
  std::string running ABSL_GUARDED_BY(mutex);  // the lease at hand
  std::stop_source running_stop ABSL_GUARDED_BY(mutex);
  bool over ABSL_GUARDED_BY(mutex) = false;

  void Write(const v1::WorkerMessage& message)
      ABSL_LOCKS_EXCLUDED(write_mutex) {
    base::MutexLock lock(&write_mutex);
    stream->Write(message);  // a broken stream ends the reading side
  }
  void Report(const std::string& lease, const v1::RunnerEvent& event);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return over || !batches.empty();
  }
  void RunBatches() ABSL_LOCKS_EXCLUDED(mutex);
  void RunBatch(const v1::JobBatch& batch, std::stop_token stop);
  void Beat() ABSL_LOCKS_EXCLUDED(mutex);
  void Cancel(const std::string& lease) ABSL_LOCKS_EXCLUDED(mutex);
  void End() ABSL_LOCKS_EXCLUDED(mutex);
};

void Session::State::Report(const std::string& lease,
                            const v1::RunnerEvent& event) {
  v1::WorkerMessage message;
  message.mutable_update()->set_job_id(lease);
  *message.mutable_update()->mutable_event() = event;
  Write(message);
}

void Session::State::RunBatches() {
  while (true) {
    v1::JobBatch batch;
    std::stop_token stop;
    {
      base::MutexLock lock(&mutex);
      mutex.Await(absl::Condition(this, &State::HasWork));
      if (over) return;
      batch = std::move(batches.front());
      batches.pop_front();
      running = batch.job_id();
      running_stop = std::stop_source();
      stop = running_stop.get_token();
    }
    RunBatch(batch, std::move(stop));
    base::MutexLock lock(&mutex);
    running.clear();
  }
}

void Session::State::RunBatch(const v1::JobBatch& batch, std::stop_token stop) {
  const std::string& lease = batch.job_id();
  v1::RunnerRequest request = batch.request();
  // The plugin's path is a matter of this machine.
  request.mutable_device()->set_platform(dependencies.devices.platform());
  request.mutable_device()->set_plugin_path(dependencies.devices.plugin_path());
  base::LogInfo("lease ", lease, ": ", request.programs_size(), " programs");
  const absl::Status status = dependencies.run_batch(
      request,
      [&](const v1::RunnerEvent& event) {
        if (!event.has_finished()) Report(lease, event);
      },
      std::move(stop));
  base::LogInfo("lease ", lease, ": ", status.ToString());
  {
    // Leaving gives the rest back; a report of failure would cost it a try.
    base::MutexLock lock(&mutex);
    if (over) return;
  }
  v1::RunnerEvent finished;
  finished.mutable_finished();
  if (!status.ok() && !absl::IsCancelled(status)) {
    finished.mutable_finished()->set_error(std::string(status.message()));
    finished.mutable_finished()->set_final(IsFinal(status));
  }
  Report(lease, finished);
}

void Session::State::Beat() {
  v1::WorkerMessage beat;
  beat.mutable_heartbeat();
  while (true) {
    {
      base::MutexLock lock(&mutex);
      if (mutex.AwaitWithTimeout(absl::Condition(&over),
                                 dependencies.heartbeat)) {
        return;
      }
    }
    Write(beat);
  }
}

void Session::State::Cancel(const std::string& lease) {
  v1::RunnerEvent finished;
  finished.mutable_finished();
  {
    base::MutexLock lock(&mutex);
    if (running == lease) {
      running_stop.request_stop();
      return;
    }
    for (auto batch = batches.begin(); batch != batches.end(); ++batch) {
      if (batch->job_id() != lease) continue;
      batches.erase(batch);
      break;
    }
  }
  Report(lease, finished);
}

void Session::State::End() {
  base::MutexLock lock(&mutex);
  over = true;
  running_stop.request_stop();
}

Session::Session(std::shared_ptr<grpc::Channel> channel,
                 const WorkerDependencies& dependencies,
                 const v1::WorkerHello& hello)
    : state_(std::make_unique<State>(std::move(channel), dependencies, hello)) {
}

Session::~Session() = default;

absl::Status Session::Run() {
  v1::WorkerMessage message;
  *message.mutable_hello() = state_->hello;
  state_->Write(message);
  std::jthread runner([this] { state_->RunBatches(); });
  std::jthread heart([this] { state_->Beat(); });
  v1::CoordinatorMessage said;
  while (state_->stream->Read(&said)) {
    switch (said.message_case()) {
      case v1::CoordinatorMessage::kBatch: {
        base::MutexLock lock(&state_->mutex);
        state_->batches.push_back(std::move(*said.mutable_batch()));
        break;
      }
      case v1::CoordinatorMessage::kCancel:
        state_->Cancel(said.cancel().job_id());
        break;
      case v1::CoordinatorMessage::kDrain:
        Drain();
        break;
      case v1::CoordinatorMessage::kHeartbeat:
      case v1::CoordinatorMessage::MESSAGE_NOT_SET:
        break;
    }
  }
  state_->End();
  runner.join();
  heart.join();
  const grpc::Status status = state_->stream->Finish();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

void Session::Drain() {
  v1::WorkerMessage message;
  message.mutable_drain();
  state_->Write(message);
}

void Session::Stop() {
  state_->End();
  state_->context.TryCancel();
}

}  // namespace meshwright::worker
