#include "profiledb/store/observed_profile_store.h"

#include <gtest/gtest.h>

#include <memory>

#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

class CountingObserver : public LookupObserver {
 public:
  void AddLookups(int64_t hits, int64_t misses) override {
    hits_ += hits;
    misses_ += misses;
  }
  int64_t hits() const { return hits_; }
  int64_t misses() const { return misses_; }

 private:
  int64_t hits_ = 0;
  int64_t misses_ = 0;
};

TEST(ObservedProfileStoreTest, CountsTheKeysThatHaveARow) {
  FakeProfileStore kept;
  CountingObserver observer;
  ObservedProfileStore store(&kept, &observer);
  ASSERT_TRUE(store.Record(MakeMeasured("a"), {}).ok());
  ASSERT_TRUE(store.Record(MakeRow("b", v1::CRASHED), {}).ok());
  const std::string keys[] = {MakeKey("a"), MakeKey("b"), MakeKey("c")};
  EXPECT_EQ(store.Lookup(keys)->size(), 2);
  EXPECT_EQ(observer.hits(), 2);
  EXPECT_EQ(observer.misses(), 1);
  // A failure that is to be tried again is none.
  EXPECT_EQ(store.Lookup(keys, {.retry_failures = true})->size(), 1);
  EXPECT_EQ(observer.hits(), 3);
  EXPECT_EQ(observer.misses(), 3);
}

TEST(ObservedProfileStoreTest, HandsTheOtherCallsOn) {
  FakeProfileStore kept;
  CountingObserver observer;
  ObservedProfileStore store(&kept, &observer);
  ASSERT_TRUE(store.Record(MakeMeasured("a"), {}).ok());
  ASSERT_TRUE(store.RecordProgram(MakeKey("a"), "hlo").ok());
  EXPECT_EQ(*store.LookupProgram(MakeKey("a")), "hlo");
  EXPECT_EQ(store.LookupKept(MakeKey("a"), kSharedPool)->size(), 1);
  EXPECT_EQ(store.Count()->programs, 1);
  EXPECT_EQ(*store.Quarantine(MakeKey("b"), 1, "why", "log"), 1);
  EXPECT_EQ(store.ListQuarantine()->size(), 1);
  EXPECT_TRUE(store.RetryQuarantined(MakeKey("b")).ok());
  EXPECT_TRUE(kept.ListQuarantine()->empty());
  int rows = 0;
  const auto count = [&](const auto&, const auto&) { return ++rows > 0; };
  EXPECT_TRUE(store.ForEach(count).ok());
  EXPECT_TRUE(store
                  .ForEachWhole({.row =
                                     [&](const WholeRow&) {
                                       ++rows;
                                       return absl::OkStatus();
                                     }})
                  .ok());
  EXPECT_EQ(rows, 2);
  EXPECT_TRUE(store.Verify()->empty());
  const UnusedRow unused[] = {{kSharedPool, MakeKey("a"), 1'000'000}};
  EXPECT_EQ(*store.Remove(unused), 1);
  EXPECT_EQ(observer.hits() + observer.misses(), 0);
}

}  // namespace
}  // namespace meshwright::store
