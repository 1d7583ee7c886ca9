#include "coordinator/service/plan_watch.h"

#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
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
  void Finish(const grpc::Status& status) {
    finished = status;
    ended.Notify();
  }

  const v1::PlanUpdate* writing = nullptr;
  std::optional<grpc::Status> finished;
  absl::Notification ended;
};
using Watch = PlanWatch<UnreadCall, v1::PlanUpdate>;

class PlanWatchTest : public testing::Test {
 protected:
  // Of the plan, after this number.
  std::shared_ptr<Watch> Begin(int64_t after, absl::Duration patience) {
    auto watch =
        Watch::Make({.runner = &runner_,
                     .calls = &calls_,
                     .patience = patience,
                     .cancel = [this] { cancelled_.Notify(); }},
                    [](v1::PlanUpdate&& update) {
                      return Watch::Translated{.events = {std::move(update)}};
                    });
    watch->Begin([this] { return plans_.Get(id_); },
                 [] { return absl::OkStatus(); }, after);
    calls_.AwaitIdle(absl::InfiniteDuration());
    return watch;
  }

  base::SteadyClock clock_;
  store::MemoryPlanStore plans_;
  jobs::JobQueue queue_{&clock_, {}};
  plans::PlanRunner runner_{{.clock = &clock_,
                             .steady = &clock_,
                             .plans = &plans_,
                             .queue = &queue_}};
  const store::Epoch epoch_ = *plans_.BeginEpoch("here");
  const store::PlanId id_ =
      *store::ParsePlanId(plans_.Add(v1::PlanRecord())->id());
  absl::Notification cancelled_;
  base::ThreadPool calls_{1};
};

TEST_F(PlanWatchTest, AClientThatTakesNoUpdateIsNotWaitedForForEver) {
  const auto watch = Begin(0, absl::Milliseconds(20));
  EXPECT_NE(watch->writing, nullptr);
  cancelled_.WaitForNotification();
  watch->OnCancel();
  // The write is cancelled with its call; until it is, gRPC's context stays.
  EXPECT_FALSE(watch->ended.HasBeenNotified());
  watch->OnWriteDone(false);
  watch->ended.WaitForNotification();
  EXPECT_EQ(watch->finished->error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  watch->OnDone();
}

// A client that saw the last update comes back for what follows it.
TEST_F(PlanWatchTest, OfAPlanThatEndedNothingFollowsTheLastUpdate) {
  const auto begin = [this](int64_t after) {
    return Begin(after, absl::Hours(1));
  };
  const auto early = begin(1);
  EXPECT_FALSE(early->finished.has_value());
  early->OnDone();
  v1::PlanUpdate end;
  end.set_state(v1::CANCELLED);
  const int64_t last = plans_.Append(epoch_, id_, end)->sequence();
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
