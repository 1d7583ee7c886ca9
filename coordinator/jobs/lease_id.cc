#include "coordinator/jobs/lease_id.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace meshwright::jobs {

std::string FormatLeaseId(LeaseId id) {
  return absl::StrCat(id.epoch, ".", id.number);
}

absl::StatusOr<LeaseId> ParseLeaseId(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('.', 1));
  LeaseId id;
  if (!absl::SimpleAtoi(parts.first, &id.epoch) ||
      !absl::SimpleAtoi(parts.second, &id.number) ||
      FormatLeaseId(id) != text) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" names no lease; leases are named 7.12"));
  }
  return id;
}

}  // namespace meshwright::jobs
