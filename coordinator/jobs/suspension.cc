#include "coordinator/jobs/suspension.h"

#include "absl/strings/cord.h"

namespace meshwright::jobs {
namespace {

constexpr char kMark[] = "meshwright.dev/suspended";

}  // namespace

absl::Status Suspend(absl::string_view reason) {
  absl::Status status = absl::UnavailableError(reason);
  status.SetPayload(kMark, absl::Cord());
  return status;
}

bool IsSuspended(const absl::Status& status) {
  return absl::IsUnavailable(status) && status.GetPayload(kMark).has_value();
}

}  // namespace meshwright::jobs
