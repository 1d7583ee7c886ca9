// Values that people write on the command line.
//
// Errors: kInvalidArgument, one sentence that quotes what was written.
#ifndef MESHWRIGHT_CLI_FLAGS_ARGUMENTS_H_
#define MESHWRIGHT_CLI_FLAGS_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/deadline.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

inline constexpr int64_t kMaximumDevices = 4096;

// "16GiB", "1.5 GB", "4096": bytes; i means powers of 1024. Positive.
absl::StatusOr<int64_t> ParseBytes(const std::string& text);

// "1x2", "8": axes, outermost first; 1 to 4096 devices in all.
absl::StatusOr<v1::MeshSpec> ParseMesh(const std::string& text);
int64_t CountDevices(const v1::MeshSpec& mesh);

// "90d", "12h", "1h30m": positive, at most 100 years. None for anything else.
std::optional<absl::Duration> FindDuration(const std::string& text);
// The same with the sentence for a text that is none.
absl::StatusOr<absl::Duration> ParseTime(const std::string& flag,
                                         const std::string& text);

// The value of --deadline: a finite number of seconds from now, not negative.
// No time for nothing asked, and for more than a year: nobody waits that long,
// and a clock could not hold it.
absl::StatusOr<base::Deadline> ParseDeadline(std::optional<double> seconds,
                                             std::stop_token stop);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_FLAGS_ARGUMENTS_H_
