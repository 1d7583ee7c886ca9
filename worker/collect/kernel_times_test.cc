#include "worker/collect/kernel_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::worker::collect {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = KernelRecord::Kind;

constexpr int64_t kSecond = 1'000'000'000;

KernelRecord Kernel(int64_t start, int64_t end, int64_t stream = 7,
                    const std::string& operation = "fusion.1") {
  return {Kind::kKernel, "loop_fusion", operation, start, end, stream};
}

// Two kernels with a gap, a copy, and an all-reduce of another stream that the
// second kernel hides in part: 100 us in all.
void AddExecution(int64_t at, Collection& collection) {
  collection.records.push_back(Kernel(at + 1'000, at + 31'000));
  collection.records.push_back(
      {Kind::kCopy, "Memcpy", "", at + 31'000, at + 36'000, 7});
  collection.records.push_back(Kernel(at + 41'000, at + 81'000));
  collection.records.push_back(
      Kernel(at + 71'000, at + 101'000, 8, "all-reduce.2"));
}

std::vector<Window> Windows(int count) {
  std::vector<Window> windows;
  for (int i = 0; i < count; ++i) {
    windows.push_back({(i + 1) * kSecond, (i + 1) * kSecond + 150'000});
  }
  return windows;
}

TEST(KernelTimesTest, AnExecutionIsSplit) {
  Collection collection;
  for (int i = 1; i <= 3; ++i) AddExecution(i * kSecond, collection);
  const auto times = SumKernels(collection, Windows(3), {"all-reduce.2"});
  EXPECT_THAT(times.faults(), IsEmpty());
  EXPECT_EQ(times.executions(), 3);
  EXPECT_EQ(times.kernels(), 3);
  EXPECT_EQ(times.wall_ns(), 150'000);
  EXPECT_EQ(times.lead_ns(), 1'000);
  EXPECT_EQ(times.span_ns(), 100'000);
  EXPECT_EQ(times.compute_ns(), 70'000);
  EXPECT_EQ(times.communication_ns(), 30'000);
  EXPECT_EQ(times.overlap_ns(), 10'000);
  EXPECT_EQ(times.copy_ns(), 5'000);
  EXPECT_EQ(times.idle_ns(), 5'000);
  ASSERT_EQ(times.hottest_size(), 3);
  EXPECT_EQ(times.hottest(0).operation(), "fusion.1");
  EXPECT_EQ(times.hottest(0).count(), 2);
  EXPECT_EQ(times.hottest(0).total_ns(), 70'000);
  EXPECT_EQ(times.compute_ns() + times.communication_ns() - times.overlap_ns() +
                times.copy_ns() + times.idle_ns(),
            times.span_ns());
}

// The first waits 40 us for the second, which computes meanwhile.
TEST(KernelTimesTest, AnotherDevicesComputingHidesNoCommunication) {
  Collection collection;
  const auto add = [&](int64_t device, int64_t start, int64_t end,
                       const std::string& operation) {
    collection.records.push_back(
        Kernel(kSecond + start, kSecond + end, 7, operation));
    collection.records.back().device = device;
  };
  add(1, 500, 90'500, "fusion.1");
  add(0, 1'000, 61'000, "fusion.1");
  add(0, 61'000, 101'000, "all-reduce.2");
  add(1, 90'500, 100'900, "all-reduce.2");
  v1::Measurement row;
  v1::KernelTimes& times = *row.add_kernel_times();
  times = SumKernels(collection, Windows(1), {"all-reduce.2"});
  EXPECT_THAT(times.faults(), IsEmpty());
  EXPECT_EQ(times.compute_ns(), 90'000);
  EXPECT_EQ(times.communication_ns(), 10'400);

  collection.records.back().end_ns -= 1'000;  // the first spans more
  times = SumKernels(collection, Windows(1), {"all-reduce.2"});
  EXPECT_THAT(times.faults(), IsEmpty());
  EXPECT_EQ(times.span_ns(), 100'500);
  EXPECT_EQ(times.lead_ns(), 500);
  EXPECT_EQ(times.kernels(), 2);
  EXPECT_EQ(times.compute_ns(), 60'000);
  EXPECT_EQ(times.communication_ns(), 40'000);
  EXPECT_EQ(times.overlap_ns(), 0);
  EXPECT_EQ(times.idle_ns(), 500);
  ASSERT_EQ(times.hottest_size(), 2);
  EXPECT_EQ(times.hottest(0).total_ns(), 60'000);
  EXPECT_EQ(FindExposedCommunication(row), 40'000);
}

TEST(KernelTimesTest, KernelsOfOtherOperationsAreKnownByNcclsNames) {
  for (const char* operation : {"", "command_buffer_1"}) {
    for (const char* name :
         {"ncclDevKernel_AllReduce_Sum_f32_RING_LL",
          "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgs"}) {
      Collection collection;
      KernelRecord record = Kernel(kSecond + 10, kSecond + 30, 7, operation);
      record.name = name;
      collection.records = {record,
                            Kernel(kSecond + 30, kSecond + 90, 7, operation)};
      collection.records.back().name = "_Z6nvjet24ncclDevKernelArgs";
      const auto times = SumKernels(collection, Windows(1), {"all-reduce.2"});
      EXPECT_EQ(times.communication_ns(), 20);
      EXPECT_EQ(times.compute_ns(), 60);
    }
  }
}

TEST(KernelTimesTest, NamesAreShortAndOfAMessage) {
  Collection collection;
  KernelRecord record = Kernel(kSecond, kSecond + 30);
  record.name = "\xff" + std::string(5000, 'k');
  collection.records = {record};
  const auto times = SumKernels(collection, Windows(1), {});
  EXPECT_EQ(times.hottest(0).name(), "?" + std::string(199, 'k'));
}

TEST(KernelTimesTest, TheFastestOfTheUsualExecutionsCounts) {
  Collection collection;
  AddExecution(1 * kSecond, collection);
  collection.records.push_back(Kernel(2 * kSecond, 2 * kSecond + 10));
  AddExecution(3 * kSecond, collection);
  collection.records.back().end_ns -= 7'000;
  AddExecution(4 * kSecond, collection);
  const auto times = SumKernels(collection, Windows(4), {"all-reduce.2"});
  EXPECT_THAT(times.faults(), IsEmpty());
  EXPECT_EQ(times.span_ns(), 93'000);
}

TEST(KernelTimesTest, RecordsBeforeTheFirstWindowAreNotLookedAt) {
  Collection collection;
  collection.records = {Kernel(kSecond / 2, kSecond / 2 + 70),
                        Kernel(kSecond, kSecond + 50)};
  EXPECT_EQ(SumKernels(collection, Windows(1), {}).span_ns(), 50);
}

TEST(KernelTimesTest, WhatCannotBeIsAFault) {
  Collection none;
  EXPECT_THAT(SumKernels(none, Windows(2), {}).faults(),
              ElementsAre("the collector saw no kernel"));
  EXPECT_THAT(SumKernels(none, {}, {}).faults(),
              ElementsAre("the collector saw no kernel"));

  Collection dropped;
  AddExecution(kSecond, dropped);
  dropped.dropped = 3;
  EXPECT_THAT(SumKernels(dropped, Windows(1), {}).faults(),
              ElementsAre("3 records were dropped"));

  Collection reversed;
  AddExecution(kSecond, reversed);
  reversed.records.push_back(Kernel(kSecond + 9, kSecond + 8));
  reversed.records.push_back(Kernel(0, 0));
  EXPECT_THAT(SumKernels(reversed, Windows(1), {}).faults(),
              ElementsAre("1 records have no times",
                          "1 records end before they start"));

  Collection long_one;
  long_one.records = {Kernel(kSecond, kSecond + 500'000)};
  EXPECT_THAT(SumKernels(long_one, Windows(1), {}).faults(),
              ElementsAre(HasSubstr("the records fill 500000 ns")));

  Collection uneven;
  for (int i = 1; i <= 3; ++i) {
    for (int k = 0; k < i; ++k) {
      uneven.records.push_back(Kernel(i * kSecond + k, i * kSecond + k + 1));
    }
  }
  EXPECT_THAT(SumKernels(uneven, Windows(3), {}).faults(),
              ElementsAre("the executions show different numbers of records"));
}

v1::Measurement Row(int64_t minimum, std::vector<int64_t> spans) {
  v1::Measurement row;
  row.set_minimum_ns(minimum);
  row.set_median_ns(minimum + 50);
  row.add_samples_ns(minimum);
  row.add_samples_ns(minimum + 50);
  for (const int64_t span : spans) {
    v1::KernelTimes& times = *row.add_kernel_times();
    times.set_span_ns(span);
    times.set_communication_ns(30);
    times.set_overlap_ns(10);
  }
  return row;
}

TEST(KernelTimesTest, LaunchIsWhatTheSpanDoesNotHold) {
  const v1::Measurement row = Row(1'000, {700, 720});
  EXPECT_EQ(FindLaunch(row), 300);
  EXPECT_EQ(FindExposedCommunication(row), 20);
}

TEST(KernelTimesTest, WithoutATrustedCollectorThereIsNone) {
  v1::Measurement row = Row(1'000, {700});
  row.mutable_kernel_times(0)->add_faults("3 records were dropped");
  EXPECT_EQ(FindLaunch(row), 0);
  EXPECT_EQ(FindExposedCommunication(row), 0);
  EXPECT_EQ(FindLaunch(Row(1'000, {1'200})), 0) << "slow when watched";
}

TEST(KernelTimesTest, RecordsOfImpossibleTimesAreFaults) {
  Collection collection;
  AddExecution(kSecond, collection);
  collection.records.push_back(Kernel(kSecond + 5, INT64_MAX));
  collection.records.push_back(Kernel(INT64_MIN, INT64_MAX));
  collection.records.push_back(Kernel(INT64_MAX - 1, INT64_MAX));
  const auto times = SumKernels(collection, Windows(2), {});
  EXPECT_THAT(times.faults(), Contains("1 records have no times"));
  EXPECT_THAT(times.faults(), Contains("1 records take more than an hour"));
  EXPECT_GE(times.idle_ns(), 0);
}

}  // namespace
}  // namespace meshwright::worker::collect
