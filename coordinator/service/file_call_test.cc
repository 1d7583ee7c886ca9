#include "coordinator/service/file_call.h"

#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "absl/synchronization/notification.h"
#include "base/file.h"
#include "base/partial_file.h"
#include "proto/v1/plans.pb.h"

namespace meshwright::service {
namespace {

// A call whose client takes a piece when the test says so.
class PiecesCall {
 public:
  virtual ~PiecesCall() = default;
  virtual void OnWriteDone(bool ok) = 0;
  virtual void OnDone() = 0;
  void StartWrite(const v1::ExportPlanChunk* chunk) { writing = chunk; }
  void Finish(const grpc::Status& status) {
    code = status.error_code();
    finished.Notify();
  }

  const v1::ExportPlanChunk* writing = nullptr;
  grpc::StatusCode code = grpc::StatusCode::UNKNOWN;
  absl::Notification finished;
};

struct TwoPieces {
  base::OwnedFile file;
  v1::ExportedFiles report;
};

using PieceByPiece = FileCall<PiecesCall, v1::ExportPlanChunk, TwoPieces>;

absl::StatusOr<TwoPieces> MakeTwoPieces() {
  absl::StatusOr<base::OwnedFile> file = base::OpenUnnamedFile();
  if (!file.ok()) return file.status();
  const std::string content(PieceByPiece::kChunkBytes + 1, 'x');
  EXPECT_GE(std::fputs(content.c_str(), file->get()), 0);
  std::rewind(file->get());
  return TwoPieces{*std::move(file), {}};
}

class FileCallTest : public testing::Test {
 protected:
  PieceByPiece* Begin(absl::Duration patience) {
    PieceByPiece* const call =
        PieceByPiece::Begin({.calls = &calls_,
                             .guard = guard_.get(),
                             .call = {},
                             .patience = patience,
                             .cancel = [this] { cancelled_.Notify(); }},
                            CallSlots::Slot(), MakeTwoPieces);
    calls_.AwaitIdle(absl::InfiniteDuration());
    return call;
  }

  const std::unique_ptr<security::Guard> guard_ = *security::Guard::Open({});
  absl::Notification cancelled_;
  base::ThreadPool calls_{1};
};

TEST_F(FileCallTest, APieceFollowsTheOneThatWasTaken) {
  PieceByPiece* const call = Begin(absl::Hours(1));
  for (const size_t bytes : {PieceByPiece::kChunkBytes, size_t{1}}) {
    ASSERT_NE(call->writing, nullptr);
    EXPECT_EQ(call->writing->data().size(), bytes);
    EXPECT_FALSE(call->writing->has_report());
    call->OnWriteDone(true);
    calls_.AwaitIdle(absl::InfiniteDuration());
  }
  EXPECT_EQ(call->writing->data(), "");
  EXPECT_TRUE(call->writing->has_report());
  call->OnWriteDone(true);
  EXPECT_TRUE(call->finished.HasBeenNotified());
  EXPECT_EQ(call->code, grpc::StatusCode::OK);
  EXPECT_FALSE(cancelled_.HasBeenNotified());
  call->OnDone();
}

TEST_F(FileCallTest, AClientThatTakesNoPieceIsNotWaitedForForEver) {
  PieceByPiece* const call = Begin(absl::Milliseconds(20));
  cancelled_.WaitForNotification();
  // The write is cancelled with its call; until it is, gRPC's context stays.
  EXPECT_FALSE(call->finished.HasBeenNotified());
  call->OnWriteDone(false);
  call->finished.WaitForNotification();
  EXPECT_EQ(call->code, grpc::StatusCode::DEADLINE_EXCEEDED);
  call->OnDone();
}

TEST_F(FileCallTest, AClientThatWentAwayEndsItsCall) {
  PieceByPiece* const call = Begin(absl::Hours(1));
  call->OnWriteDone(false);
  EXPECT_TRUE(call->finished.HasBeenNotified());
  EXPECT_EQ(call->code, grpc::StatusCode::CANCELLED);
  call->OnDone();
}

}  // namespace
}  // namespace meshwright::service
