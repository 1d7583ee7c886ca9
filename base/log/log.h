// One line per event of a daemon, on stderr. Lines carry the ids (job, lease,
// worker, program key) they speak of:
//
//   base::LogInfo("worker ", id, ": lease ", lease, " done");
//
// Threads: all functions from any thread; lines never mix.
#ifndef MESHWRIGHT_BASE_LOG_LOG_H_
#define MESHWRIGHT_BASE_LOG_LOG_H_

#include <string>

#include "absl/strings/str_cat.h"

namespace meshwright::base {

enum class LogLevel { kDebug, kInfo, kWarning };

// Lines below `level` are dropped. The start value is kWarning: a command is
// quiet until it decides to be a daemon.
void SetLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);
void LogLine(LogLevel level, const std::string& line);

template <typename... Parts>
void LogDebug(const Parts&... parts) {
  if (LogEnabled(LogLevel::kDebug)) {
    LogLine(LogLevel::kDebug, absl::StrCat(parts...));
  }
}

template <typename... Parts>
void LogInfo(const Parts&... parts) {
  if (LogEnabled(LogLevel::kInfo)) {
    LogLine(LogLevel::kInfo, absl::StrCat(parts...));
  }
}

template <typename... Parts>
void LogWarning(const Parts&... parts) {
  LogLine(LogLevel::kWarning, absl::StrCat(parts...));
}

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_LOG_LOG_H_
