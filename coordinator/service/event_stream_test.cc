#include "coordinator/service/event_stream.h"

#include <gmock/gmock.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"

namespace meshwright::service {
namespace {

using testing::ElementsAre;

// A call whose client reads when the test says so.
class ReadCall {
 public:
  virtual ~ReadCall() = default;
  virtual void OnWriteDone(bool ok) = 0;
  virtual void OnCancel() = 0;
  virtual void OnDone() = 0;
  void StartWrite(const std::string* event) { writing = event; }
  void Finish(const grpc::Status& status) {
    finished = status;
    has_finished.Notify();
  }

  const std::string* writing = nullptr;
  std::optional<grpc::Status> finished;
  absl::Notification has_finished;
};
using Stream = EventStream<ReadCall, std::string, grpc::Status>;

class EventStreamTest : public testing::Test {
 protected:
  // Work that sends three events, or ends with kCancelled when it is stopped.
  Stream* Begin(const absl::Status& may_go_on) {
    Stream* const stream =
        Stream::Answer({.calls = &calls_,
                        .may_go_on = [may_go_on] { return may_go_on; },
                        .patience = absl::Hours(1),
                        .cancel = [] {}},
                       CallSlots::Slot(), [this](Stream& it) {
                         for (const char* event : {"1", "2", "3"}) {
                           it.Send(event);
                           if (it.stop().stop_requested())
                             return absl::CancelledError();
                           ++sent_;
                         }
                         return absl::OkStatus();
                       });
    calls_.AwaitIdle(absl::InfiniteDuration());
    return stream;
  }

  int sent_ = 0;
  base::ThreadPool calls_{1};
};

TEST_F(EventStreamTest, ACallerThatMayGoOnGetsAll) {
  Stream* const stream = Begin(absl::OkStatus());
  std::vector<std::string> read;
  while (stream->writing != nullptr) {
    read.push_back(*stream->writing);
    stream->writing = nullptr;
    stream->OnWriteDone(true);
  }
  EXPECT_THAT(read, ElementsAre("1", "2", "3"));
  ASSERT_TRUE(stream->finished.has_value());
  EXPECT_TRUE(stream->finished->ok());
  stream->OnDone();
}

TEST_F(EventStreamTest, ATokenThatWasRevokedEndsTheWork) {
  Stream* const stream = Begin(absl::UnauthenticatedError("revoked"));
  EXPECT_EQ(stream->writing, nullptr);
  EXPECT_EQ(sent_, 0);
  ASSERT_TRUE(stream->finished.has_value());
  EXPECT_EQ(stream->finished->error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(stream->finished->error_message(), "revoked");
  stream->OnDone();
}

// As one whose job waits in the queue.
TEST_F(EventStreamTest, ATokenThatIsRevokedEndsWorkThatSendsNothing) {
  std::atomic<bool> is_revoked = false;
  Stream* const stream = Stream::Answer(
      {.calls = &calls_,
       .may_go_on =
           [&] {
             return is_revoked ? absl::UnauthenticatedError("revoked")
                               : absl::OkStatus();
           },
       .patience = absl::Hours(1),
       .cancel = [] {},
       .between_looks = absl::Milliseconds(10)},
      CallSlots::Slot(), [&](Stream& it) {
        is_revoked = true;
        absl::Notification stopped;
        const std::stop_callback on_stop(it.stop(), [&] { stopped.Notify(); });
        stopped.WaitForNotification();
        return absl::CancelledError();
      });
  calls_.AwaitIdle(absl::InfiniteDuration());
  ASSERT_TRUE(stream->finished.has_value());
  EXPECT_EQ(stream->finished->error_code(), grpc::StatusCode::UNAUTHENTICATED);
  stream->OnDone();
}

// The work has ended, and its events wait in memory.
TEST_F(EventStreamTest, AClientThatTakesNoEventIsNotWaitedForForEver) {
  CallSlots slots(1, "runs", 1);
  absl::Notification cancelled;
  Stream* const stream =
      Stream::Answer({.calls = &calls_,
                      .may_go_on = [] { return absl::OkStatus(); },
                      .patience = absl::Milliseconds(20),
                      .cancel = [&] { cancelled.Notify(); }},
                     slots.Take(), [](Stream& it) {
                       it.Send("1");
                       it.Send("2");
                       return absl::OkStatus();
                     });
  calls_.AwaitIdle(absl::InfiniteDuration());
  EXPECT_FALSE(slots.Take().ok());
  ASSERT_TRUE(cancelled.WaitForNotificationWithTimeout(absl::Seconds(30)));
  // The write is cancelled with its call; until it is, gRPC's context stays.
  EXPECT_FALSE(stream->finished.has_value());
  stream->OnWriteDone(false);
  ASSERT_TRUE(
      stream->has_finished.WaitForNotificationWithTimeout(absl::Seconds(30)));
  EXPECT_TRUE(slots.Take().ok());
  stream->OnDone();
}

}  // namespace
}  // namespace meshwright::service
