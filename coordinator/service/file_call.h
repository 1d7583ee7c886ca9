// FileCall: a call that is answered with a file, piece after piece.
//
// Concept: the file is made, and read, on `calls`; the next piece is read when
// the client has taken the one before, so memory holds one. The last message
// has the file's report and no data. A client that takes no piece for a while
// has its call cancelled (WriteLimit). It is a template over the reactor, so
// that this header needs no gRPC.
//
//   reading ──▶ writing ── taken ──▶ reading ──▶ ... ──▶ finished
//                  └── not in time ──▶ cancelled and written ──▶ finished
//
// Ownership: it owns itself until OnDone; the limit, which may end it later,
// holds it weakly. Threads: gRPC's.
// Errors: those of the file; kResourceExhausted without a slot; those of
// Guard::MayGoOn, which is asked before each piece; kDeadlineExceeded for a
// piece that is not taken, which the client sees as kCancelled.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_FILE_CALL_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_FILE_CALL_H_

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/file.h"
#include "base/rpc/idle_limit.h"
#include "base/rpc/rpc_status.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "coordinator/security/guard.h"
#include "coordinator/service/call_slots.h"

namespace meshwright::service {

// `File` has `file`, a base::OwnedFile that is read from where it stands, and
// `report`.
template <typename Reactor, typename Chunk, typename File>
class FileCall : public Reactor {
 public:
  static constexpr size_t kChunkBytes = size_t{1} << 20;

  using Make = std::function<absl::StatusOr<File>()>;
  struct Terms {
    base::ThreadPool* calls;  // both outlive it
    const security::Guard* guard;
    security::Call call;
    absl::Duration patience;  // until a piece is taken
    // Cancels the call; called once at most, before it is finished.
    std::function<void()> cancel;
  };

  static FileCall* Begin(Terms terms, absl::StatusOr<CallSlots::Slot> slot,
                         Make make) {
    auto call = std::make_shared<FileCall>(std::move(terms), std::move(slot),
                                           std::move(make));
    call->self_ = call;
    call->LimitWrites();
    call->PostSend();
    return call.get();
  }

  FileCall(Terms terms, absl::StatusOr<CallSlots::Slot> slot, Make make)
      : terms_(std::move(terms)),
        slot_(std::move(slot)),
        make_(std::move(make)) {}

  void OnWriteDone(bool ok) override {
    if (!limit_->Note()) return;  // it has ended
    if (!ok) {
      base::FinishCall(this, absl::CancelledError("the client went away"));
    } else if (chunk_.has_report()) {
      base::FinishCall(this, absl::OkStatus());
    } else {
      PostSend();
    }
  }
  void OnDone() override { self_.reset(); }

 private:
  void LimitWrites() {
    limit_ = std::make_unique<base::WriteLimit>(
        terms_.patience, self_, terms_.cancel, [this] {
          base::FinishCall(this, absl::DeadlineExceededError(absl::StrCat(
                                     "no piece of the file was taken for ",
                                     absl::FormatDuration(terms_.patience),
                                     "; ask for it again")));
        });
  }

  void PostSend() {
    terms_.calls->Post([call = self_] { call->Send(); });
  }

  void Send() {
    const absl::Status status = Fill();
    if (status.ok()) {
      limit_->Await();
      this->StartWrite(&chunk_);
    } else {
      base::FinishCall(this, status);
    }
  }

  absl::Status Fill() {
    RETURN_IF_ERROR(slot_.status());
    RETURN_IF_ERROR(terms_.guard->MayGoOn(terms_.call));
    if (!made_.has_value()) {
      ASSIGN_OR_RETURN(made_, make_());
    }
    RETURN_IF_ERROR(ReadPiece(made_->file.get(), *chunk_.mutable_data()));
    if (chunk_.data().empty()) *chunk_.mutable_report() = made_->report;
    return absl::OkStatus();
  }

  // `piece` becomes empty at the end.
  static absl::Status ReadPiece(std::FILE* file, std::string& piece) {
    piece.resize(kChunkBytes);
    piece.resize(std::fread(piece.data(), 1, piece.size(), file));
    if (std::ferror(file) == 0) return absl::OkStatus();
    return absl::ErrnoToStatus(
        errno, absl::StrCat("cannot read from ", base::FindTemporaryFolder()));
  }

  const Terms terms_;
  const absl::StatusOr<CallSlots::Slot> slot_;
  const Make make_;
  std::shared_ptr<FileCall> self_;
  std::unique_ptr<base::WriteLimit> limit_;
  std::optional<File> made_;
  Chunk chunk_;
};

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_FILE_CALL_H_
