#include "coordinator/jobs/check_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace meshwright::jobs {
namespace {

using testing::HasSubstr;

v1::ProfileResult Measured() {
  v1::ProfileResult result;
  result.set_outcome(v1::MEASURED);
  v1::Measurement& it = *result.mutable_measurement();
  it.set_minimum_ns(1000);
  it.set_median_ns(1100);
  it.set_compute_ns(900);
  it.set_communication_ns(100);
  it.mutable_memory()->set_peak_bytes(1 << 20);
  return result;
}

std::string FaultAfter(const std::function<void(v1::ProfileResult&)>& change) {
  v1::ProfileResult result = Measured();
  change(result);
  return FindFault({}, result);
}

TEST(CheckResultTest, WhatADeviceMeasuresIsBelieved) {
  EXPECT_EQ(FindFault({}, Measured()), "");
  v1::ProfileResult failed;
  for (const auto outcome : {v1::COMPILE_FAILED, v1::OUT_OF_MEMORY,
                             v1::TIMED_OUT, v1::CRASHED, v1::TRANSIENT}) {
    failed.set_outcome(outcome);
    EXPECT_EQ(FindFault({}, failed), "") << outcome;
  }
}

TEST(CheckResultTest, NegativeEmptyAndAbsurdFiguresAreNamed) {
  EXPECT_THAT(FaultAfter([](auto& it) {
                it.mutable_measurement()->set_minimum_ns(-1);
              }),
              HasSubstr("-1 ns"));
  EXPECT_THAT(FaultAfter([](auto& it) { it.clear_measurement(); }),
              HasSubstr("no measurement"));
  EXPECT_THAT(FaultAfter([](auto& it) {
                it.mutable_measurement()->clear_minimum_ns();
              }),
              HasSubstr("0 ns"));
  EXPECT_THAT(FaultAfter([](auto& it) {
                it.mutable_measurement()->set_minimum_ns(1);
                it.mutable_measurement()->set_compute_ns(1);
                it.mutable_measurement()->clear_communication_ns();
              }),
              HasSubstr("1 ns is below the 100 ns"));
  EXPECT_THAT(FaultAfter([](auto& it) {
                v1::Measurement& hours = *it.mutable_measurement();
                hours.set_minimum_ns(int64_t{1} << 60);
              }),
              HasSubstr("more than an hour"));
  EXPECT_THAT(FaultAfter([](auto& it) {
                it.mutable_measurement()->mutable_memory()->set_peak_bytes(-7);
              }),
              HasSubstr("-7 bytes"));
  EXPECT_THAT(FaultAfter([](auto& it) {
                it.mutable_measurement()->set_other_load(std::nan(""));
              }),
              HasSubstr("load"));
  EXPECT_THAT(FaultAfter([](auto& it) { it.clear_outcome(); }),
              HasSubstr("outcome"));
  EXPECT_THAT(FaultAfter([](auto& it) { it.set_outcome(v1::PRUNED); }),
              HasSubstr("prunes"));
}

TEST(CheckResultTest, AFailureHasNoTimes) {
  v1::Program program;
  v1::ProfileResult failed = Measured();
  failed.set_outcome(v1::COMPILE_FAILED);
  EXPECT_THAT(FindFault(program, failed), HasSubstr("failed and has times"));
  failed.clear_measurement();
  EXPECT_EQ(FindFault(program, failed), "");
  program.set_compile_only(true);
  EXPECT_EQ(FindFault(program, failed), "");
}

TEST(CheckResultTest, OutputsMayDifferByInfinityButNotByNoNumber) {
  EXPECT_EQ(
      FaultAfter([](auto& it) {
        it.set_max_relative_difference(std::numeric_limits<double>::infinity());
        it.add_output_relative_differences(
            std::numeric_limits<double>::infinity());
      }),
      "");
  EXPECT_THAT(
      FaultAfter([](auto& it) { it.set_max_relative_difference(-0.5); }),
      HasSubstr("difference"));
  EXPECT_THAT(FaultAfter([](auto& it) {
                it.add_output_relative_differences(std::nan(""));
              }),
              HasSubstr("difference"));
}

TEST(CheckResultTest, AMeasurementSaysWhatMemoryItsProgramNeeds) {
  EXPECT_THAT(
      FaultAfter([](auto& it) { it.mutable_measurement()->clear_memory(); }),
      HasSubstr("memory"));
  EXPECT_THAT(FaultAfter([](auto& it) {
                it.mutable_measurement()->mutable_memory()->set_peak_bytes(0);
              }),
              HasSubstr("memory"));
}

TEST(CheckResultTest, TimesComeFromSamples) {
  EXPECT_THAT(FaultAfter([](auto& it) {
                it.mutable_measurement()->set_quality(v1::GOOD);
              }),
              HasSubstr("good and has no samples"));
  EXPECT_THAT(FaultAfter([](auto& it) {
                it.mutable_measurement()->set_sample_count(1'000'000);
              }),
              HasSubstr("counts 1000000 samples and has 0"));
}

TEST(CheckResultTest, AProgramThatIsOnlyCompiledHasNoTimes) {
  v1::ProfileResult compiled;
  compiled.set_outcome(v1::MEASURED);
  compiled.mutable_measurement()->mutable_memory()->set_peak_bytes(100);
  v1::Program program;
  EXPECT_NE(FindFault(program, compiled), "");
  program.set_compile_only(true);
  EXPECT_EQ(FindFault(program, compiled), "");
}

}  // namespace
}  // namespace meshwright::jobs
