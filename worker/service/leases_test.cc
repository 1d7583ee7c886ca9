#include "worker/service/leases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace meshwright::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const absl::Time kStart = absl::FromUnixSeconds(1'000);

// Runs a batch program by program, as the test lets it.
class SteppedBatches {
 public:
  BatchFunction function() {
    return [this](const v1::RunnerRequest& request,
                  const OnRunnerEvent& on_event, const std::stop_token& stop) {
      return Run(request, on_event, stop);
    };
  }
  void Step(int programs) {
    base::MutexLock lock(&mutex_);
    steps_ += programs;
  }
  // Until it waits for a step, or has nothing to do.
  void AwaitBatches(int count) {
    base::MutexLock lock(&mutex_);
    const auto are_over = [&] { return over_ >= count; };
    mutex_.Await(absl::Condition(&are_over));
  }
  void AwaitWaiting() {
    base::MutexLock lock(&mutex_);
    const auto waits = [&] { return waiting_ && steps_ == 0; };
    mutex_.Await(absl::Condition(&waits));
  }
  absl::Status result;

 private:
  absl::Status Run(const v1::RunnerRequest& request,
                   const OnRunnerEvent& on_event, const std::stop_token& stop) {
    absl::Status status = result;
    for (const v1::Program& program : request.programs()) {
      if (!status.ok()) break;
      if (!Wait(stop)) {
        status = absl::CancelledError("the batch was stopped");
        break;
      }
      v1::RunnerEvent event;
      event.mutable_result()->set_key(program.key());
      on_event(event);
    }
    base::MutexLock lock(&mutex_);
    ++over_;
    return status;
  }
  bool Wait(const std::stop_token& stop) {
    const std::stop_callback wake(stop,
                                  [this] { base::MutexLock lock(&mutex_); });
    base::MutexLock lock(&mutex_);
    waiting_ = true;
    const auto may_go = [&] { return steps_ > 0 || stop.stop_requested(); };
    mutex_.Await(absl::Condition(&may_go));
    waiting_ = false;
    if (stop.stop_requested()) return false;
    --steps_;
    return true;
  }

  base::Mutex mutex_;
  int steps_ ABSL_GUARDED_BY(mutex_) = 0;
  int over_ ABSL_GUARDED_BY(mutex_) = 0;
  bool waiting_ ABSL_GUARDED_BY(mutex_) = false;
};

class LeasesTest : public testing::Test {
 protected:
  LeasesTest() {
    dependencies_.run_batch = batches_.function();
    dependencies_.find_fault = [this] { return fault_; };
    leases_.emplace(dependencies_);
  }

  // The updates on one connection, as "LEASE KEY" or "LEASE finished ERROR".
  class Heard {
   public:
    Leases::Send send() {
      return [this](const v1::WorkerMessage& message) {
        const v1::JobUpdate& update = message.update();
        base::MutexLock lock(&mutex_);
        if (message.has_health()) {
          words_.push_back(absl::StrCat("fault ", message.health().fault()));
          return;
        }
        words_.push_back(absl::StrCat(
            update.job_id(), " ",
            update.event().has_result()
                ? update.event().result().key()
                : absl::StrCat("finished", update.event().finished().error())));
      };
    }
    std::vector<std::string> Await(size_t count) {
      base::MutexLock lock(&mutex_);
      const auto are_there = [&] { return words_.size() >= count; };
      mutex_.Await(absl::Condition(&are_there));
      return words_;
    }

   private:
    base::Mutex mutex_;
    std::vector<std::string> words_ ABSL_GUARDED_BY(mutex_);
  };

  void Connect(Heard* heard, const std::vector<std::string>& resumed = {}) {
    leases_->Hear(kStart);
    v1::Welcome welcome;
    welcome.set_lease_seconds(15);
    welcome.mutable_resumed()->Add(resumed.begin(), resumed.end());
    leases_->Connect(welcome, heard->send());
  }
  void Take(const std::string& lease, const std::vector<std::string>& keys) {
    v1::JobBatch batch;
    batch.set_job_id(lease);
    for (const std::string& key : keys) {
      batch.mutable_request()->add_programs()->set_key(key);
    }
    leases_->Take(std::move(batch));
  }
  std::vector<std::string> Held() {
    v1::WorkerHello hello;
    leases_->Describe(&hello);
    std::vector<std::string> held;
    for (const v1::HeldLease& lease : hello.held()) {
      held.push_back(absl::StrCat(lease.job_id(), " ", lease.keys_size(),
                                  lease.is_over() ? " over" : ""));
    }
    return held;
  }

  std::string fault_;  // changed while no batch runs
  WorkerDependencies dependencies_;
  SteppedBatches batches_;
  std::optional<Leases> leases_;
};

TEST_F(LeasesTest, ABatchRunsOnThroughALostConnection) {
  Heard first, second;
  Connect(&first);
  Take("7.1", {"a", "b"});
  batches_.Step(1);
  EXPECT_THAT(first.Await(1), ElementsAre("7.1 a"));
  leases_->Disconnect();
  EXPECT_THAT(Held(), ElementsAre("7.1 2"));
  batches_.Step(1);
  batches_.AwaitBatches(1);
  Connect(&second, {"7.1"});
  EXPECT_THAT(second.Await(3), ElementsAre("7.1 a", "7.1 b", "7.1 finished"));
  EXPECT_EQ(first.Await(1).size(), 1u);
  EXPECT_THAT(Held(), ElementsAre("7.1 2 over"));
  leases_->Acknowledge("7.1");
  EXPECT_THAT(Held(), IsEmpty());
}

TEST_F(LeasesTest, ALeaseOfAGangEndsWithTheConnection) {
  Heard first, second;
  base::Mutex mutex;
  dependencies_.run_member =
      [&](const v1::RunnerRequest& request, const OnRunnerEvent& on_event,
          const std::stop_token& stop, sandbox::GangInbox* inbox) {
        EXPECT_NE(inbox, nullptr);
        EXPECT_EQ(request.gang().rank(), 1);
        v1::RunnerEvent event;
        event.mutable_result()->set_key("a");
        on_event(event);
        bool is_stopped = false;
        const std::stop_callback wake(stop, [&] {
          base::MutexLock lock(&mutex);
          is_stopped = true;
        });
        base::MutexLock lock(&mutex);
        mutex.Await(absl::Condition(&is_stopped));
        return absl::CancelledError("the batch was stopped");
      };
  Connect(&first);
  v1::JobBatch batch;
  batch.set_job_id("7.1");
  batch.mutable_request()->add_programs()->set_key("a");
  batch.mutable_request()->mutable_gang()->set_rank(1);
  leases_->Take(std::move(batch));
  leases_->Tell("7.1", v1::GangMessage());
  leases_->Tell("7.2", v1::GangMessage());  // no lease of this worker
  EXPECT_THAT(first.Await(1), ElementsAre("7.1 a"));
  leases_->Disconnect();
  EXPECT_THAT(Held(), IsEmpty());
  Connect(&second);
  Take("7.2", {"b"});  // the next one runs when it has ended
  batches_.Step(1);
  EXPECT_THAT(second.Await(2), ElementsAre("7.2 b", "7.2 finished"));
}

TEST_F(LeasesTest, AWorkerThatJoinsNoGangsSaysSo) {
  Heard heard;
  Connect(&heard);
  v1::JobBatch batch;
  batch.set_job_id("7.1");
  batch.mutable_request()->mutable_gang()->set_size(2);
  leases_->Take(std::move(batch));
  EXPECT_THAT(heard.Await(1), ElementsAre("7.1 finishedit joins no gangs"));
}

TEST_F(LeasesTest, WhatIsNotResumedIsStoppedAndForgotten) {
  Heard first, second;
  Connect(&first);
  Take("7.1", {"a"});
  batches_.Step(1);
  first.Await(2);
  Take("7.2", {"b"});
  Take("7.3", {"c"});
  batches_.AwaitWaiting();
  leases_->Disconnect();
  Connect(&second);
  batches_.AwaitBatches(2);
  Take("8.1", {"d"});
  batches_.Step(1);
  EXPECT_THAT(second.Await(2), ElementsAre("8.1 d", "8.1 finished"));
  EXPECT_THAT(Held(), ElementsAre("8.1 1 over"));
}

TEST_F(LeasesTest, ALeaseEndsWhenTheCoordinatorIsSilent) {
  Heard first, second;
  Connect(&first);
  Take("7.1", {"a", "b"});
  batches_.Step(1);
  first.Await(1);
  leases_->Disconnect();
  EXPECT_FALSE(leases_->EndIfSilent(kStart + absl::Seconds(15)));
  EXPECT_TRUE(leases_->EndIfSilent(kStart + absl::Seconds(16)));
  batches_.AwaitBatches(1);
  // Results that exist are handed in all the same.
  Connect(&second, {"7.1"});
  EXPECT_THAT(second.Await(2), ElementsAre("7.1 a", "7.1 finished"));
}

TEST_F(LeasesTest, HearingTheCoordinatorRenewsTheLease) {
  Heard heard;
  Connect(&heard);
  Take("7.1", {"a"});
  leases_->Hear(kStart + absl::Seconds(10));
  EXPECT_FALSE(leases_->EndIfSilent(kStart + absl::Seconds(25)));
  batches_.Step(1);
  EXPECT_THAT(heard.Await(2), ElementsAre("7.1 a", "7.1 finished"));
}

TEST_F(LeasesTest, ACancelledLeaseIsReportedFinished) {
  Heard heard;
  Connect(&heard);
  Take("7.1", {"a"});
  Take("7.2", {"b"});
  batches_.AwaitWaiting();
  leases_->Cancel("7.2");
  EXPECT_THAT(heard.Await(1), ElementsAre("7.2 finished"));
  leases_->Cancel("7.1");
  EXPECT_THAT(heard.Await(2), ElementsAre("7.2 finished", "7.1 finished"));
  leases_->Cancel("7.9");  // of nobody
}

TEST_F(LeasesTest, AFailureIsReported) {
  batches_.result = absl::UnavailableError(": no space left");
  Heard heard;
  Connect(&heard);
  Take("7.1", {"a"});
  EXPECT_THAT(heard.Await(1), ElementsAre("7.1 finished: no space left"));
}

TEST_F(LeasesTest, AFaultIsReportedBeforeTheLeaseEnds) {
  Heard first, second;
  Connect(&first);
  fault_ = "of a driver";
  Take("7.1", {"a"});
  batches_.Step(1);
  EXPECT_THAT(first.Await(3),
              ElementsAre("7.1 a", "fault of a driver", "7.1 finished"));
  leases_->Acknowledge("7.1");
  leases_->LookForFaults();  // as before: no news
  leases_->Disconnect();
  v1::WorkerHello hello;
  leases_->Describe(&hello);
  EXPECT_EQ(hello.fault(), "of a driver");
  fault_ = "";
  leases_->LookForFaults();
  Connect(&second);
  EXPECT_THAT(second.Await(1), ElementsAre("fault "));
  EXPECT_EQ(first.Await(3).size(), 3u);
}

TEST_F(LeasesTest, AStopEndsWhatRuns) {
  Heard heard;
  Connect(&heard);
  Take("7.1", {"a"});
  batches_.AwaitWaiting();
  leases_->Stop();
  leases_.reset();
  EXPECT_THAT(heard.Await(0), IsEmpty());
}

}  // namespace
}  // namespace meshwright::worker
