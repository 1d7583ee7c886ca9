// PlanWatch: a call that streams the updates of one plan until it ends.
//
// Concept: the updates stand in the store; the feed only wakes the call, which
// then reads those after the last one it sent. So a slow client costs no
// memory, loses nothing and gets nothing twice. A client that goes away ends
// its call, never the plan. One that takes no update for a while has its call
// cancelled (WriteLimit). It is a template over the event, so that MakePlan,
// which speaks of progress and a plan, is the same call.
//
//   idle ── Wake ──▶ reading ──▶ writing (one by one) ──▶ reading ──▶ idle
//                                    ├── the plan has ended ──▶ finished
//                                    └── not in time ──▶ cancelled ──▶ finished
//
// Threads: the feed wakes it from any thread; the store is asked on `calls`,
// never on a thread of gRPC.
// Ownership: it owns itself until OnDone; the limit, which may end it later,
// holds it weakly; the feed, the store and `calls` outlive the server.
// Errors: those of the store, of CheckAnswerBytes and of `may_go_on`, which is
// asked before every read; `Translate` gives the status that a stream ends
// with. kDeadlineExceeded for an update that is not taken, which the client
// sees as kCancelled.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_PLAN_WATCH_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_PLAN_WATCH_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "base/rpc/idle_limit.h"
#include "base/rpc/rpc_status.h"
#include "base/thread_pool.h"
#include "coordinator/plans/plan_feed.h"
#include "coordinator/plans/plan_runner.h"
#include "coordinator/service/server_limits.h"
#include "profiledb/store/plan_updates.h"

namespace meshwright::service {

template <typename Reactor, typename Event>
class PlanWatch : public Reactor {
 public:
  struct Translated {
    std::vector<Event> events;
    std::optional<absl::Status> end;  // set by the last update of a plan
  };
  using Translate = std::function<Translated(v1::PlanUpdate&&)>;
  struct Terms {
    plans::PlanRunner* runner;  // both outlive it
    base::ThreadPool* calls;
    absl::Duration patience;  // until an update is taken
    // Cancels the call; called once at most, before it is finished.
    std::function<void()> cancel;
  };

  // A watch that holds itself until the call is over.
  static std::shared_ptr<PlanWatch> Make(Terms terms, Translate translate) {
    auto watch =
        std::make_shared<PlanWatch>(std::move(terms), std::move(translate));
    watch->self_ = watch;
    watch->LimitWrites();
    return watch;
  }

  PlanWatch(Terms terms, Translate translate)
      : terms_(std::move(terms)), translate_(std::move(translate)) {}

  // Finds the plan, which may wait for the disk, and streams its updates after
  // number `after`, as long as the caller may have them. Call once; both
  // functions are called on `calls`.
  void Begin(std::function<absl::StatusOr<v1::PlanRecord>()> find,
             std::function<absl::Status()> may_go_on, int64_t after) {
    {
      base::MutexLock lock(&mutex_);
      may_go_on_ = std::move(may_go_on);
      last_ = after;
      is_busy_ = true;
    }
    terms_.calls->Post(
        [watch = self_, find = std::move(find)] { watch->Open(find()); });
  }

  void OnWriteDone(bool ok) override {
    if (!limit_->Note()) return;  // it has ended
    base::MutexLock lock(&mutex_);
    events_.pop_front();
    if (!ok || is_cancelled_) {
      End(absl::CancelledError("the client went away"));
    } else if (!events_.empty()) {
      WriteNext();
    } else if (end_.has_value()) {
      End(*end_);
    } else {
      PostRead();
    }
  }

  void OnCancel() override {
    base::MutexLock lock(&mutex_);
    is_cancelled_ = true;
    if (!is_busy_) End(absl::CancelledError("the client went away"));
  }

  void OnDone() override {
    std::optional<plans::SubscriptionId> subscription;
    store::PlanId plan;
    {
      base::MutexLock lock(&mutex_);
      subscription = subscription_;
      plan = plan_;
    }
    if (subscription.has_value()) {
      terms_.runner->feed().Unsubscribe(plan, *subscription);
    }
    self_.reset();
  }

 private:
  static constexpr int kReadAtOnce = 64;

  void LimitWrites() {
    limit_ = std::make_unique<base::WriteLimit>(
        terms_.patience, self_, terms_.cancel, [this] {
          base::MutexLock lock(&mutex_);
          End(absl::DeadlineExceededError(absl::StrCat(
              "no update of the plan was taken for ",
              absl::FormatDuration(terms_.patience), "; watch it again")));
        });
  }

  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    limit_->Await();
    this->StartWrite(&events_.front());
  }

  void Open(const absl::StatusOr<v1::PlanRecord>& record) {
    const absl::StatusOr<store::PlanId> plan =
        record.ok() ? store::ParsePlanId(record->id())
                    : absl::StatusOr<store::PlanId>(record.status());
    {
      base::MutexLock lock(&mutex_);
      if (!plan.ok()) {
        End(plan.status());
        return;
      }
      plan_ = *plan;
      // A client that saw the last update and not that the call ended asks
      // again; no news would ever wake it.
      if (store::HasEnded(record->state()) && record->sequence() <= last_) {
        End(absl::OkStatus());
        return;
      }
    }
    // Not under the lock, which the feed's own lock comes before.
    const plans::SubscriptionId subscription =
        terms_.runner->feed().Subscribe(*plan, [this] { Wake(); });
    {
      base::MutexLock lock(&mutex_);
      subscription_ = subscription;
    }
    Read();
  }

  void Wake() {
    base::MutexLock lock(&mutex_);
    if (is_busy_) {
      is_woken_ = true;
      return;
    }
    if (is_finished_) return;
    is_busy_ = true;
    PostRead();
  }

  void PostRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    is_woken_ = false;
    terms_.calls->Post([watch = this->self_] { watch->Read(); });
  }

  void Read() {
    store::PlanId plan;
    int64_t last = 0;
    {
      base::MutexLock lock(&mutex_);
      plan = plan_;
      last = last_;
    }
    auto updates = ReadAfter(plan, last);
    base::MutexLock lock(&mutex_);
    if (is_cancelled_) {
      End(absl::CancelledError("the client went away"));
      return;
    }
    if (!updates.ok()) {
      End(updates.status());
      return;
    }
    for (v1::PlanUpdate& update : *updates) {
      last_ = update.sequence();
      Translated translated = translate_(std::move(update));
      for (Event& event : translated.events) {
        const absl::Status fits = CheckAnswerBytes(event.ByteSizeLong());
        if (!fits.ok()) return End(fits);
        events_.push_back(std::move(event));
      }
      if (translated.end.has_value()) end_ = std::move(translated.end);
    }
    if (!events_.empty()) {
      WriteNext();
    } else if (end_.has_value()) {
      End(*end_);
    } else if (!updates->empty() || is_woken_) {
      PostRead();
    } else {
      is_busy_ = false;
    }
  }

  absl::StatusOr<std::vector<v1::PlanUpdate>> ReadAfter(store::PlanId plan,
                                                        int64_t last) {
    const absl::Status allowed = may_go_on_();
    if (!allowed.ok()) return allowed;
    return terms_.runner->plans().ReadUpdates(plan, last, kReadAtOnce);
  }

  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    is_busy_ = false;
    if (is_finished_) return;
    is_finished_ = true;
    base::FinishCall(this, status);
  }

  const Terms terms_;
  const Translate translate_;
  std::shared_ptr<PlanWatch> self_;
  std::unique_ptr<base::WriteLimit> limit_;
  std::function<absl::Status()> may_go_on_;  // set once, before any read

  base::Mutex mutex_;
  store::PlanId plan_ ABSL_GUARDED_BY(mutex_);
  int64_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<plans::SubscriptionId> subscription_ ABSL_GUARDED_BY(mutex_);
  std::deque<Event> events_ ABSL_GUARDED_BY(mutex_);  // the front is written
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  bool is_busy_ ABSL_GUARDED_BY(mutex_) = false;  // reads or writes
  bool is_woken_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_PLAN_WATCH_H_
