// FileCall: a call that is answered with a file, piece after piece.
//
// Concept: the file is made, and read, on `calls`; the next piece is read when
// the client has taken the one before, so memory holds one. The last message
// has the file's report and no data. It is a template over the reactor, so that
// this header needs no gRPC.
// Ownership: it deletes itself in OnDone. Threads: gRPC's.
// Errors: those of the file; kResourceExhausted without a slot; those of
// Guard::MayGoOn, which is asked before each piece.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_FILE_CALL_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_FILE_CALL_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/rpc/rpc_status.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "coordinator/security/guard.h"
#include "coordinator/service/call_slots.h"

namespace meshwright::service {

// `File` has Read(bytes), which gives an empty string at its end, and report().
template <typename Reactor, typename Chunk, typename File>
class FileCall : public Reactor {
 public:
  using Make = std::function<absl::StatusOr<std::unique_ptr<File>>()>;

  // `calls` and `guard` outlive it.
  FileCall(base::ThreadPool* calls, const security::Guard* guard,
           absl::StatusOr<CallSlots::Slot> slot, security::Call call, Make make)
      : calls_(calls),
        guard_(guard),
        slot_(std::move(slot)),
        call_(std::move(call)),
        make_(std::move(make)) {
    calls_->Post([this] { Send(); });
  }

  void OnWriteDone(bool ok) override {
    if (!ok) {
      base::FinishCall(this, absl::CancelledError("the client went away"));
    } else if (chunk_.has_report()) {
      base::FinishCall(this, absl::OkStatus());
    } else {
      calls_->Post([this] { Send(); });
    }
  }
  void OnDone() override { delete this; }

 private:
  static constexpr size_t kChunkBytes = size_t{1} << 20;

  void Send() {
    const absl::Status status = Fill();
    if (status.ok()) {
      this->StartWrite(&chunk_);
    } else {
      base::FinishCall(this, status);
    }
  }

  absl::Status Fill() {
    RETURN_IF_ERROR(slot_.status());
    RETURN_IF_ERROR(guard_->MayGoOn(call_));
    if (file_ == nullptr) {
      ASSIGN_OR_RETURN(file_, make_());
    }
    ASSIGN_OR_RETURN(*chunk_.mutable_data(), file_->Read(kChunkBytes));
    if (chunk_.data().empty()) *chunk_.mutable_report() = file_->report();
    return absl::OkStatus();
  }

  base::ThreadPool* const calls_;
  const security::Guard* const guard_;
  const absl::StatusOr<CallSlots::Slot> slot_;
  const security::Call call_;
  const Make make_;
  std::unique_ptr<File> file_;
  Chunk chunk_;
};

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_FILE_CALL_H_
