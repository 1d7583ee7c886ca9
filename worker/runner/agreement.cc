#include "worker/runner/agreement.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace meshwright::worker::runner {
namespace {

// A status code, the wall and CPU time in nanoseconds, and a message.
std::string Write(const absl::StatusOr<timing::Sample>& own) {
  const timing::Sample sample = own.ok() ? *own : timing::Sample();
  return absl::StrCat(static_cast<int>(own.status().code()), " ",
                      absl::ToInt64Nanoseconds(sample.wall), " ",
                      absl::ToInt64Nanoseconds(sample.cpu), " ",
                      own.status().message());
}

absl::StatusOr<timing::Sample> Read(const std::string& said, size_t rank) {
  const std::vector<std::string> words =
      absl::StrSplit(said, absl::MaxSplits(' ', 3));
  int code = 0;
  int64_t wall = 0;
  int64_t cpu = 0;
  if (words.size() != 4 || !absl::SimpleAtoi(words[0], &code) ||
      !absl::SimpleAtoi(words[1], &wall) || !absl::SimpleAtoi(words[2], &cpu)) {
    return absl::InternalError(
        absl::StrCat("rank ", rank, " of the gang says \"", said, "\""));
  }
  if (code != 0) {
    return absl::Status(static_cast<absl::StatusCode>(code),
                        absl::StrCat("on rank ", rank, ": ", words[3]));
  }
  return timing::Sample{absl::Nanoseconds(wall), absl::Nanoseconds(cpu)};
}

}  // namespace

absl::StatusOr<timing::Sample> Agreement::Agree(
    const absl::StatusOr<timing::Sample>& own) const {
  if (is_alone()) return own;
  ASSIGN_OR_RETURN(const std::vector<std::string> said,
                   line_->Exchange(Write(own)));
  timing::Sample slowest;
  for (size_t rank = 0; rank < said.size(); ++rank) {
    ASSIGN_OR_RETURN(const timing::Sample sample, Read(said[rank], rank));
    if (rank == 0 || sample.wall > slowest.wall) slowest = sample;
  }
  return slowest;
}

absl::Status Agreement::Agree(const absl::Status& own) const {
  if (is_alone()) return own;
  if (!own.ok()) return Agree(absl::StatusOr<timing::Sample>(own)).status();
  return Agree(absl::StatusOr<timing::Sample>(timing::Sample())).status();
}

absl::StatusOr<int64_t> Agreement::FindSmallest(int64_t own) const {
  if (is_alone()) return own;
  ASSIGN_OR_RETURN(const std::vector<std::string> said,
                   line_->Exchange(absl::StrCat(own)));
  int64_t smallest = own;
  for (const std::string& word : said) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(word, &number)) {
      return absl::InternalError(
          absl::StrCat("a member of the gang says \"", word, "\""));
    }
    smallest = std::min(smallest, number);
  }
  return smallest;
}

}  // namespace meshwright::worker::runner
