#include "coordinator/validation/drift.h"

#include <gtest/gtest.h>

#include <string>

namespace meshwright::validation {
namespace {

v1::ProfileResult Took(int64_t nanoseconds) {
  v1::ProfileResult result;
  result.set_outcome(v1::MEASURED);
  result.mutable_measurement()->set_minimum_ns(nanoseconds / 2);
  result.mutable_measurement()->set_median_ns(nanoseconds);
  return result;
}

Probe MakeProbe(const std::string& key, double runs, double nanoseconds) {
  Probe probe;
  probe.program.set_key(key);
  probe.runs_of = {runs};
  probe.profiled_ns = nanoseconds;
  return probe;
}

// One segment per program, which takes so long.
std::vector<Probe> Chosen(const std::vector<int64_t>& nanoseconds) {
  planning::MeasuredStep step;
  PartialChoice plan;
  for (const int64_t each : nanoseconds) {
    const int number = static_cast<int>(plan.size());
    v1::Program program;
    program.set_key(std::to_string(number));
    step.results[program.key()] = Took(each);
    step.space.programs.push_back(program);
    space::Configuration configuration;
    configuration.program = space::ProgramId(number);
    step.space.types.emplace_back().configurations.push_back(configuration);
    step.analysis.type_of_segment.emplace_back(number);
    plan.push_back(0);
  }
  return ChooseProbes(step, {plan});
}

TEST(ChooseProbesTest, MostOfTheTimeIsEnough) {
  const std::vector<Probe> probes = Chosen({1, 30, 1, 68});
  ASSERT_EQ(probes.size(), 2u);
  EXPECT_EQ(probes[0].program.key(), "3");
  EXPECT_EQ(probes[1].program.key(), "1");
  EXPECT_EQ(Chosen({1, 30, 2, 67}).size(), 3u);
}

TEST(ChooseProbesTest, ThereIsAnEndToIt) {
  EXPECT_EQ(Chosen(std::vector<int64_t>(100, 7)).size(),
            static_cast<size_t>(kMaxProbes));
}

TEST(DriftTest, IsTheSumNowOverTheSumThen) {
  EXPECT_DOUBLE_EQ(
      *EstimateDrift({MakeProbe("layer", 9, 100), MakeProbe("head", 1, 100)},
                     {{"layer", Took(110)}, {"head", Took(200)}}),
      1.19);
}

TEST(DriftTest, ProgramsThatDidNotRunSayNothing) {
  v1::ProfileResult crashed;
  crashed.set_outcome(v1::CRASHED);
  EXPECT_DOUBLE_EQ(
      *EstimateDrift({MakeProbe("a", 1, 100), MakeProbe("b", 5, 100),
                      MakeProbe("c", 1, 100)},
                     {{"a", Took(90)}, {"b", crashed}}),
      0.9);
  EXPECT_FALSE(EstimateDrift({MakeProbe("a", 1, 100)}, {}).has_value());
}

// Two plans of three runs each and one they share; the first one's program was
// profiled in a fast moment, the second one's in a slow one.
TEST(DriftTest, APlanCountsItsOwnPrograms) {
  Probe fast = MakeProbe("fast", 3, 100);
  Probe slow = MakeProbe("slow", 0, 100);
  fast.runs_of = {3, 0};
  slow.runs_of = {0, 3};
  const std::vector<Probe> probes = {fast, slow};
  const std::map<std::string, v1::ProfileResult> results = {
      {"fast", Took(140)}, {"slow", Took(100)}};
  const double drift = *EstimateDrift(probes, results);
  EXPECT_DOUBLE_EQ(drift, 1.2);
  // 300 ns are timed again, 100 are not.
  EXPECT_DOUBLE_EQ(EstimatePlanDrift(0, 400e-9, probes, results, drift),
                   (420 + 100 * 1.2) / 400);
  EXPECT_DOUBLE_EQ(EstimatePlanDrift(1, 400e-9, probes, results, drift),
                   (300 + 100 * 1.2) / 400);
  // None of its own: the machine's.
  EXPECT_DOUBLE_EQ(EstimatePlanDrift(2, 400e-9, probes, results, drift), drift);
}

}  // namespace
}  // namespace meshwright::validation
