#include "coordinator/metrics/store_census.h"

#include <gtest/gtest.h>

#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::metrics {
namespace {

// Each count takes as long as the test says.
class SlowStore : public store::FakeProfileStore {
 public:
  explicit SlowStore(base::FakeClock* clock) : clock_(clock) {}
  absl::StatusOr<store::Statistics> Count() override {
    ++counted_;
    clock_->Advance(takes_);
    if (!failure_.ok()) return failure_;
    return FakeProfileStore::Count();
  }
  void set_takes(absl::Duration takes) { takes_ = takes; }
  void set_failure(absl::Status failure) { failure_ = std::move(failure); }
  // Read while no count runs.
  int counted() const { return counted_; }

 private:
  base::FakeClock* const clock_;
  absl::Duration takes_;
  absl::Status failure_;
  int counted_ = 0;
};

class StoreCensusTest : public testing::Test {
 protected:
  static void CountFirst(StoreCensus& census) {
    EXPECT_EQ(Programs(census), -1);
    AwaitCount(census);
  }
  static void AwaitCount(StoreCensus& census) {
    ASSERT_TRUE(census.AwaitIdle(absl::InfiniteDuration()));
  }
  static int64_t Programs(StoreCensus& census) {
    const auto count = census.Newest();
    return count.has_value() ? count->figures.programs : -1;
  }
  void AddProgram(const std::string& name) {
    ASSERT_TRUE(store_.RecordProgram(store::MakeKey(name), "hlo").ok());
  }

  base::FakeClock clock_;
  SlowStore store_{&clock_};
};

TEST_F(StoreCensusTest, NobodyAsksAndNobodyCounts) {
  { StoreCensus census(&store_, &clock_); }
  EXPECT_EQ(store_.counted(), 0);
}

TEST_F(StoreCensusTest, CountsAgainWhenItIsDue) {
  StoreCensus census(&store_, &clock_);
  CountFirst(census);
  EXPECT_EQ(Programs(census), 0);
  AddProgram("a");
  clock_.Advance(StoreCensus::kInterval - absl::Seconds(1));
  EXPECT_EQ(Programs(census), 0);
  AwaitCount(census);
  EXPECT_EQ(Programs(census), 0);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(Programs(census), 0);  // begins the next one
  AwaitCount(census);
  EXPECT_EQ(Programs(census), 1);
}

TEST_F(StoreCensusTest, RestsAHundredTimesWhatACountTakes) {
  store_.set_takes(absl::Minutes(1));
  StoreCensus census(&store_, &clock_);
  CountFirst(census);
  AddProgram("a");
  clock_.Advance(absl::Minutes(99));
  EXPECT_EQ(Programs(census), 0);
  AwaitCount(census);
  EXPECT_EQ(Programs(census), 0);
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(Programs(census), 0);
  AwaitCount(census);
  EXPECT_EQ(Programs(census), 1);
}

TEST_F(StoreCensusTest, AStoreThatFailsLeavesTheCountBefore) {
  AddProgram("a");
  StoreCensus census(&store_, &clock_);
  CountFirst(census);
  AddProgram("b");
  store_.set_failure(absl::UnavailableError("gone"));
  clock_.Advance(StoreCensus::kInterval);
  EXPECT_EQ(Programs(census), 1);
  AwaitCount(census);
  EXPECT_EQ(Programs(census), 1);
}

}  // namespace
}  // namespace meshwright::metrics
