#include "planner/checkpoint/replay.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::checkpoint {
namespace {

using Kind = Operation::Kind;

class Device {
 public:
  explicit Device(const Chain& chain)
      : chain_(chain),
        plain_(chain.stages() + 1, false),
        saved_(chain.stages(), false),
        next_backward_(chain.stages() - 1) {
    SetPlain(0, true);
    Touch(stored_);
  }

  absl::Status Apply(const Operation& operation) {
    if (operation.kind == Kind::kLoss) return Loss();
    if (operation.stage < 0 || operation.stage >= chain_.stages()) {
      return absl::InvalidArgumentError("the chain has no such stage");
    }
    return operation.kind == Kind::kBackward ? Backward(operation.stage)
                                             : Forward(operation);
  }

  absl::Status Finished() const {
    if (next_backward_ < 0) return {};
    return absl::InvalidArgumentError(
        absl::StrCat("the sequence ends before B_", next_backward_));
  }

  Replayed Result() const { return {Picoseconds(time_), peak_}; }

 private:
  bool HasInput(int stage) const {
    return plain_[stage] || (stage > 0 && saved_[stage - 1]);
  }

  // The bytes of plain copy i that saved[i-1] does not already hold.
  int64_t PlainBytes(int i) const {
    const bool held = i > 0 && saved_[i - 1];
    return plain_[i] && !held ? chain_.act_bytes[i] : 0;
  }

  void SetPlain(int i, bool present) {
    stored_ -= PlainBytes(i);
    plain_[i] = present;
    stored_ += PlainBytes(i);
  }

  void SetSaved(int stage, bool present) {
    stored_ -= PlainBytes(stage + 1);
    if (saved_[stage]) stored_ -= chain_.saved_bytes[stage];
    saved_[stage] = present;
    if (present) stored_ += chain_.saved_bytes[stage];
    stored_ += PlainBytes(stage + 1);
  }

  void Touch(int64_t bytes) { peak_ = std::max(peak_, bytes); }

  absl::Status Spend(Picoseconds time) {
    if (!__builtin_add_overflow(time_, time.count(), &time_)) return {};
    return absl::OutOfRangeError("the times sum to more than 106 days");
  }

  absl::Status Forward(const Operation& operation) {
    const int stage = operation.stage;
    if (!HasInput(stage)) {
      return absl::InvalidArgumentError(
          absl::StrCat("its input, act[", stage, "], is not stored"));
    }
    const bool save = operation.kind == Kind::kForwardSave;
    const int64_t output =
        save ? chain_.saved_bytes[stage] : chain_.act_bytes[stage + 1];
    Touch(stored_ + output + chain_.ForwardTransient(stage) + gradient_);
    if (save) {
      SetSaved(stage, true);
    } else {
      SetPlain(stage + 1, true);
    }
    if (operation.kind == Kind::kForwardDrop) SetPlain(stage, false);
    return Spend(chain_.ForwardTime(stage));
  }

  absl::Status Loss() {
    const int n = chain_.stages();
    if (loss_done_) {
      return absl::InvalidArgumentError("the loss was taken before");
    }
    if (!HasInput(n)) {
      return absl::InvalidArgumentError(
          absl::StrCat("its input, act[", n, "], is not stored"));
    }
    loss_done_ = true;
    gradient_ = chain_.act_bytes[n];
    Touch(stored_ + gradient_);
    return Spend(chain_.loss);
  }

  absl::Status Backward(int stage) {
    if (!loss_done_) {
      return absl::InvalidArgumentError("L comes first");
    }
    if (stage != next_backward_) {
      return absl::InvalidArgumentError(
          next_backward_ < 0
              ? std::string("every backward is done")
              : absl::StrCat("the gradient that is live is for B_",
                             next_backward_));
    }
    if (!saved_[stage]) {
      return absl::InvalidArgumentError(
          absl::StrCat("saved[", stage, "] is not stored"));
    }
    if (!HasInput(stage)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the stage's input, act[", stage, "], is not stored"));
    }
    Touch(stored_ + gradient_ + chain_.BackwardTransient(stage));
    SetSaved(stage, false);
    SetPlain(stage + 1, false);
    SetPlain(stage, false);
    gradient_ = chain_.act_bytes[stage];
    Touch(stored_ + gradient_);
    --next_backward_;
    return Spend(chain_.BackwardTime(stage));
  }

  const Chain& chain_;
  std::vector<bool> plain_;
  std::vector<bool> saved_;
  int next_backward_;
  bool loss_done_ = false;
  int64_t stored_ = 0;
  int64_t gradient_ = 0;
  int64_t peak_ = 0;
  int64_t time_ = 0;
};

}  // namespace

absl::StatusOr<Replayed> Replay(const Chain& chain, const Sequence& sequence) {
  Device device(chain);
  for (size_t i = 0; i < sequence.size(); ++i) {
    const absl::Status status = device.Apply(sequence[i]);
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("operation ", i, ", ", Name(sequence[i]),
                                       ", cannot run: ", status.message()));
    }
  }
  RETURN_IF_ERROR(device.Finished());
  return device.Result();
}

}  // namespace meshwright::checkpoint
