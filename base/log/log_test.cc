#include "base/log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/log/json_line.h"
#include "base/log/log_context.h"

namespace meshwright::base {
namespace {

using nlohmann::json;
using testing::EndsWith;

constexpr char kTraceparent[] =
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// The output of `log`, as JSON.
template <typename Log>
json Written(const Log& log) {
  SetLogFormat(LogFormat::kJson);
  testing::internal::CaptureStderr();
  log();
  const std::string text = testing::internal::GetCapturedStderr();
  SetLogFormat(LogFormat::kText);
  EXPECT_THAT(text, EndsWith("\n"));
  return json::parse(text, nullptr, false);
}

TEST(LogTest, ALineIsAnObjectWithWhatItsScopeSays) {
  const LogScope scope({.plan = "plan-7",
                        .job = "job-3",
                        .worker = "a",
                        .traceparent = kTraceparent});
  const json line = Written([] { LogWarning("lease ", 5, " \"lost\"\n"); });
  EXPECT_EQ(line["level"], "warning");
  EXPECT_EQ(line["message"], "lease 5 \"lost\"\n");
  EXPECT_EQ(line["plan"], "plan-7");
  EXPECT_EQ(line["job"], "job-3");
  EXPECT_EQ(line["worker"], "a");
  EXPECT_EQ(line["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_FALSE(line.contains("lease"));
  EXPECT_THAT(line["time"].get<std::string>(), EndsWith("Z"));
}

TEST(LogTest, AScopeHidesAnotherEndsAndIsOfItsThread) {
  {
    const LogScope outer({.plan = "plan-7"});
    {
      const LogScope inner({.job = "job-3"});
      EXPECT_EQ(LogScope::Current().job, "job-3");
      EXPECT_EQ(LogScope::Current().plan, "");
    }
    EXPECT_EQ(LogScope::Current().plan, "plan-7");
    EXPECT_EQ(LogScope::Current().job, "");
    std::jthread([] { EXPECT_EQ(LogScope::Current().plan, ""); });
  }
  const json line = Written([] { LogWarning("alone"); });
  EXPECT_EQ(line.size(), 3);
}

TEST(LogTest, TextIsAsItWas) {
  const LogScope scope({.plan = "plan-7", .traceparent = kTraceparent});
  testing::internal::CaptureStderr();
  LogWarning("lease ", 5);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              EndsWith(" warning lease 5\n"));
}

TEST(LogTest, AnyBytesMakeAnObject) {
  const json line = json::parse(FormatJsonLine(
      absl::UnixEpoch() + absl::Milliseconds(1500), "info",
      std::string_view("\xff\0 \x1b[31m", 8), {.worker = "\xc3("}));
  EXPECT_EQ(line["time"], "1970-01-01T00:00:01.500Z");
  EXPECT_EQ(line["level"], "info");
  EXPECT_TRUE(line.contains("worker"));
}

TEST(LogDeathTest, LinesOfAThreadAreWrittenAtTheEnd) {
  const auto say = [] {
    LogFromThread();
    for (int i = 1; i <= 1000; ++i) LogWarning("line ", i);
    std::exit(0);
  };
  EXPECT_EXIT(say(), testing::ExitedWithCode(0), "warning line 1000\n");
}

// Nobody reads the pipe: it holds 64 KiB.
TEST(LogDeathTest, APipeThatStandsStillStopsNobody) {
  const auto say = [] {
    int ends[2];
    if (pipe(ends) != 0) std::_Exit(1);
    dup2(ends[1], STDERR_FILENO);
    LogFromThread();
    for (int i = 0; i < 1000; ++i) LogWarning(std::string(1000, 'x'));
    std::_Exit(0);
  };
  EXPECT_EXIT(say(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace meshwright::base
