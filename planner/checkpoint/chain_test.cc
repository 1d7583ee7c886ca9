#include "planner/checkpoint/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

namespace meshwright::checkpoint {
namespace {

using ::testing::HasSubstr;

Chain Valid() {
  Chain chain;
  chain.forward = {Picoseconds(1), Picoseconds(2)};
  chain.backward = {Picoseconds(3), Picoseconds(4)};
  chain.act_bytes = {1, 2, 3};
  chain.saved_bytes = {2, 4};
  return chain;
}

TEST(ChainTest, AddsCommunicationToWhatItGoesWith) {
  Chain chain = Valid();
  EXPECT_EQ(chain.ForwardTime(1), Picoseconds(2));
  EXPECT_EQ(chain.BackwardTransient(1), 0);
  chain.forward_communication = {Picoseconds(10), Picoseconds(20)};
  chain.backward_communication = {Picoseconds(30), Picoseconds(40)};
  chain.forward_transient_bytes = {1, 2};
  chain.forward_communication_bytes = {10, 20};
  chain.backward_transient_bytes = {3, 4};
  chain.backward_communication_bytes = {30, 40};
  EXPECT_TRUE(Validate(chain).ok());
  EXPECT_EQ(chain.ForwardTime(1), Picoseconds(22));
  EXPECT_EQ(chain.BackwardTime(0), Picoseconds(33));
  EXPECT_EQ(chain.ForwardTransient(0), 11);
  EXPECT_EQ(chain.BackwardTransient(1), 44);
}

TEST(ChainTest, NamesWhatIsWrong) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const struct {
    std::function<void(Chain&)> spoil;
    const char* sentence;
  } cases[] = {
      {[](Chain& c) { c = Chain(); }, "fwd_time is empty"},
      {[](Chain& c) { c.forward.resize(1'000'000); },
       "fwd_time has 1000000 stages"},
      {[](Chain& c) { c.forward[1] = Picoseconds(-5); },
       "fwd_time[1] is negative"},
      {[](Chain& c) { c.backward.pop_back(); },
       "bwd_time has 1 entries, but 2 are needed"},
      {[](Chain& c) { c.forward_communication = {Picoseconds(1)}; },
       "fwd_comm_time has 1 entries"},
      {[](Chain& c) { c.backward_communication.resize(3); },
       "bwd_comm_time has 3 entries"},
      {[](Chain& c) { c.act_bytes.pop_back(); },
       "act_size has 2 entries, but 3 are needed"},
      {[](Chain& c) { c.act_bytes[0] = -1; }, "act_size[0] is negative: -1"},
      {[](Chain& c) { c.saved_bytes.push_back(9); }, "saved_size has 3"},
      {[](Chain& c) { c.saved_bytes[1] = 2; },
       "saved_size[1] is 2, less than the stage's output"},
      {[](Chain& c) { c.forward_transient_bytes = {1}; }, "fwd_tmp has 1"},
      {[](Chain& c) {
         c.backward_transient_bytes = {1, -1};
       },
       "bwd_tmp[1] is negative"},
      {[](Chain& c) {
         c.forward_communication_bytes = {1, 2, 3};
       },
       "fwd_comm_tmp has 3"},
      {[](Chain& c) {
         c.backward_communication_bytes = {-1, 2};
       },
       "bwd_comm_tmp[0] is negative"},
      {[](Chain& c) { c.loss = Picoseconds(-1); }, "loss_time is negative"},
      {[](Chain& c) { c.forward.assign(2, problem::kMaxTime); },
       "sum to more than the 2000000 seconds"},
      {[](Chain& c) {
         c.saved_bytes = {kMax, kMax};
       },
       "up to saved_size sum to more"},
      {[](Chain& c) {
         c.backward_transient_bytes = {kMax, kMax};
       },
       "up to bwd_tmp sum to more"},
  };
  for (const auto& [spoil, sentence] : cases) {
    Chain chain = Valid();
    spoil(chain);
    const absl::Status status = Validate(chain);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << sentence;
    EXPECT_THAT(std::string(status.message()), HasSubstr(sentence));
  }
}

}  // namespace
}  // namespace meshwright::checkpoint
