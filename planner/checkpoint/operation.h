// Operation: one step of a checkpointing schedule.
//
//   CF_i  runs stage i, keeps its input: act[i+1] appears
//   Fn_i  runs stage i, drops the plain copy of its input: act[i+1] appears
//   Fe_i  runs stage i, keeps its input: saved[i] appears
//   L     the loss: the gradient of act[n] appears
//   B_i   backward of stage i: the gradient of act[i] takes the place of that
//         of act[i+1]; saved[i] and plain copies of act[i], act[i+1] go
//
// Source: papers/map_colossal_auto.txt, table 1, whose F_ck,
// F_empty and F_all these are.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_OPERATION_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_OPERATION_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace meshwright::checkpoint {

struct Operation {
  enum class Kind {
    kForwardKeep,  // CF
    kForwardDrop,  // Fn
    kForwardSave,  // Fe
    kLoss,         // L
    kBackward,     // B
  };
  Kind kind = Kind::kLoss;
  int stage = 0;  // of no meaning for the loss

  bool operator==(const Operation&) const = default;
};

using Sequence = std::vector<Operation>;

// "CF_3", "L".
inline std::string Name(const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::kForwardKeep:
      return absl::StrCat("CF_", operation.stage);
    case Operation::Kind::kForwardDrop:
      return absl::StrCat("Fn_", operation.stage);
    case Operation::Kind::kForwardSave:
      return absl::StrCat("Fe_", operation.stage);
    case Operation::Kind::kBackward:
      return absl::StrCat("B_", operation.stage);
    case Operation::Kind::kLoss:
      break;
  }
  return "L";
}

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_OPERATION_H_
