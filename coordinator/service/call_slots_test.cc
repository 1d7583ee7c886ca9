#include "coordinator/service/call_slots.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace meshwright::service {
namespace {

TEST(CallSlotsTest, BeyondTheMaximumACallIsRefusedUntilOneEnds) {
  CallSlots slots(2, "streams and no more", 2);
  auto first = slots.Take();
  const auto second = slots.Take("token:a");
  ASSERT_TRUE(first.ok() && second.ok());
  const auto third = slots.Take();
  EXPECT_TRUE(absl::IsResourceExhausted(third.status()));
  EXPECT_EQ(third.status().message(),
            "this coordinator holds 2 streams and no more");
  first->reset();
  EXPECT_TRUE(slots.Take().ok());
}

TEST(CallSlotsTest, ACallerTakesItsShareAndLeavesTheRestToOthers) {
  CallSlots slots(6, "streams and no more", 2);
  auto first = slots.Take("token:a");
  const auto copy = *first;
  const auto second = slots.Take("token:a");
  ASSERT_TRUE(second.ok());
  const auto refused = slots.Take("token:a");
  EXPECT_EQ(refused.status().message(), "token:a holds 2 streams and no more");
  EXPECT_TRUE(slots.Take("token:b").ok());
  first->reset();
  EXPECT_FALSE(slots.Take("token:a").ok()) << "a copy holds the place";
}

TEST(CallSlotsTest, NobodysCallsAreBoundedTogetherAlone) {
  CallSlots slots(5, "streams and no more", 1);
  std::vector<CallSlots::Slot> held;
  for (int i = 0; i < 5; ++i) {
    auto slot = slots.Take();
    ASSERT_TRUE(slot.ok()) << slot.status();
    held.push_back(*std::move(slot));
  }
  EXPECT_FALSE(slots.Take().ok());
}

TEST(CallSlotsTest, ASlotIsOfSeveralPlaces) {
  CallSlots slots(10, "bytes", 6);
  auto first = slots.Take("token:a", 4);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(slots.Take("token:a", 3).status().message(),
            "token:a holds 6 bytes");
  EXPECT_EQ(slots.Take("", 7).status().message(),
            "this coordinator holds 10 bytes");
  EXPECT_TRUE(slots.Take("token:b", 6).ok());
  first->reset();
  EXPECT_TRUE(slots.Take("token:a", 6).ok());
  EXPECT_TRUE(slots.Take("", 10).ok());
}

TEST(CallSlotsTest, ASlotOutlivesTheSlots) {
  auto slots = std::make_unique<CallSlots>(1, "streams", 1);
  const auto held = slots->Take("token:a");
  slots.reset();
  EXPECT_TRUE(held.ok());
}

}  // namespace
}  // namespace meshwright::service
