// A line of the log as a JSON object.
//
// Errors: none; bytes that are no UTF-8 are replaced.
#ifndef MESHWRIGHT_BASE_LOG_JSON_LINE_H_
#define MESHWRIGHT_BASE_LOG_JSON_LINE_H_

#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "base/log/log_context.h"

namespace meshwright::base {

// {"time","level","message"} and what is known of {"plan","job","lease",
// "worker","trace_id"}, without a newline.
std::string FormatJsonLine(absl::Time time, std::string_view level,
                           std::string_view message, const LogContext& context);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_LOG_JSON_LINE_H_
