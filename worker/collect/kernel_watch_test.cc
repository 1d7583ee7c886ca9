#include "worker/collect/kernel_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"

namespace meshwright::worker::collect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The work of these tests' device since the last query.
struct Device {
  // One kernel that takes as long as the run.
  absl::Status Run() {
    const int64_t start = absl::GetCurrentTimeNanos();
    int64_t end = start;
    while (end < start + 50'000) end = absl::GetCurrentTimeNanos();
    kernels.push_back(
        {KernelRecord::Kind::kKernel, "gemm", "dot.1", start, end, 7});
    return absl::OkStatus();
  }

  std::vector<KernelRecord> kernels;
  bool is_watched = false;
};

class FakeCollector : public KernelCollector {
 public:
  FakeCollector(std::string name, Device* device, double stretch = 1)
      : name_(std::move(name)), device_(device), stretch_(stretch) {}

  std::string name() const override { return name_; }
  absl::Status Start() override {
    EXPECT_FALSE(device_->is_watched) << "two collectors at once";
    if (!fault.empty()) return absl::FailedPreconditionError(fault);
    device_->is_watched = true;
    device_->kernels.clear();
    return absl::OkStatus();
  }
  absl::StatusOr<Collection> Stop() override {
    device_->is_watched = false;
    Collection collection;
    for (KernelRecord record : std::exchange(device_->kernels, {})) {
      record.end_ns =
          record.start_ns +
          static_cast<int64_t>(
              static_cast<double>(record.end_ns - record.start_ns) * stretch_);
      collection.records.push_back(record);
    }
    return collection;
  }

  std::string fault;

 private:
  const std::string name_;
  Device* const device_;
  const double stretch_;
};

class KernelWatchTest : public testing::Test {
 protected:
  KernelWatch Watching(const std::vector<FakeCollector*>& collectors,
                       bool keeps_step = false) {
    std::vector<std::unique_ptr<KernelCollector>> owned;
    for (FakeCollector* const it : collectors) owned.emplace_back(it);
    return KernelWatch(std::move(owned), keeps_step);
  }
  v1::Measurement Watch(KernelWatch& watch) {
    v1::Measurement measurement;
    const absl::Status status = watch.Watch(
        [&](int run) {
          runs_.push_back(run);
          return device_.Run();
        },
        {}, measurement);
    EXPECT_TRUE(status.ok()) << status;
    return measurement;
  }

  Device device_;
  std::vector<int> runs_;
};

TEST_F(KernelWatchTest, CollectorsTakeTurnsAndLeaveTheFirstRunOut) {
  KernelWatch watch = Watching({new FakeCollector("plugin", &device_),
                                new FakeCollector("cupti", &device_)});
  const v1::Measurement measurement = Watch(watch);
  EXPECT_THAT(runs_, ElementsAre(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5));
  ASSERT_THAT(measurement.kernel_times(), SizeIs(2));
  EXPECT_EQ(measurement.kernel_times(0).collector(), "plugin");
  EXPECT_EQ(measurement.kernel_times(1).collector(), "cupti");
  for (const v1::KernelTimes& times : measurement.kernel_times()) {
    EXPECT_EQ(times.executions(), 5);
    EXPECT_EQ(times.kernels(), 1);
  }
  EXPECT_THAT(measurement.kernel_times(0).faults(), IsEmpty());
}

TEST_F(KernelWatchTest, TwoThatDisagreeAreNotBothRight) {
  KernelWatch watch = Watching({new FakeCollector("plugin", &device_),
                                new FakeCollector("cupti", &device_, 0.5)});
  const v1::Measurement measurement = Watch(watch);
  EXPECT_THAT(measurement.kernel_times(0).faults(), IsEmpty());
  EXPECT_THAT(measurement.kernel_times(1).faults(),
              ElementsAre(HasSubstr("the collectors differ by")));
}

TEST_F(KernelWatchTest, OneThatFailsSaysSoOnceAndIsLeftOut) {
  auto* const broken = new FakeCollector("cupti", &device_);
  broken->fault = "CUPTI is in use; stop the other profiler";
  KernelWatch watch = Watching({broken, new FakeCollector("plugin", &device_)});
  const v1::Measurement first = Watch(watch);
  ASSERT_THAT(first.kernel_times(), SizeIs(2));
  EXPECT_EQ(first.kernel_times(0).collector(), "cupti");
  EXPECT_THAT(first.kernel_times(0).faults(),
              ElementsAre(HasSubstr("CUPTI is in use")));
  EXPECT_EQ(first.kernel_times(1).executions(), 5);
  const v1::Measurement second = Watch(watch);
  ASSERT_THAT(second.kernel_times(), SizeIs(1));
  EXPECT_EQ(second.kernel_times(0).collector(), "plugin");
  EXPECT_FALSE(watch.is_empty());
}

TEST_F(KernelWatchTest, AMemberOfAGangMakesTheRunsOfACollectorThatFails) {
  auto* const broken = new FakeCollector("cupti", &device_);
  broken->fault = "CUPTI is in use; stop the other profiler";
  KernelWatch watch = Watching({broken, new FakeCollector("plugin", &device_)},
                               /*keeps_step=*/true);
  for (const int have_times : {2, 1}) {
    runs_.clear();
    const v1::Measurement measurement = Watch(watch);
    EXPECT_THAT(runs_, SizeIs(12));
    ASSERT_THAT(measurement.kernel_times(), SizeIs(have_times));
    EXPECT_EQ(measurement.kernel_times(have_times - 1).executions(), 5);
  }
}

TEST_F(KernelWatchTest, AProgramThatFailsEndsTheSession) {
  KernelWatch watch = Watching({new FakeCollector("plugin", &device_)});
  v1::Measurement measurement;
  const absl::Status status = watch.Watch(
      [](int run) {
        return run < 3 ? absl::OkStatus() : absl::InternalError("it crashed");
      },
      {}, measurement);
  EXPECT_EQ(status, absl::InternalError("it crashed"));
  EXPECT_FALSE(device_.is_watched);
  EXPECT_EQ(Watch(watch).kernel_times(0).executions(), 5);
}

}  // namespace
}  // namespace meshwright::worker::collect
