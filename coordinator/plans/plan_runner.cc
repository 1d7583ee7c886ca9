#include "coordinator/plans/plan_runner.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/failpoint.h"
#include "base/fingerprint.h"
#include "base/log/log.h"
#include "base/log/log_context.h"
#include "base/status_macros.h"
#include "base/trace_context.h"
#include "coordinator/jobs/device_digest.h"
#include "coordinator/jobs/device_record.h"
#include "coordinator/jobs/suspension.h"
#include "profiledb/store/away.h"
#include "profiledb/store/plan_pages.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/text.h"

namespace meshwright::plans {
namespace {

constexpr int kMaxPriority = 100;

// Of a plan that was put aside, between two runs; doubled up to the maximum.
constexpr absl::Duration kFirstPause = absl::Seconds(1);
constexpr absl::Duration kMaxPause = absl::Minutes(1);

v1::PlanState FindState(const std::string& phase) {
  if (phase == "compile" || phase == "measure") return v1::MEASURING;
  return phase == "search" ? v1::SEARCHING : v1::ANALYSING;
}

v1::PlanUpdate MakeUpdate(v1::PlanState state, absl::string_view reason = "") {
  v1::PlanUpdate update;
  update.set_state(state);
  update.set_reason(std::string(reason));
  return update;
}

// What a list says of a plan that is done: it has a plan, or none that fits was
// found.
std::string SayDoesNotFit(const v1::Plan& plan) {
  if (plan.feasible() || plan.least_memory_bytes() == 0) return "";
  return absl::StrCat("no plan was found that fits ", plan.limit_bytes(),
                      " bytes per device; the smallest one found needs ",
                      plan.least_memory_bytes());
}

std::string SayAway(const absl::Status& why) {
  return absl::StrCat(why.message(),
                      "; the plan goes on when the store takes its updates");
}

// The store did not take an update that it would take at another time.
bool IsRetryable(const absl::Status& written) {
  return !written.ok() && !absl::IsFailedPrecondition(written) &&
         !absl::IsAborted(written) && !absl::IsNotFound(written);
}

// The same for devices on which the same worker can go on with a plan.
std::string NameDevice(const v1::DeviceRecord& device) {
  return absl::StrCat(device.platform(), "\n", device.platform_version(), "\n",
                      device.device_kind(), "\n",
                      jobs::DigestFingerprint(device.fingerprint()));
}

// Names are shown in tables and logs and stand in indices of the store.
absl::Status CheckName(absl::string_view what, absl::string_view name) {
  constexpr size_t kMost = store::kMaximumTextBytes;
  const bool is_line = store::IsOneLine({name.data(), name.size()});
  if (is_line && name.size() <= kMost) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a plan's ", what, is_line ? " is longer than " : " holds ",
      is_line ? absl::StrCat(kMost, " bytes") : "control characters",
      "; give a short text of one line"));
}

absl::Status CheckNames(const v1::SubmitPlanRequest& request) {
  RETURN_IF_ERROR(CheckName("namespace", request.namespace_()));
  RETURN_IF_ERROR(CheckName("owner", request.owner()));
  RETURN_IF_ERROR(CheckName("request id", request.request_id()));
  RETURN_IF_ERROR(CheckName("model name", request.request().model_name()));
  // An entry of PostgreSQL's index has the three, and at most 2,704 bytes.
  if (request.namespace_().size() + request.owner().size() +
          request.request_id().size() >
      2 * store::kMaximumTextBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a plan's namespace, owner and request id have more than ",
        2 * store::kMaximumTextBytes, " bytes together; give shorter ones"));
  }
  return absl::OkStatus();
}

// What a caller hears of a write in an epoch that is over.
absl::Status AskAgainIfReplaced(const absl::Status& written) {
  if (!absl::IsAborted(written)) return written;
  return absl::UnavailableError(
      "another coordinator has just begun to run the plans; ask again");
}

absl::Status NoSuchModule(const std::string& sha256) {
  return absl::NotFoundError(
      absl::StrCat("the module ", sha256, " is not here; put it first"));
}

}  // namespace

// The record of the progress of one run.
class PlanRunner::Progress {
 public:
  Progress(PlanRunner* runner, store::PlanId id) : runner_(runner), id_(id) {}

  void Show(const v1::PlanProgress& progress) {
    const absl::Time now = runner_->dependencies_.steady->Now();
    const v1::PlanState state = FindState(progress.phase());
    const bool is_new = state != state_;
    if (!is_new &&
        now - written_ < runner_->dependencies_.options.progress_interval) {
      return;
    }
    if (is_new && state == v1::MEASURING) began_ = now;
    state_ = state;
    written_ = now;
    v1::PlanUpdate update = MakeUpdate(state);
    *update.mutable_progress() = progress;
    if (progress.phase() == "measure" && progress.done() > 0) {
      update.mutable_progress()->set_seconds_left(
          absl::ToDoubleSeconds(now - began_) *
          static_cast<double>(progress.total() - progress.done()) /
          static_cast<double>(progress.done()));
    }
    runner_->Append(id_, std::move(update)).IgnoreError();
  }

  // Until the next progress.
  void Wait(const absl::Status& why) {
    if (state_ == v1::WAITING) return;
    const v1::PlanUpdate update = MakeUpdate(v1::WAITING, SayAway(why));
    if (runner_->Append(id_, update).ok()) state_ = v1::WAITING;
  }

 private:
  PlanRunner* const runner_;
  const store::PlanId id_;
  v1::PlanState state_ = v1::PLAN_STATE_UNSPECIFIED;
  absl::Time written_ = absl::InfinitePast();
  absl::Time began_;
};

PlanRunner::PlanRunner(Dependencies dependencies)
    : dependencies_(std::move(dependencies)),
      worker_rows_(dependencies_.plans, dependencies_.clock,
                   dependencies_.steady),
      unclaimed_(dependencies_.plans, dependencies_.profiles),
      turns_(dependencies_.options.turns),
      threads_(std::make_unique<base::ThreadPool>(
          dependencies_.options.turns.look_ups +
          dependencies_.options.turns.measurements)) {}

PlanRunner::~PlanRunner() { Stop(); }

absl::Status PlanRunner::Start() {
  ASSIGN_OR_RETURN(const store::Epoch epoch,
                   dependencies_.plans->BeginEpoch(dependencies_.holder));
  return Lead(epoch);
}

absl::Status PlanRunner::Lead(store::Epoch epoch) {
  absl::Status status = TakeOver(epoch);
  // Else it would run what is submitted to it when another one leads.
  if (!status.ok()) Follow();
  return status;
}

absl::Status PlanRunner::TakeOver(store::Epoch epoch) {
  {
    base::MutexLock lock(&mutex_);
    epoch_ = epoch;
    leads_ = true;
    newest_ = store::PlanId();
    turns_.Clear();
    put_aside_.clear();
    deadlines_.clear();
  }
  base::Failpoint("epoch.begun");
  dependencies_.queue->BeginEpoch(epoch.value);
  {
    base::MutexLock lock(&order_mutex_);
    ASSIGN_OR_RETURN(const std::vector<v1::WorkerOrder> orders,
                     dependencies_.plans->ListOrders());
    dependencies_.queue->SetOrders(orders);
  }
  RETURN_IF_ERROR(worker_rows_.Begin(epoch));
  std::vector<store::PlanId> ids;
  RETURN_IF_ERROR(store::ForEachPlan(
      *dependencies_.plans, {.states = store::ListUnfinishedStates()},
      [&](store::PlanId id, const v1::PlanRecord& record) {
        ids.push_back(id);
        Know(record, id);
        if (record.state() == v1::MEASURING) {
          base::MutexLock lock(&mutex_);
          interrupted_.insert(id);
        }
        return absl::OkStatus();
      }));
  std::reverse(ids.begin(), ids.end());
  if (!ids.empty()) {
    base::MutexLock lock(&mutex_);
    newest_ = ids.back();
    taken_over_ = ids.back();
  }
  for (const store::PlanId id : ids) Post(id);
  if (!ids.empty()) {
    base::LogInfo("plans: going on with ", ids.size(), " unfinished ones");
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::WorkerSummary> PlanRunner::Order(
    const v1::WorkerOrder& order) {
  base::MutexLock lock(&order_mutex_);
  ASSIGN_OR_RETURN(v1::WorkerSummary worker, dependencies_.queue->Order(order));
  store::Epoch epoch;
  {
    base::MutexLock inner(&mutex_);
    epoch = epoch_;
  }
  RETURN_IF_ERROR(
      AskAgainIfReplaced(dependencies_.plans->SetOrder(epoch, order)));
  return worker;
}

std::vector<v1::WorkerSummary> PlanRunner::ListWorkers() const {
  return worker_rows_.AddMissing(dependencies_.queue->Workers());
}

void PlanRunner::SaveWorkers() {
  const absl::Status saved = worker_rows_.Save(dependencies_.queue->Workers());
  if (!saved.ok()) {
    base::LogWarning("workers: their rows are not written: ", saved.message());
  }
}

void PlanRunner::Follow() {
  worker_rows_.End();
  base::MutexLock lock(&mutex_);
  leads_ = false;
  turns_.Clear();
  waiting_.Clear();
  put_aside_.clear();
  deadlines_.clear();
  woken_.clear();
  for (auto& [id, running] : running_) running.stop.request_stop();
}

absl::Status PlanRunner::TakeSubmitted() {
  store::PlanId newest;
  {
    base::MutexLock lock(&mutex_);
    if (!leads_) return absl::OkStatus();
    newest = newest_;
  }
  store::PlanFilter queued{.states = {v1::QUEUED}};
  std::vector<store::PlanId> ids;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<v1::PlanRecord> page,
                     dependencies_.plans->List(queued));
    for (const v1::PlanRecord& record : page) {
      ASSIGN_OR_RETURN(queued.before, store::ParsePlanId(record.id()));
      if (!(newest < queued.before)) break;
      ids.push_back(queued.before);
      Know(record, queued.before);
    }
    if (static_cast<int>(page.size()) < queued.limit ||
        !(newest < queued.before)) {
      break;
    }
  }
  if (ids.empty()) return absl::OkStatus();
  std::reverse(ids.begin(), ids.end());
  for (const store::PlanId id : ids) Post(id);
  base::MutexLock lock(&mutex_);
  newest_ = ids.back();
  return absl::OkStatus();
}

void PlanRunner::Stop() {
  {
    base::MutexLock lock(&mutex_);
    stopping_ = true;
    for (auto& [id, running] : running_) running.stop.request_stop();
  }
  if (threads_ == nullptr) return;
  threads_->Join();
  threads_.reset();
  SaveWorkers();  // those that left are not awaited
}

bool PlanRunner::Drain(absl::Duration timeout) {
  {
    base::MutexLock lock(&mutex_);
    draining_ = true;
  }
  return threads_->AwaitIdle(timeout);
}

absl::Status PlanRunner::KeepModule(const v1::SubmitPlanRequest& request,
                                    const PlanQuota& quota,
                                    v1::PlanRecord& record) {
  const std::string& module = request.request().hlo_module();
  if (!module.empty()) {
    record.set_module_sha256(base::Sha256Hex(module));
    record.set_module_bytes(static_cast<int64_t>(module.size()));
    return unclaimed_.Put(record.namespace_(), record.module_sha256(), module,
                          quota.limits);
  }
  if (request.module_sha256().empty()) {
    return absl::InvalidArgumentError(
        "the submission has no module; send one, or put one and name it by its "
        "SHA-256");
  }
  ASSIGN_OR_RETURN(
      const std::optional<int64_t> bytes,
      dependencies_.profiles->FindProgramBytes(request.module_sha256()));
  if (!bytes.has_value()) {
    return NoSuchModule(request.module_sha256());
  }
  record.set_module_sha256(request.module_sha256());
  record.set_module_bytes(*bytes);
  return absl::OkStatus();
}

absl::StatusOr<v1::PlanRecord> PlanRunner::Submit(
    const v1::SubmitPlanRequest& request, const std::string& traceparent,
    const PlanQuota& quota) {
  {
    base::MutexLock lock(&mutex_);
    if (draining_ || stopping_) {
      return absl::UnavailableError(
          "the coordinator drains and takes no plans; submit to it when it is "
          "back");
    }
  }
  if (request.priority() < -kMaxPriority || request.priority() > kMaxPriority) {
    return absl::InvalidArgumentError(
        absl::StrCat("a plan's priority is from ", -kMaxPriority, " to ",
                     kMaxPriority, ", and not ", request.priority()));
  }
  if (request.timeout_ns() < 0) {
    return absl::InvalidArgumentError(
        "a plan's timeout is positive, or 0 for none");
  }
  RETURN_IF_ERROR(CheckNames(request));
  v1::PlanRecord record;
  record.set_namespace_(request.namespace_().empty() ? store::kSharedPool
                                                     : request.namespace_());
  RETURN_IF_ERROR(KeepModule(request, quota, record));
  base::Failpoint("module.kept");
  record.set_owner(request.owner());
  record.set_priority(request.priority());
  record.set_request_id(request.request_id());
  *record.mutable_request() = request.request();
  record.mutable_request()->clear_hlo_module();
  record.set_traceparent(traceparent.empty() ? base::NewTraceparent()
                                             : traceparent);
  const absl::Time now = dependencies_.clock->Now();
  record.set_submitted_unix_ns(absl::ToUnixNanos(now));
  if (request.timeout_ns() > 0) {
    record.set_deadline_unix_ns(
        absl::ToUnixNanos(now + absl::Nanoseconds(request.timeout_ns())));
  }
  record.set_max_programs(quota.programs.value_or(0));
  ASSIGN_OR_RETURN(v1::PlanRecord added,
                   dependencies_.plans->Add(record, quota.limits));
  base::Failpoint("plan.submitted");
  unclaimed_.Claim(record.module_sha256());
  ASSIGN_OR_RETURN(const store::PlanId id, store::ParsePlanId(added.id()));
  // Garbage collection may have taken it with an older plan, before this one
  // named it. Where the store does not answer, the plan's run sees to that.
  const auto kept =
      dependencies_.profiles->FindProgramBytes(record.module_sha256());
  if (kept.ok() && !kept->has_value()) {
    const absl::Status again = KeepModule(request, quota, record);
    if (absl::IsNotFound(again) && added.state() == v1::QUEUED) {
      // Its request id is free for the submission that follows the module.
      // Where another one leads, the plan fails there.
      if (Fail(id, again).ok()) {
        dependencies_.plans->Remove({&id, 1}).status().IgnoreError();
      }
    }
    RETURN_IF_ERROR(again);
  }
  const base::LogScope scope(
      {.plan = added.id(), .traceparent = added.traceparent()});
  base::LogInfo(added.id(), ": ", added.request().model_name(), " for ",
                added.owner());
  bool leads = false;
  {
    base::MutexLock lock(&mutex_);
    leads = leads_;
  }
  if (leads && added.state() == v1::QUEUED) {
    Know(added, id);
    Post(id);
  }
  return added;
}

absl::StatusOr<v1::PlanRecord> PlanRunner::Cancel(store::PlanId id,
                                                  const std::string& reason) {
  ASSIGN_OR_RETURN(v1::PlanRecord record, dependencies_.plans->Get(id));
  if (store::HasEnded(record.state())) return record;
  {
    base::MutexLock lock(&mutex_);
    if (!leads_) {
      return absl::UnavailableError(
          "only the coordinator that runs the plans ends one; ask it, or try "
          "again when this one leads");
    }
  }
  absl::StatusOr<v1::PlanRecord> cancelled =
      EndFromOutside(id, MakeUpdate(v1::CANCELLED, reason));
  // It ended by itself meanwhile.
  if (absl::IsFailedPrecondition(cancelled.status())) {
    return dependencies_.plans->Get(id);
  }
  RETURN_IF_ERROR(AskAgainIfReplaced(cancelled.status()));
  return cancelled;
}

absl::StatusOr<v1::PlanRecord> PlanRunner::EndFromOutside(store::PlanId id,
                                                          v1::PlanUpdate end) {
  // At once, also where the plan still runs: what was answered must outlive
  // this process. Later updates of the run are refused.
  ASSIGN_OR_RETURN(v1::PlanRecord ended, Append(id, std::move(end)));
  base::MutexLock lock(&mutex_);
  waiting_.Remove(id);
  put_aside_.erase(id);
  deadlines_.erase(id);
  turns_.Leave(id);
  const auto running = running_.find(id);
  if (running != running_.end()) running->second.stop.request_stop();
  return ended;
}

absl::Status PlanRunner::Fail(store::PlanId id, const absl::Status& why) {
  v1::PlanUpdate failed = MakeUpdate(v1::FAILED, why.message());
  failed.set_error_code(static_cast<int>(why.code()));
  return EndFromOutside(id, std::move(failed)).status();
}

void PlanRunner::Know(const v1::PlanRecord& record, store::PlanId id) {
  base::MutexLock lock(&mutex_);
  const std::string device =
      record.has_device() ? NameDevice(record.device()) : "";
  turns_.Enter(id, {record.namespace_(), device}, record.priority());
  if (record.deadline_unix_ns() == 0) return;
  const absl::Duration left = absl::FromUnixNanos(record.deadline_unix_ns()) -
                              dependencies_.clock->Now();
  deadlines_[id] = dependencies_.steady->Now() + left;
}

void PlanRunner::EndOverdue(store::PlanId id) {
  const absl::Status ended =
      Fail(id, absl::DeadlineExceededError(
                   "the plan's deadline has passed; submit it again with a "
                   "later one: what was measured is kept"));
  if (IsRetryable(ended)) return;  // at the next Tick
  base::MutexLock lock(&mutex_);
  deadlines_.erase(id);
}

absl::StatusOr<v1::CoverageReport> PlanRunner::Cover(
    const v1::CoverageRequest& asked) {
  if (!dependencies_.cover) {
    return absl::UnimplementedError(
        "this coordinator knows nothing of the coverage of plans");
  }
  v1::PlanRequest request = asked.request();
  if (request.hlo_module().empty()) {
    auto module = dependencies_.profiles->LookupProgram(asked.module_sha256());
    if (absl::IsNotFound(module.status())) {
      return NoSuchModule(asked.module_sha256());
    }
    ASSIGN_OR_RETURN(*request.mutable_hlo_module(), std::move(module));
  }
  PlanMeasurer measurer(
      dependencies_.queue, &in_flight_, dependencies_.plans, std::nullopt,
      [](const v1::DeviceRecord&) { return absl::OkStatus(); },
      jobs::JobOrigin(), {});
  v1::PlanRecord named;
  named.set_module_sha256(asked.module_sha256());
  measurer.SetPlan(named);
  auto report = dependencies_.cover(request, &measurer);
  if (!jobs::IsSuspended(report.status())) return report;
  return absl::UnavailableError(report.status().message());
}

void PlanRunner::Tick() {
  const absl::Time now = dependencies_.steady->Now();
  std::vector<store::PlanId> overdue;
  {
    base::MutexLock lock(&mutex_);
    for (const auto& [id, deadline] : deadlines_) {
      if (deadline <= now) overdue.push_back(id);
    }
  }
  for (const store::PlanId id : overdue) EndOverdue(id);
  std::vector<store::PlanId> ready;
  std::map<std::string, Needs> needs;
  {
    base::MutexLock lock(&mutex_);
    for (auto& [id, aside] : put_aside_) {
      if (now < aside.next) continue;
      ready.push_back(id);
      aside.next = absl::InfiniteFuture();  // until its run ends
    }
    needs = waiting_.ListNeeds();
  }
  // Nobody who takes the lock waits for this.
  std::map<std::string, absl::Status> found;
  for (const auto& [name, it] : needs) {
    found[name] =
        dependencies_.queue
            ->MatchWorker(it.device,
                          it.exactly.has_value() ? &*it.exactly : nullptr)
            .status();
  }
  WaitingPlans::News news;
  {
    base::MutexLock lock(&mutex_);
    news = waiting_.Take(found, now);
  }
  ready.insert(ready.end(), news.ready.begin(), news.ready.end());
  for (const auto& [id, reason] : news.changed) {
    if (!Append(id, MakeUpdate(v1::WAITING, reason)).ok()) continue;
    base::MutexLock lock(&mutex_);
    waiting_.Tell(id, reason, now);
  }
  for (const store::PlanId id : ready) Post(id);
  if (worker_rows_.IsDue()) SaveWorkers();
}

absl::Duration PlanRunner::LongestWait() {
  const absl::Time now = dependencies_.steady->Now();
  base::MutexLock lock(&mutex_);
  return waiting_.FindLongest(now);
}

void PlanRunner::Post(store::PlanId id) {
  base::MutexLock lock(&mutex_);
  if (running_.contains(id)) {  // it is about to end its run
    woken_.insert(id);
    return;
  }
  turns_.Wait(id, Turns::Kind::kLookUp);
  RunNext();
}

void PlanRunner::RunNext() {
  if (stopping_ || draining_ || !leads_) return;
  while (const auto next = turns_.Give(dependencies_.steady->Now())) {
    running_.try_emplace(*next);
    threads_->Post([this, id = *next] { Run(id); });
  }
  for (const store::PlanId id : turns_.AskToGiveWay()) {
    running_.at(id).give_way.request_stop();
  }
}

bool PlanRunner::TakeMeasuringTurn(store::PlanId id) {
  base::MutexLock lock(&mutex_);
  if (!turns_.Upgrade(id)) return false;
  RunNext();
  return true;
}

absl::StatusOr<v1::PlanRecord> PlanRunner::Append(store::PlanId id,
                                                  v1::PlanUpdate update) {
  store::Epoch epoch;
  {
    base::MutexLock lock(&mutex_);
    epoch = epoch_;
  }
  update.set_unix_ns(absl::ToUnixNanos(dependencies_.clock->Now()));
  absl::StatusOr<v1::PlanRecord> record =
      dependencies_.plans->Append(epoch, id, update);
  if (record.ok()) {
    base::Failpoint("plan.updated");
    feed_.Notify(id);
    return record;
  }
  // It was ended by another hand, or is another coordinator's by now.
  if (absl::IsFailedPrecondition(record.status()) ||
      absl::IsAborted(record.status())) {
    base::MutexLock lock(&mutex_);
    const auto running = running_.find(id);
    if (running != running_.end()) running->second.stop.request_stop();
  } else {
    base::LogWarning(
        store::FormatPlanId(id), ": ",
        record.status().ToString(absl::StatusToStringMode::kWithNoExtraData));
  }
  return record;
}

void PlanRunner::Run(store::PlanId id) {
  Running running;
  bool begins = false;
  {
    base::MutexLock lock(&mutex_);
    running = running_.at(id);
    begins = !stopping_ && !draining_ && leads_;
  }
  std::optional<Needs> needs;
  std::string row_keys;
  absl::StatusOr<v1::Plan> plan = absl::CancelledError("it has ended");
  if (!begins) return End(id, std::move(plan), std::nullopt, row_keys);
  const auto record = dependencies_.plans->Get(id);
  const base::LogScope scope(
      {.plan = store::FormatPlanId(id),
       .traceparent = record.ok() ? record->traceparent() : ""});
  if (!record.ok()) {
    plan = record.status();
  } else if (!store::HasEnded(record->state())) {
    const absl::Status said = SayWaits(id);
    plan = said.ok() ? CallPlanFunction(*record, id, running, needs, row_keys)
                     : said;
  } else {
    base::MutexLock lock(&mutex_);
    turns_.Leave(id);
  }
  End(id, std::move(plan), std::move(needs), row_keys);
}

absl::Status PlanRunner::SayWaits(store::PlanId id) {
  std::string reason;
  {
    base::MutexLock lock(&mutex_);
    const auto aside = put_aside_.find(id);
    if (aside == put_aside_.end() || aside->second.is_said) return {};
    reason = aside->second.reason;
  }
  const absl::Status said =
      Append(id, MakeUpdate(v1::WAITING, reason)).status();
  return IsRetryable(said) ? store::MarkAway(said) : said;
}

void PlanRunner::PutAside(store::PlanId id, const absl::Status& why) {
  Aside& aside = put_aside_[id];
  const absl::Duration pause =
      std::min(kFirstPause * (int64_t{1} << aside.tries), kMaxPause);
  if (pause < kMaxPause) ++aside.tries;
  aside.next = dependencies_.steady->Now() + pause;
  aside.is_said = false;
  aside.reason = SayAway(why);
  waiting_.Remove(id);
}

absl::StatusOr<v1::Plan> PlanRunner::CallPlanFunction(
    const v1::PlanRecord& record, store::PlanId id, const Running& running,
    std::optional<Needs>& needs, std::string& row_keys) {
  v1::PlanRequest request = record.request();
  ASSIGN_OR_RETURN(
      *request.mutable_hlo_module(),
      dependencies_.profiles->LookupProgram(record.module_sha256()));
  std::optional<jobs::DeviceDescription> pinned;
  if (record.has_device()) pinned = jobs::ReadDeviceRecord(record.device());
  jobs::JobOrigin origin;
  origin.name_space = record.namespace_();
  origin.owner = record.owner();
  origin.model = record.request().model_name();
  origin.plan = record.id();
  origin.priority = record.priority();
  {
    base::MutexLock lock(&mutex_);
    origin.was_taken_over = !(taken_over_ < id);
    origin.was_interrupted = interrupted_.contains(id);
  }
  PlanMeasurer measurer(
      dependencies_.queue, &in_flight_, dependencies_.plans, std::move(pinned),
      [&](const v1::DeviceRecord& device) {
        v1::PlanUpdate update;
        *update.mutable_device() = device;
        RETURN_IF_ERROR(Append(id, std::move(update)).status());
        base::MutexLock lock(&mutex_);
        turns_.Pin(id, NameDevice(device));
        return absl::OkStatus();
      },
      std::move(origin), running.stop.get_token());
  measurer.SetPlan(record);
  measurer.ShareTurns([this, id] { return TakeMeasuringTurn(id); },
                      running.give_way.get_token());
  Progress progress(this, id);
  measurer.TellAway([&](const absl::Status& why) { progress.Wait(why); });
  auto plan = dependencies_.plan(
      request, &measurer,
      [&](const v1::PlanProgress& shown) { progress.Show(shown); });
  if (plan.ok()) {
    const absl::Status kept = measurer.StorePin();
    if (!kept.ok()) plan = IsRetryable(kept) ? store::MarkAway(kept) : kept;
  }
  if (jobs::IsSuspended(plan.status())) needs = measurer.needs();
  row_keys = store::PackKeys({measurer.rows().begin(), measurer.rows().end()});
  return plan;
}

void PlanRunner::End(store::PlanId id, absl::StatusOr<v1::Plan> plan,
                     std::optional<Needs> needs, const std::string& row_keys) {
  bool is_stopping = false;
  bool waits_for_turn = false;
  std::string aside;  // why, if it is
  {
    base::MutexLock lock(&mutex_);
    const auto running = running_.find(id);
    // Also where it was cancelled, or another coordinator took it over.
    is_stopping = stopping_ || (running != running_.end() &&
                                running->second.stop.stop_requested());
    waits_for_turn =
        !is_stopping && !needs.has_value() && jobs::IsSuspended(plan.status());
    // Before it is seen to wait, so that no Tick misses it.
    if (is_stopping) {
      needs.reset();
    } else if (needs.has_value()) {
      waiting_.Add(id, *needs, dependencies_.steady->Now());
    } else if (store::IsAway(plan.status())) {
      PutAside(id, plan.status());
      aside = put_aside_.at(id).reason;
    }
  }
  base::LogInfo(
      store::FormatPlanId(id), ": ",
      plan.status().ToString(absl::StatusToStringMode::kWithNoExtraData));
  absl::Status written;
  // Not where it is stopped: whoever leads next may know it already.
  bool ends = false;
  if (plan.ok()) {
    ends = true;
    base::Failpoint("plan.made");
    v1::PlanUpdate done = MakeUpdate(v1::DONE, SayDoesNotFit(*plan));
    *done.mutable_plan() = *std::move(plan);
    done.set_row_keys(row_keys);
    written = Append(id, std::move(done)).status();
    base::Failpoint("plan.done");
  } else if (is_stopping) {
    // It was cancelled, or the next coordinator or leader goes on with it.
  } else if (needs.has_value() || waits_for_turn) {
    const std::string reason(plan.status().message());
    written = Append(id, MakeUpdate(v1::WAITING, reason)).status();
    base::MutexLock lock(&mutex_);
    if (written.ok()) waiting_.Tell(id, reason, dependencies_.steady->Now());
  } else if (!aside.empty()) {
    written = Append(id, MakeUpdate(v1::WAITING, aside)).status();
  } else if (!absl::IsCancelled(plan.status())) {
    ends = true;
    v1::PlanUpdate failed = MakeUpdate(v1::FAILED, plan.status().message());
    failed.set_error_code(static_cast<int>(plan.status().code()));
    written = Append(id, std::move(failed)).status();
  }
  base::MutexLock lock(&mutex_);
  const auto there = put_aside_.find(id);
  if (IsRetryable(written) && !is_stopping) {
    if (aside.empty()) PutAside(id, written);
  } else if (there != put_aside_.end()) {
    there->second.is_said = true;
    if (aside.empty() || !written.ok()) put_aside_.erase(there);
  }
  running_.erase(id);
  turns_.Release(id, dependencies_.steady->Now());
  const bool is_woken = woken_.erase(id) > 0;
  if (waits_for_turn && written.ok()) {
    turns_.Wait(id, Turns::Kind::kMeasuring);
  } else if (is_woken) {
    turns_.Wait(id, Turns::Kind::kLookUp);
  } else if (ends && !IsRetryable(written)) {
    turns_.Leave(id);
  }
  RunNext();
}

}  // namespace meshwright::plans
