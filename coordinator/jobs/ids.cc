#include "coordinator/jobs/ids.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace meshwright::jobs {

std::string FormatJobId(JobId id) { return absl::StrCat("job-", id.value); }

absl::StatusOr<JobId> ParseJobId(absl::string_view text) {
  absl::string_view number = text;
  JobId id;
  if (!absl::ConsumePrefix(&number, "job-") ||
      !absl::SimpleAtoi(number, &id.value) || id.value < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is no job; jobs are named job-17"));
  }
  return id;
}

}  // namespace meshwright::jobs
