// How figures are written for people.
#ifndef MESHWRIGHT_CLI_TEXT_FORMAT_H_
#define MESHWRIGHT_CLI_TEXT_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace meshwright::cli {

// For people: "15.2 GiB", "27.3 ms".
std::string FormatBytes(int64_t bytes);
std::string FormatSeconds(double seconds);
// The same with a sign: "+1.5 ms", "-2.0 MiB".
std::string FormatChange(double seconds);
std::string FormatBytesChange(int64_t bytes);
// Rising numbers: "0, 3-7".
std::string FormatRanges(absl::Span<const int32_t> numbers);

// "3", "3-7".
std::string FormatRange(int64_t first, int64_t last);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_FORMAT_H_
