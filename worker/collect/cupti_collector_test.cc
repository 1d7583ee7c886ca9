#include "worker/collect/cupti_collector.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/shared_library.h"
#include "worker/collect/kernel_times.h"

namespace meshwright::worker::collect {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::SizeIs;
using Kind = KernelRecord::Kind;

constexpr int kMemcpy = 1;
constexpr int kMemset = 2;
constexpr int kKernel = 10;

// Beside the double as pip puts a plugin beside the real library.
constexpr char kPlugin[] = MESHWRIGHT_DOUBLES "/jax_plugins/xla/plugin.so";

// Of tests/doubles/cupti.cc.
struct Double {
  void (*reset)();
  void (*place)(int, uint64_t, uint64_t, uint32_t, const char*, bool);
  void (*drop)(size_t);
  void (*records_per_buffer)(size_t);
  void (*refuse)(int);
  size_t (*count_enabled)();
  void (*set_device)(uint32_t);
};

class CuptiCollectorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = CuptiCollector::Open(kPlugin);
    ASSERT_TRUE(opened.ok()) << opened.status();
    collector_ = *std::move(opened);
    // The collector has mapped it, so this is the same copy.
    const auto library = base::SharedLibrary::Open("libcupti.so.13", "");
    ASSERT_TRUE(library.ok()) << library.status();
    ASSERT_TRUE(library->Find("cuptiDouble_Reset", &double_.reset).ok());
    ASSERT_TRUE(library->Find("cuptiDouble_Place", &double_.place).ok());
    ASSERT_TRUE(library->Find("cuptiDouble_Drop", &double_.drop).ok());
    ASSERT_TRUE(library
                    ->Find("cuptiDouble_SetRecordsPerBuffer",
                           &double_.records_per_buffer)
                    .ok());
    ASSERT_TRUE(
        library->Find("cuptiDouble_RefuseToEnable", &double_.refuse).ok());
    ASSERT_TRUE(
        library->Find("cuptiDouble_CountEnabled", &double_.count_enabled).ok());
    ASSERT_TRUE(
        library->Find("cuptiDouble_SetDevice", &double_.set_device).ok());
    double_.reset();
  }

  std::unique_ptr<CuptiCollector> collector_;
  Double double_ = {};
};

TEST_F(CuptiCollectorTest, ReadsKernelsAndCopies) {
  ASSERT_TRUE(collector_->Start().ok());
  double_.place(kKernel, 100, 170, 14, "fusion_1", false);
  double_.place(kMemcpy, 170, 175, 15, "", false);
  double_.place(kMemset, 180, 181, 14, "", false);
  const auto collection = collector_->Stop();
  ASSERT_TRUE(collection.ok()) << collection.status();
  ASSERT_THAT(collection->records, SizeIs(3));
  const KernelRecord& kernel = collection->records[0];
  EXPECT_EQ(kernel.kind, Kind::kKernel);
  EXPECT_EQ(kernel.name, "fusion_1");
  EXPECT_EQ(kernel.start_ns, 100);
  EXPECT_EQ(kernel.end_ns, 170);
  EXPECT_EQ(kernel.stream, 14);
  EXPECT_EQ(collection->records[1].kind, Kind::kCopy);
  EXPECT_EQ(collection->records[1].name, "Memcpy");
  EXPECT_EQ(collection->records[1].stream, 15);
  EXPECT_EQ(collection->records[2].name, "Memset");
  EXPECT_EQ(collection->dropped, 0);
}

TEST_F(CuptiCollectorTest, RecordsNameTheirDevice) {
  ASSERT_TRUE(collector_->Start().ok());
  double_.set_device(3);
  for (const int kind : {kKernel, kMemcpy, kMemset}) {
    double_.place(kind, 100, 170, 14, "k", false);
  }
  double_.set_device(0);
  double_.place(kKernel, 100, 170, 14, "k", false);
  const auto collection = collector_->Stop();
  ASSERT_TRUE(collection.ok()) << collection.status();
  EXPECT_THAT(collection->records,
              ElementsAre(Field(&KernelRecord::device, 3),
                          Field(&KernelRecord::device, 3),
                          Field(&KernelRecord::device, 3),
                          Field(&KernelRecord::device, 0)));
}

TEST_F(CuptiCollectorTest, SplitBuffersAreOneCollection) {
  double_.records_per_buffer(2);
  ASSERT_TRUE(collector_->Start().ok());
  for (uint64_t i = 0; i < 7; ++i) {
    double_.place(kKernel, 10 * i, 10 * i + 5, 14, "k", false);
  }
  const auto collection = collector_->Stop();
  ASSERT_TRUE(collection.ok());
  EXPECT_THAT(collection->records, SizeIs(7));
}

TEST_F(CuptiCollectorTest, DropsOfASessionAreCountedAndNoOthers) {
  double_.drop(5);  // before
  ASSERT_TRUE(collector_->Start().ok());
  double_.place(kKernel, 1, 2, 14, "k", false);
  double_.drop(3);
  const auto collection = collector_->Stop();
  ASSERT_TRUE(collection.ok());
  EXPECT_EQ(collection->dropped, 3);
}

// They lie before the first window of that session (kernel_times.h).
TEST_F(CuptiCollectorTest, LateRecordsComeWithTheTimesTheyHad) {
  ASSERT_TRUE(collector_->Start().ok());
  double_.place(kKernel, 1, 2, 14, "first", false);
  double_.place(kKernel, 3, 4, 14, "late", true);
  ASSERT_TRUE(collector_->Stop().ok());
  ASSERT_TRUE(collector_->Start().ok());
  double_.place(kKernel, 100'000, 100'006, 14, "second", false);
  const auto collection = collector_->Stop();
  ASSERT_TRUE(collection.ok());
  EXPECT_THAT(collection->records,
              ElementsAre(Field(&KernelRecord::name, "late"),
                          Field(&KernelRecord::name, "second")));
  EXPECT_EQ(SumKernels(*collection, {{100'000, 100'110}}, {}).span_ns(), 6);
}

TEST_F(CuptiCollectorTest, RecordsWithoutTimesArePassedOn) {
  ASSERT_TRUE(collector_->Start().ok());
  double_.place(kKernel, 0, 0, 14, "of a graph", false);
  const auto collection = collector_->Stop();
  ASSERT_TRUE(collection.ok());
  ASSERT_THAT(collection->records, SizeIs(1));
  EXPECT_EQ(collection->records[0].start_ns, 0);
}

TEST_F(CuptiCollectorTest, MissingPermissionIsOneSentence) {
  double_.refuse(35);
  EXPECT_EQ(collector_->Start().message(),
            "CUPTI's cuptiActivityEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES "
            "(35); load the driver's module nvidia with "
            "NVreg_RestrictProfilingToAdminUsers=0");
}

// The samples that follow are timed with collection off.
TEST_F(CuptiCollectorTest, AStartThatFailsLeavesNothingOn) {
  double_.refuse(35);
  ASSERT_FALSE(collector_->Start().ok());
  EXPECT_EQ(double_.count_enabled(), 0u);
  double_.refuse(0);
  ASSERT_TRUE(collector_->Start().ok());
  EXPECT_EQ(double_.count_enabled(), 3u);
  ASSERT_TRUE(collector_->Stop().ok());
  EXPECT_EQ(double_.count_enabled(), 0u);
}

}  // namespace
}  // namespace meshwright::worker::collect
