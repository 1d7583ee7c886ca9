#include "tests/integration/simulated_workers.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "proto/v1/services.grpc.pb.h"

namespace meshwright::integration {

class SimulatedWorkers::Stream
    : public grpc::ClientBidiReactor<v1::WorkerMessage,
                                     v1::CoordinatorMessage> {
 public:
  Stream(const std::string& address, int number, const Options& options,
         const OnBatch& on_batch)
      : on_batch_(on_batch) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    stub_ = v1::Workers::NewStub(grpc::CreateCustomChannel(
        address, grpc::InsecureChannelCredentials(), arguments));
    v1::WorkerMessage message;
    v1::WorkerHello& hello = *message.mutable_hello();
    hello.set_worker_id(absl::StrCat(options.name, number));
    hello.set_host(options.hosts == 0
                       ? "here"
                       : absl::StrCat("host-", number % options.hosts));
    hello.set_joins_gangs(options.hosts > 0);
    hello.set_platform("cpu");
    hello.set_platform_version("made up 1");
    hello.set_device_kind("made up");
    hello.set_device_count(options.devices);
    hello.mutable_fingerprint()->set_platform("cpu");
    hello.mutable_fingerprint()->set_device_kind("made up");
    hello.set_session_secret(absl::StrCat("secret ", number));
    if (!options.token.empty()) {
      context_.AddMetadata("authorization",
                           absl::StrCat("Bearer ", options.token));
    }
    stub_->async()->Attach(&context_, this);
    Send(std::move(message));
    StartRead(&said_);
    StartCall();
  }

  void Beat() {
    v1::WorkerMessage beat;
    beat.mutable_heartbeat();
    Send(std::move(beat));
  }
  void Cancel() { context_.TryCancel(); }
  void AwaitDone() {
    base::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&is_done_));
  }
  bool stands() const { return stands_; }
  int64_t answered() const { return answered_; }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    if (said_.has_batch()) {
      on_batch_(said_.batch().request());
      Answer(said_.batch());
    }
    StartRead(&said_);
  }
  void OnWriteDone(bool ok) override {
    base::MutexLock lock(&mutex_);
    waiting_.pop_front();
    if (ok && !waiting_.empty()) StartWrite(&waiting_.front());
  }
  void OnDone(const grpc::Status& /*status*/) override {
    stands_ = false;
    base::MutexLock lock(&mutex_);
    is_done_ = true;
  }

 private:
  void Send(v1::WorkerMessage message) {
    base::MutexLock lock(&mutex_);
    if (is_done_) return;
    waiting_.push_back(std::move(message));
    if (waiting_.size() == 1) StartWrite(&waiting_.front());
  }

  void Answer(const v1::JobBatch& batch) {
    v1::WorkerMessage message;
    v1::JobUpdate& update = *message.mutable_update();
    update.set_job_id(batch.job_id());
    jobs::FakeMeasurer machine;
    machine
        .Measure(
            batch.request(),
            [&](const v1::ProfileResult& result) {
              *update.mutable_event()->mutable_result() = result;
              Send(message);
              ++answered_;
              return absl::OkStatus();
            },
            nullptr)
        .IgnoreError();
    update.mutable_event()->mutable_finished();
    Send(std::move(message));
  }

  const OnBatch& on_batch_;
  std::unique_ptr<v1::Workers::Stub> stub_;
  grpc::ClientContext context_;
  v1::CoordinatorMessage said_;
  std::atomic<bool> stands_ = true;
  std::atomic<int64_t> answered_ = 0;
  base::Mutex mutex_;
  // The front one is being written.
  std::deque<v1::WorkerMessage> waiting_ ABSL_GUARDED_BY(mutex_);
  bool is_done_ ABSL_GUARDED_BY(mutex_) = false;
};

SimulatedWorkers::SimulatedWorkers(const std::string& address,
                                   const Options& options, OnBatch on_batch)
    : on_batch_(std::move(on_batch)) {
  for (int i = 0; i < options.count; ++i) {
    streams_.push_back(
        std::make_unique<Stream>(address, i, options, on_batch_));
  }
  heart_ = std::jthread([this] { Beat(); });
}

void SimulatedWorkers::Beat() {
  while (true) {
    {
      base::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&is_over_),
                                  absl::Seconds(5))) {
        return;
      }
    }
    for (const auto& stream : streams_) stream->Beat();
  }
}

SimulatedWorkers::~SimulatedWorkers() {
  {
    base::MutexLock lock(&mutex_);
    is_over_ = true;
  }
  heart_.join();
  for (const auto& stream : streams_) stream->Cancel();
  for (const auto& stream : streams_) stream->AwaitDone();
}

int SimulatedWorkers::attached() const {
  return static_cast<int>(
      std::count_if(streams_.begin(), streams_.end(),
                    [](const auto& stream) { return stream->stands(); }));
}

int64_t SimulatedWorkers::answered() const {
  int64_t answered = 0;
  for (const auto& stream : streams_) answered += stream->answered();
  return answered;
}

}  // namespace meshwright::integration
