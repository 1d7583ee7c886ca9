#include "base/log/log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/log/json_line.h"
#include "base/log/line_queue.h"
#include "base/log/log_context.h"

namespace meshwright::base {
namespace {

constexpr char kTextPattern[] = "%Y-%m-%dT%H:%M:%S.%e %l %v";
constexpr char kJsonPattern[] = "%v";
constexpr size_t kWaitingLines = 8192;
constexpr absl::Duration kLastWait = absl::Seconds(2);

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

void WriteLine(const std::string& line, int64_t dropped) {
  if (dropped > 0) {
    const std::string said =
        absl::StrCat(dropped, " lines were dropped before this one\n");
    std::fwrite(said.data(), 1, said.size(), stderr);
  }
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

// Never destroyed, as the logger.
LineQueue& Lines() {
  static auto& lines = *new LineQueue(kWaitingLines, WriteLine);
  return lines;
}

class QueuedSink : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    Lines().Add({line.data(), line.size()});
  }
  void flush_() override {}
};

}  // namespace

void LogFromThread() {
  auto sink = std::make_shared<QueuedSink>();
  sink->set_pattern(log_format == LogFormat::kJson ? kJsonPattern
                                                   : kTextPattern);
  Logger().sinks() = {std::move(sink)};
  Lines();
  std::atexit([] { Lines().Flush(kLastWait); });
}

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
