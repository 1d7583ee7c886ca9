#include "base/log/json_line.h"

#include <nlohmann/json.hpp>

#include "base/trace_context.h"

namespace meshwright::base {

std::string FormatJsonLine(absl::Time time, std::string_view level,
                           std::string_view message,
                           const LogContext& context) {
  nlohmann::ordered_json line;
  line["time"] =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
  line["level"] = level;
  line["message"] = message;
  const auto add = [&](const char* name, std::string_view value) {
    if (!value.empty()) line[name] = value;
  };
  add("plan", context.plan);
  add("job", context.job);
  add("lease", context.lease);
  add("worker", context.worker);
  add("trace_id", ExtractTraceId(context.traceparent));
  return line.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace meshwright::base
