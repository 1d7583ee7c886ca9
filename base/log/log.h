// One line per event of a daemon, on stderr. Lines carry the ids (job, lease,
// worker, program key) they speak of:
//
//   base::LogInfo("worker ", id, ": lease ", lease, " done");
//
// As JSON a line is an object, and says also what its thread's scope is about
// (log_context.h). No line holds a token or another secret.
//   A daemon has its lines written by a thread: a pipe that nobody reads would
// stop whoever holds a lock and says something.
// Threads: all functions from any thread; lines never mix.
#ifndef MESHWRIGHT_BASE_LOG_LOG_H_
#define MESHWRIGHT_BASE_LOG_LOG_H_

#include <string>

#include "absl/strings/str_cat.h"

namespace meshwright::base {

enum class LogLevel { kDebug, kInfo, kWarning };
enum class LogFormat { kText, kJson };

// Lines below `level` are dropped. The start value is kWarning: a command is
// quiet until it decides to be a daemon.
void SetLogLevel(LogLevel level);
// The start value is kText.
void SetLogFormat(LogFormat format);
// From here on LogLine waits for nobody. What waits at the end of the process
// is written, if that takes no longer than two seconds; lines beyond a few
// thousand are dropped, and the next one says so. Once, before other threads.
void LogFromThread();
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
