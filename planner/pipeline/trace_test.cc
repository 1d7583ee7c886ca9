#include "planner/pipeline/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "nlohmann/json.hpp"
#include "planner/pipeline/memory.h"
#include "planner/pipeline/simulate.h"
#include "planner/pipeline/testing/random_pipeline.h"

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
      traced.problem, MakeOrders(Schedule::kEager1F1BDelay, 4, 6), {.max = 2});
  traced.trace = json::parse(FormatTraceJson(traced.problem, traced.timeline));
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

// Every event by the letter of the Trace Event Format.
class Strict {
 public:
  explicit Strict(const json& trace) {
    EXPECT_EQ(trace["displayTimeUnit"], "ns");
    for (const json& event : trace["traceEvents"]) {
      SCOPED_TRACE(event.dump());
      Check(event);
    }
    for (const auto& track : used_) {
      EXPECT_TRUE(threads_.contains(track)) << track.first << track.second;
      EXPECT_TRUE(processes_.contains(track.first)) << track.first;
    }
    // A flow begins, may go on, and ends, all later than it began.
    for (const auto& [key, phases] : flows_) {
      EXPECT_GE(phases.size(), 2u) << key;
      EXPECT_EQ(phases.front(), 's') << key;
      EXPECT_EQ(phases.back(), 'f') << key;
      EXPECT_EQ(std::count(phases.begin(), phases.end(), 't'),
                static_cast<int64_t>(phases.size()) - 2)
          << key;
    }
  }

  size_t flows() const { return flows_.size(); }

 private:
  using Track = std::pair<int, int>;

  static void Has(const json& event, const std::vector<std::string>& keys) {
    std::vector<std::string> found;
    for (const auto& [key, value] : event.items()) found.push_back(key);
    EXPECT_THAT(found, testing::UnorderedElementsAreArray(keys));
  }

  void Check(const json& event) {
    ASSERT_TRUE(event["name"].is_string());
    ASSERT_TRUE(event["pid"].is_number_integer());
    if (event.contains("tid")) {
      ASSERT_TRUE(event["tid"].is_number_integer());
    }
    const std::string phase = event["ph"];
    if (phase == "M") return Metadata(event);
    ASSERT_TRUE(event["ts"].is_number());
    EXPECT_GE(event["ts"].get<double>(), 0);
    if (phase == "C") return Counter(event);
    const Track track(event["pid"], event["tid"]);
    used_.insert(track);
    if (phase == "X") {
      Has(event, {"name", "cat", "ph", "pid", "tid", "ts", "dur", "args"});
      ASSERT_TRUE(event["cat"].is_string());
      ASSERT_TRUE(event["dur"].is_number());
      ASSERT_TRUE(event["args"].is_object());
      EXPECT_GE(event["dur"].get<double>(), 0);
      open_[track] = {Read(event["ts"]),
                      Read(event["ts"]) + Read(event["dur"])};
      return;
    }
    Flow(event, track, phase);
  }

  void Metadata(const json& event) {
    Has(event, {"name", "ph", "pid", "tid", "args"});
    const std::string name = event["name"];
    if (name == "process_name" || name == "thread_name") {
      EXPECT_FALSE(event["args"]["name"].get<std::string>().empty());
    } else {
      EXPECT_THAT(name,
                  testing::AnyOf("process_sort_index", "thread_sort_index"));
      EXPECT_TRUE(event["args"]["sort_index"].is_number_integer());
    }
    if (name == "process_name") {
      EXPECT_TRUE(processes_.insert(event["pid"].get<int>()).second);
    }
    if (name == "thread_name") {
      EXPECT_TRUE(threads_.insert(Track(event["pid"], event["tid"])).second);
    }
  }

  void Counter(const json& event) {
    Has(event, {"name", "ph", "pid", "ts", "args"});
    for (const auto& [series, value] : event["args"].items()) {
      EXPECT_TRUE(value.is_number()) << series;
    }
    EXPECT_TRUE(processes_.contains(event["pid"]));
  }

  void Flow(const json& event, const Track& track, const std::string& phase) {
    ASSERT_THAT(phase, testing::AnyOf("s", "t", "f"));
    std::vector<std::string> keys = {"name", "cat", "ph", "id",
                                     "pid",  "tid", "ts"};
    if (phase == "f") {
      keys.push_back("bp");
      EXPECT_EQ(event["bp"], "e");
    }
    Has(event, keys);
    // It is bound to the span of its track that is open then.
    ASSERT_TRUE(open_.contains(track));
    EXPECT_GE(Read(event["ts"]), open_[track].first);
    EXPECT_LT(Read(event["ts"]), open_[track].second);
    flows_[event["cat"].get<std::string>() + event["name"].get<std::string>() +
           event["id"].dump()] += phase[0];
  }

  std::set<int> processes_;
  std::set<Track> threads_;
  std::set<Track> used_;
  std::map<Track, std::pair<int64_t, int64_t>> open_;  // the last span
  std::map<std::string, std::string> flows_;           // phases in order
};

TEST(TraceTest, EveryEventIsOfTheFormat) {
  for (int seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const Traced traced = Trace(seed, seed % 2 == 0);
    const Strict strict(traced.trace);
    // Activations and gradients of 6 micro-batches over 3 links.
    EXPECT_LE(strict.flows(), 36u);
    EXPECT_GT(strict.flows(), 24u);
  }
}

// Transfers and stages of no time, one stage, one micro-batch.
TEST(TraceTest, WhatTakesNoTimeIsOfTheFormatToo) {
  PipelineProblem problem;
  problem.stages.resize(3);
  problem.stages[0].forward = problem.stages[2].forward = Picoseconds(5000);
  problem.transfers.resize(2);
  for (const Schedule schedule : kSchedules) {
    const auto timeline =
        Simulate(problem, MakeOrders(schedule, 3, problem.micro_batches));
    ASSERT_TRUE(timeline.ok()) << timeline.status();
    const json trace = json::parse(FormatTraceJson(problem, *timeline));
    EXPECT_EQ(Strict(trace).flows(), 0u);
  }
  problem.stages.resize(1);
  problem.transfers.clear();
  const auto alone = Simulate(problem, MakeOrders(Schedule::k1F1B, 1, 1));
  ASSERT_TRUE(alone.ok()) << alone.status();
  Strict(json::parse(FormatTraceJson(problem, *alone)));
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
  const auto expected = ComputePeakBytes(traced.problem, traced.timeline);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(peaks["memory of stage " + std::to_string(i + 1)], expected[i]);
  }
}

}  // namespace
}  // namespace meshwright::pipeline
