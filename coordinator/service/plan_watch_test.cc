#include "coordinator/service/plan_watch.h"

#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "profiledb/store/memory_plan_store.h"

namespace meshwright::service {
namespace {

// A call whose client never reads.
class UnreadCall {
 public:
  virtual ~UnreadCall() = default;
  virtual void OnWriteDone(bool ok) = 0;
  virtual void OnCancel() = 0;
  virtual void OnDone() = 0;
  void StartWrite(const v1::PlanUpdate* update) { writing = update; }
  void Finish(const grpc::Status& status) { finished = status; }

  const v1::PlanUpdate* writing = nullptr;
  std::optional<grpc::Status> finished;
};
using Watch = PlanWatch<UnreadCall, v1::PlanUpdate>;

// A client that saw the last update comes back for what follows it.
TEST(PlanWatchTest, OfAPlanThatEndedNothingFollowsTheLastUpdate) {
  base::SteadyClock clock;
  store::MemoryPlanStore plans;
  jobs::JobQueue queue(&clock, {});
  plans::PlanRunner runner(
      {.clock = &clock, .steady = &clock, .plans = &plans, .queue = &queue});
  base::ThreadPool calls(1);
  const store::Epoch epoch = *plans.BeginEpoch("here");
  const store::PlanId id =
      *store::ParsePlanId(plans.Add(v1::PlanRecord())->id());
  const auto begin = [&](int64_t after) {
    auto watch = Watch::Make(&runner, &calls, [](v1::PlanUpdate&& update) {
      return Watch::Translated{.events = {std::move(update)}};
    });
    watch->Begin([&plans, id] { return plans.Get(id); },
                 [] { return absl::OkStatus(); }, after);
    calls.AwaitIdle(absl::InfiniteDuration());
    return watch;
  };
  const auto early = begin(1);
  EXPECT_FALSE(early->finished.has_value());
  early->OnDone();
  v1::PlanUpdate end;
  end.set_state(v1::CANCELLED);
  const int64_t last = plans.Append(epoch, id, end)->sequence();
  const auto before = begin(last - 1);
  EXPECT_NE(before->writing, nullptr);
  before->OnDone();
  for (const int64_t after : {last, last + 1}) {
    const auto late = begin(after);
    ASSERT_TRUE(late->finished.has_value()) << after;
    EXPECT_TRUE(late->finished->ok());
    late->OnDone();
  }
}

}  // namespace
}  // namespace meshwright::service
