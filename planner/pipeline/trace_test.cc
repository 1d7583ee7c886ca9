#include "planner/pipeline/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "nlohmann/json.hpp"
#include "planner/pipeline/memory.h"
#include "planner/pipeline/random_pipeline.h"
#include "planner/pipeline/simulate.h"

namespace meshwright::pipeline {
namespace {

using nlohmann::json;

// As Perfetto reads a number: in nanoseconds, cut off.
int64_t Read(const json& microseconds) {
  return static_cast<int64_t>(microseconds.get<double>() * 1000.0);
}

struct Traced {
  PipelineProblem problem;
  Timeline timeline;
  json trace;
};

Traced Trace(uint64_t seed, bool overlap) {
  Traced traced;
  traced.problem = RandomPipeline(seed, {.stages = 4,
                                         .micro_batches = 6,
                                         .overlap = overlap,
                                         .longest = 90'000,
                                         .longest_transfer = 40'000});
  traced.timeline = *Simulate(
      traced.problem, OrdersOf(Schedule::kEager1F1BDelay, 4, 6), {.most = 2});
  traced.trace = json::parse(TraceJson(traced.problem, traced.timeline));
  return traced;
}

TEST(TraceTest, EveryTrackIsNamedAndEverythingIsOnOne) {
  const Traced traced = Trace(1, true);
  std::map<std::pair<int, int>, std::string> names;
  std::map<std::pair<int, int>, int> spans;
  std::map<std::string, int> counters;
  for (const json& event : traced.trace["traceEvents"]) {
    const std::pair<int, int> track(event["pid"], event.value("tid", 0));
    if (event["name"] == "thread_name") names[track] = event["args"]["name"];
    if (event["ph"] == "X") ++spans[track];
    if (event["ph"] == "C") ++counters[event["name"]];
  }
  ASSERT_EQ(names.size(), 4u + 2 * 3);
  EXPECT_EQ((names[{1, 1}]), "stage 1");
  EXPECT_EQ((names[{2, 1}]), "stage 1 to 2");
  EXPECT_EQ((names[{2, 6}]), "stage 4 to 3");
  for (const auto& [track, name] : names) {
    EXPECT_EQ(spans[track], track.first == 1 ? 18 : 6) << name;
  }
  EXPECT_EQ(spans.size(), names.size());
  EXPECT_EQ(counters.size(), 4u);
}

TEST(TraceTest, EventsAreInOrderAndDoNotOverlapAsRead) {
  for (int seed = 0; seed < 50; ++seed) {
    const Traced traced = Trace(seed, seed % 2 == 0);
    double last = 0;
    std::map<std::pair<int, int>, int64_t> free;
    for (const json& event : traced.trace["traceEvents"]) {
      if (event["ph"] == "M") continue;
      EXPECT_GE(event["ts"].get<double>(), last);
      last = event["ts"];
      if (event["ph"] != "X") continue;
      const int64_t start = Read(event["ts"]);
      const int64_t exact = event["args"]["start_ps"];
      EXPECT_EQ(start, (exact + 500) / 1000);
      int64_t& track = free[{event["pid"], event["tid"]}];
      EXPECT_GE(start, track);
      track = start + Read(event["dur"]);
      EXPECT_EQ(track, (event["args"]["end_ps"].get<int64_t>() + 500) / 1000);
    }
  }
}

TEST(TraceTest, CountersReachThePeaks) {
  const Traced traced = Trace(3, true);
  std::map<std::string, int64_t> peaks;
  for (const json& event : traced.trace["traceEvents"]) {
    if (event["ph"] != "C") continue;
    int64_t& peak = peaks[event["name"]];
    peak = std::max(peak, event["args"]["bytes"].get<int64_t>());
  }
  const auto expected = PeakBytes(traced.problem, traced.timeline);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(peaks["memory of stage " + std::to_string(i + 1)], expected[i]);
  }
}

}  // namespace
}  // namespace meshwright::pipeline
