#include "base/log/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>

#include "absl/time/clock.h"
#include "base/log/json_line.h"
#include "base/log/log_context.h"

namespace meshwright::base {
namespace {

constexpr char kTextPattern[] = "%Y-%m-%dT%H:%M:%S.%e %l %v";
constexpr char kJsonPattern[] = "%v";

std::atomic<LogFormat> log_format = LogFormat::kText;

const char* NameLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      break;
  }
  return "warning";
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      break;
  }
  return spdlog::level::warn;
}

// Never destroyed: daemon threads may log while the process ends.
spdlog::logger& Logger() {
  static spdlog::logger* const logger = [] {
    auto* created = new spdlog::logger(
        "meshwright", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    created->set_pattern(kTextPattern);
    created->set_level(spdlog::level::warn);
    return created;
  }();
  return *logger;
}

}  // namespace

void SetLogLevel(LogLevel level) { Logger().set_level(ToSpdlog(level)); }

bool LogEnabled(LogLevel level) { return Logger().should_log(ToSpdlog(level)); }

void SetLogFormat(LogFormat format) {
  log_format = format;
  Logger().set_pattern(format == LogFormat::kJson ? kJsonPattern
                                                  : kTextPattern);
}

void LogLine(LogLevel level, const std::string& line) {
  if (!LogEnabled(level)) return;
  Logger().log(ToSpdlog(level), "{}",
               log_format == LogFormat::kJson
                   ? FormatJsonLine(absl::Now(), NameLevel(level), line,
                                    LogScope::Current())
                   : line);
}

}  // namespace meshwright::base
