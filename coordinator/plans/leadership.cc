#include "coordinator/plans/leadership.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "base/status_macros.h"

namespace meshwright::plans {
namespace {

// Its content becomes the details of the call (base/rpc/rpc_status.h).
constexpr char kLeader[] = "meshwright.dev/leader";

}  // namespace

absl::Status Leadership::Renew() {
  std::string address;
  store::Epoch mine;
  {
    base::MutexLock lock(&mutex_);
    address = address_;
    if (LeadsNow()) mine = epoch_;
  }
  const auto asked = options_.now();
  const auto answer = plans_->Lead(address, mine, options_.term);
  RETURN_IF_ERROR(answer.status());
  base::MutexLock lock(&mutex_);
  const bool led = LeadsNow();
  holder_ = answer->holder;
  // A term that was prolonged too late is over: the row of it expires.
  if (answer->is_mine && (led || epoch_ < answer->epoch)) {
    epoch_ = answer->epoch;
    leads_until_ = asked + absl::ToChronoNanoseconds(options_.term);
  } else {
    leads_until_ = {};
  }
  if (led != LeadsNow()) {
    base::LogInfo("coordinator: ", led ? "follows " : "leads, as ", holder_,
                  ", epoch ", answer->epoch.value);
  }
  return absl::OkStatus();
}

void Leadership::StepDown() {
  store::Epoch epoch;
  {
    base::MutexLock lock(&mutex_);
    if (!LeadsNow()) return;
    leads_until_ = {};
    holder_.clear();
    epoch = epoch_;
  }
  const absl::Status status = plans_->StepDown(epoch);
  if (!status.ok()) {
    base::LogWarning("coordinator: the leadership ends by itself: ",
                     status.message());
  }
}

bool Leadership::LeadsNow() const { return options_.now() < leads_until_; }

bool Leadership::Leads() const {
  base::MutexLock lock(&mutex_);
  return LeadsNow();
}

void Leadership::NoteBegun(store::Epoch epoch) {
  base::MutexLock lock(&mutex_);
  begun_ = epoch;
}

bool Leadership::AwaitLeads(absl::Duration patience) const {
  const auto leads = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return LeadsNow() && begun_ == epoch_;
  };
  base::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(&leads), patience);
}

store::Epoch Leadership::epoch() const {
  base::MutexLock lock(&mutex_);
  return epoch_;
}

std::string Leadership::leader() const {
  base::MutexLock lock(&mutex_);
  // It held the row until its term ended, and nobody has it yet.
  return holder_ == address_ && !LeadsNow() ? "" : holder_;
}

absl::Status Leadership::CheckLeads(absl::string_view deed) const {
  if (Leads()) return absl::OkStatus();
  const std::string address = leader();
  if (address.empty()) {
    return absl::UnavailableError(
        absl::StrCat("the coordinators have no leader, which alone ", deed,
                     "; try again in a few seconds"));
  }
  absl::Status elsewhere = absl::UnavailableError(absl::StrCat(
      "only the leader of the coordinators ", deed, "; ask it at ", address));
  elsewhere.SetPayload(kLeader, absl::Cord(address));
  return elsewhere;
}

absl::Status Leadership::CheckTakesWorkers() const {
  RETURN_IF_ERROR(CheckLeads("takes workers"));
  base::MutexLock lock(&mutex_);
  if (begun_ == epoch_) return absl::OkStatus();
  return absl::UnavailableError(
      "the coordinator has just become the leader and takes workers in a "
      "moment; try again");
}

absl::Status CheckLeads(const Leadership* leadership, absl::string_view deed) {
  return leadership == nullptr ? absl::OkStatus()
                               : leadership->CheckLeads(deed);
}

absl::Status CheckTakesWorkers(const Leadership* leadership) {
  return leadership == nullptr ? absl::OkStatus()
                               : leadership->CheckTakesWorkers();
}

absl::Status CheckHoldsWorkers(const Leadership* leadership) {
  return CheckLeads(leadership, "holds workers and jobs");
}

}  // namespace meshwright::plans
