#include "tests/integration/plan_history.h"

#include "absl/strings/str_cat.h"

namespace meshwright::integration {
namespace {

bool IsEnd(v1::PlanState state) {
  return state == v1::DONE || state == v1::FAILED || state == v1::CANCELLED;
}

}  // namespace

bool PlanHistory::has_ended() const { return IsEnd(state_); }

std::string PlanHistory::TakeRecord(const v1::PlanRecord& record) {
  if (id_.empty()) {
    id_ = record.id();
    module_sha256_ = record.module_sha256();
  }
  if (record.id() != id_) {
    return absl::StrCat("the submission of ", id_, " is ", record.id(), " now");
  }
  if (record.module_sha256() != module_sha256_) {
    return absl::StrCat(id_, " has another module");
  }
  if (record.sequence() < last()) {
    return absl::StrCat(id_, " has ", record.sequence(), " updates, and ",
                        last(), " were read");
  }
  if (record.sequence() == last() && last() > 0 && record.state() != state_) {
    return absl::StrCat(id_, " is ", v1::PlanState_Name(record.state()),
                        ", and its updates say ", v1::PlanState_Name(state_));
  }
  if (has_ended() && record.sequence() != last()) {
    return absl::StrCat(id_, " has ended, and has ", record.sequence(),
                        " updates after ", last());
  }
  return "";
}

std::string PlanHistory::TakeUpdate(const v1::PlanUpdate& update) {
  if (update.sequence() != next_) {
    return absl::StrCat("a stream of ", id_, " has update ", update.sequence(),
                        " where ", next_, " comes next");
  }
  ++next_;
  const std::string bytes = update.SerializeAsString();
  if (update.sequence() <= last()) {
    if (updates_[update.sequence() - 1] == bytes) return "";
    return absl::StrCat("update ", update.sequence(), " of ", id_,
                        " is not what it was");
  }
  if (has_ended()) {
    return absl::StrCat(id_, " has ended, and goes on with update ",
                        update.sequence());
  }
  updates_.push_back(bytes);
  if (update.state() != v1::PLAN_STATE_UNSPECIFIED) state_ = update.state();
  if (update.has_plan()) plan_ = update.plan();
  return "";
}

std::string PlanHistory::TakeEnd() const {
  if (!has_ended()) {
    return absl::StrCat("a stream of ", id_, " ends at update ", last(),
                        ", where it is ", v1::PlanState_Name(state_));
  }
  if (next_ != last() + 1) {
    return absl::StrCat("a stream of ", id_, " ends at update ", next_ - 1,
                        " of ", last());
  }
  return "";
}

}  // namespace meshwright::integration
