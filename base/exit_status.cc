#include "base/exit_status.h"

namespace meshwright::base {

int ToExitStatus(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitSuccess;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kFailedPrecondition:  // a newer store, no plugin
    case absl::StatusCode::kAlreadyExists:       // a busy port
    case absl::StatusCode::kResourceExhausted:   // a quota
    case absl::StatusCode::kUnimplemented:
      return kExitBadInput;
    default:
      return kExitFailure;
  }
}

}  // namespace meshwright::base
