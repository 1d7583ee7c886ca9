#include "coordinator/jobs/in_flight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace meshwright::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(InFlightTest, OthersClaimsAreLeftToThem) {
  InFlight in_flight;
  EXPECT_THAT(in_flight.Claim({"a", "b"}, 0), IsEmpty());
  const InFlight::Flights others = in_flight.Claim({"b", "c"}, 0);
  ASSERT_THAT(others, SizeIs(1));
  EXPECT_EQ(others[0]->key, "b");
  std::thread first([&] { in_flight.End("b", /*has_row=*/true); });
  EXPECT_THAT(*in_flight.Await(others, {}), IsEmpty());
  first.join();
  EXPECT_THAT(in_flight.Claim({"b"}, in_flight.Count()), IsEmpty());
}

TEST(InFlightTest, ARowSinceTheLastLookIsAnothers) {
  InFlight in_flight;
  const int64_t before = in_flight.Count();
  in_flight.Claim({"a"}, before);
  in_flight.End("a", /*has_row=*/true);
  const InFlight::Flights others = in_flight.Claim({"a"}, before);
  ASSERT_THAT(others, SizeIs(1));
  EXPECT_TRUE(others[0]->is_over);
  EXPECT_THAT(*in_flight.Await(others, {}), IsEmpty());
  // Who has seen it may measure it again.
  EXPECT_THAT(in_flight.Claim({"a"}, in_flight.Count()), IsEmpty());
}

TEST(InFlightTest, OneThatIsToGiveWayWaitsNoLonger) {
  InFlight in_flight;
  in_flight.Claim({"a"}, 0);
  const InFlight::Flights others = in_flight.Claim({"a"}, 0);
  std::stop_source give_way;
  std::thread other([&] { give_way.request_stop(); });
  EXPECT_TRUE(absl::IsCancelled(
      in_flight.Await(others, {}, give_way.get_token()).status()));
  other.join();
}

TEST(InFlightTest, AClaimThatEndsWithoutARowIsFree) {
  InFlight in_flight;
  in_flight.Claim({"a", "b"}, 0);
  const InFlight::Flights others = in_flight.Claim({"a", "b"}, 0);
  in_flight.End("a", /*has_row=*/true);
  in_flight.End("b", /*has_row=*/false);
  EXPECT_THAT(*in_flight.Await(others, {}), ElementsAre("b"));
  EXPECT_THAT(in_flight.Claim({"b"}, 0), IsEmpty());
  EXPECT_THAT(in_flight.Claim({"b"}, 0), SizeIs(1));
}

TEST(InFlightTest, AStopEndsTheWait) {
  InFlight in_flight;
  in_flight.Claim({"a"}, 0);
  const InFlight::Flights others = in_flight.Claim({"a"}, 0);
  std::stop_source stop;
  std::thread stopping([&] { stop.request_stop(); });
  EXPECT_EQ(in_flight.Await(others, stop.get_token()).status().code(),
            absl::StatusCode::kCancelled);
  stopping.join();
}

TEST(InFlightTest, AnUnknownEndIsNothing) {
  InFlight in_flight;
  in_flight.End("a", /*has_row=*/true);
  EXPECT_THAT(in_flight.Claim({"a"}, 0), IsEmpty());
}

}  // namespace
}  // namespace meshwright::jobs
