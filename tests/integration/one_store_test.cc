// Plans and the store that they share: a made-up machine, a real file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/open.h"
#include "profiledb/sqlite/sqlite_profile_store.h"

namespace meshwright::planning {
namespace {

using testing::HasSubstr;

class OneStoreTest : public testing::Test {
 protected:
  OneStoreTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  static v1::PlanRequest Request() {
    v1::PlanRequest request;
    request.set_hlo_module(segmenter::ReadSample("gpt2_tiny"));
    for (const int64_t size : {1, 2}) request.mutable_mesh()->add_shape(size);
    return request;
  }

  absl::StatusOr<v1::Plan> Plan(store::ProfileStore& store,
                                jobs::Measurer& measurer) const {
    return MakePlan(Request(), {&store, &measurer},
                    [](const v1::PlanProgress&) {});
  }

  std::unique_ptr<store::ProfileStore> Open() const {
    auto store = store::OpenProfileStore(path_);
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }

  // The keys of what was measured.
  static std::set<std::string> ReadKeys(store::ProfileStore& store) {
    std::set<std::string> keys;
    const absl::Status status =
        store.ForEach([&](const v1::ProfileResult& row, const store::Origin&) {
          EXPECT_EQ(row.outcome(), v1::MEASURED);
          keys.insert(row.key());
          return true;
        });
    EXPECT_TRUE(status.ok()) << status;
    return keys;
  }

  // Room for the tables and a few programs.
  static constexpr int64_t kSomeRowsBytes = 192 * 1024;
  const std::string folder_ = testing::TempDir() + "/one_store_test";
  const std::string path_ = folder_ + "/store";
};

// Gives its results while another plan is at the same ones.
class SteppingMeasurer : public jobs::FakeMeasurer {
 public:
  explicit SteppingMeasurer(std::latch* both) : both_(both) { machine = 7; }

  absl::Status Measure(const v1::RunnerRequest& request,
                       const OnResult& on_result,
                       const OnStarted& on_started) override {
    if (both_ != nullptr) std::exchange(both_, nullptr)->arrive_and_wait();
    for (const v1::Program& program : request.programs()) {
      keys.insert(program.key());
    }
    return FakeMeasurer::Measure(request, on_result, on_started);
  }

  std::set<std::string> keys;

 private:
  std::latch* both_;
};

TEST_F(OneStoreTest, TwoPlansAtOnceEndAlikeAndNoRowIsLost) {
  std::latch both{2};
  SteppingMeasurer first(&both), second(&both);
  absl::StatusOr<v1::Plan> one, other;
  std::thread beside([&] { other = Plan(*Open(), second); });
  one = Plan(*Open(), first);
  beside.join();
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_EQ(one->segments_size(), other->segments_size());
  for (int i = 0; i < one->segments_size(); ++i) {
    EXPECT_EQ(one->segments(i).config(), other->segments(i).config()) << i;
  }
  EXPECT_EQ(one->predicted().step_seconds(), other->predicted().step_seconds());
  std::set<std::string> measured = first.keys;
  measured.insert(second.keys.begin(), second.keys.end());
  const auto store = Open();
  EXPECT_EQ(ReadKeys(*store), measured);
  // A third plan finds all of it.
  jobs::FakeMeasurer none;
  const auto third = Plan(*store, none);
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(none.programs, 0);
  EXPECT_EQ(third->predicted().step_seconds(), one->predicted().step_seconds());
}

// A failure that has nothing to do with a program is no row of it.
TEST_F(OneStoreTest, AProgramThatMetABusyMachineIsMeasuredByTheNextPlan) {
  jobs::FakeMeasurer measurer;
  measurer.machine = 7;
  measurer.fails = {3};
  measurer.fail_as = v1::TRANSIENT;
  const auto store = Open();
  const auto plan = Plan(*store, measurer);
  ASSERT_TRUE(plan.ok()) << plan.status();
  // It, and the programs of configurations that it is a half of.
  EXPECT_GE(plan->programs().failed(), 1);
  EXPECT_EQ(static_cast<int>(ReadKeys(*store).size()), measurer.programs - 1);
  const auto again = Plan(*store, measurer);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_GE(again->programs().profiled(), 1);
  EXPECT_EQ(again->programs().failed(), 0);
  EXPECT_EQ(static_cast<int>(ReadKeys(*store).size()), measurer.programs - 1);
}

TEST_F(OneStoreTest, AFullDiskEndsThePlanAndKeepsWhatIsThere) {
  jobs::FakeMeasurer measurer;
  measurer.machine = 7;
  {
    const auto full =
        sqlite::SqliteProfileStore::Open(path_, {.max_bytes = kSomeRowsBytes});
    ASSERT_TRUE(full.ok()) << full.status();
    const auto plan = Plan(**full, measurer);
    ASSERT_EQ(plan.status().code(), absl::StatusCode::kResourceExhausted)
        << plan.status();
    EXPECT_THAT(std::string(plan.status().message()),
                HasSubstr("the disk is full"));
  }
  const auto store = Open();
  const int kept = static_cast<int>(ReadKeys(*store).size());
  EXPECT_GT(kept, 0);
  // It stops at the program whose row, or whose module, has no place.
  EXPECT_LE(measurer.programs, kept + 1);
  const int before = measurer.programs;
  const auto plan = Plan(*store, measurer);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->programs().cached(), kept);
  EXPECT_EQ(plan->programs().profiled(), measurer.programs - before);
}

}  // namespace
}  // namespace meshwright::planning
