#include "coordinator/jobs/handed_in.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const absl::Time kNow = absl::FromUnixSeconds(1'000);
const LeaseId kLease{1, 1};

v1::ProfileResult MakeResult(const std::string& key,
                             v1::Outcome outcome = v1::MEASURED) {
  v1::ProfileResult result;
  result.set_key(key);
  result.set_outcome(outcome);
  return result;
}

TEST(HandedInTest, ResultsWaitForWhoAsks) {
  HandedIn handed_in;
  EXPECT_TRUE(handed_in.empty());
  handed_in.Add(kLease, {"a", "b"}, kNow);
  EXPECT_TRUE(handed_in.Keep(kLease, MakeResult("a")));
  // A second word.
  EXPECT_TRUE(handed_in.Keep(kLease, MakeResult("a", v1::CRASHED)));
  // None of its programs.
  EXPECT_FALSE(handed_in.Keep(kLease, MakeResult("c")));
  EXPECT_EQ(handed_in.Find("b"), kLease);
  EXPECT_EQ(handed_in.Find("c"), std::nullopt);
  const auto results = handed_in.Release(kLease);
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0].key(), "a");
  EXPECT_EQ(results[0].outcome(), v1::MEASURED);
  EXPECT_EQ(handed_in.Find("b"), std::nullopt);
  EXPECT_FALSE(handed_in.Keep(kLease, MakeResult("b")));  // it is a job's
  EXPECT_THAT(handed_in.Release(kLease), SizeIs(0));
}

TEST(HandedInTest, WhatNobodyAsksForIsForgotten) {
  HandedIn handed_in;
  handed_in.Add(kLease, {"a"}, kNow);
  EXPECT_THAT(handed_in.Expire(kNow - absl::Seconds(1)), IsEmpty());
  EXPECT_TRUE(handed_in.Contains(kLease));
  EXPECT_THAT(handed_in.Expire(kNow), ElementsAre(kLease));
  EXPECT_FALSE(handed_in.Contains(kLease));
  EXPECT_EQ(handed_in.Find("a"), std::nullopt);
}

TEST(HandedInTest, OfTwoLeasesOfAProgramTheLaterOneCounts) {
  HandedIn handed_in;
  const LeaseId later{2, 1};
  handed_in.Add(kLease, {"a"}, kNow);
  handed_in.Add(later, {"a"}, kNow);
  EXPECT_TRUE(handed_in.Keep(kLease, MakeResult("a", v1::CRASHED)));
  handed_in.Keep(later, MakeResult("a"));
  EXPECT_THAT(handed_in.Release(kLease), SizeIs(0));
  EXPECT_EQ(handed_in.Find("a"), later);
  EXPECT_THAT(handed_in.Release(later), SizeIs(1));
}

}  // namespace
}  // namespace meshwright::jobs
