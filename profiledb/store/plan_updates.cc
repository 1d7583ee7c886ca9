#include "profiledb/store/plan_updates.h"

#include <google/protobuf/util/message_differencer.h>

#include <cstdint>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiledb/store/check_row.h"

namespace meshwright::store {
namespace {

constexpr char kPrefix[] = "plan-";
constexpr size_t kKeyBytes = 32;

// The plan of the last update is kept apart.
std::string WithoutPlan(v1::PlanUpdate update) {
  update.clear_plan();
  return update.SerializeAsString();
}

}  // namespace

bool HasEnded(v1::PlanState state) {
  return state == v1::DONE || state == v1::FAILED || state == v1::CANCELLED;
}

std::string FormatPlanId(PlanId id) { return absl::StrCat(kPrefix, id.value); }

absl::StatusOr<PlanId> ParsePlanId(absl::string_view text) {
  absl::string_view digits = text;
  int64_t number = 0;
  if (absl::StartsWith(digits, kPrefix)) {
    digits.remove_prefix(sizeof(kPrefix) - 1);
    if (!digits.empty() && absl::ascii_isdigit(digits[0]) &&
        absl::SimpleAtoi(digits, &number) && number > 0) {
      return PlanId{number};
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", text, "\" is no plan; `meshwright plans list` names them"));
}

absl::Status MakeNoSuchPlanError(PlanId id) {
  return absl::NotFoundError(
      absl::StrCat("there is no ", FormatPlanId(id),
                   "; `meshwright plans list` names those there are"));
}

absl::Status MakeOldEpochError() {
  return absl::AbortedError(
      "another coordinator has taken this store over; this one changes nothing "
      "any more, restart it");
}

v1::PlanUpdate MakeQueuedUpdate(const v1::PlanRecord& record) {
  v1::PlanUpdate update;
  update.set_unix_ns(record.submitted_unix_ns());
  update.set_state(v1::QUEUED);
  return update;
}

absl::Status CheckContinues(const v1::PlanRecord& there,
                            const v1::PlanUpdate& newest,
                            const v1::PlanRecord& record,
                            absl::Span<const v1::PlanUpdate> updates) {
  if (there.namespace_() != record.namespace_() ||
      there.owner() != record.owner() ||
      there.request_id() != record.request_id() ||
      there.module_sha256() != record.module_sha256() ||
      there.submitted_unix_ns() != record.submitted_unix_ns()) {
    return absl::AlreadyExistsError(
        absl::StrCat("the other store has another ", record.id()));
  }
  if (there.sequence() >= record.sequence()) return absl::OkStatus();
  if (WithoutPlan(updates[there.sequence() - 1]) != WithoutPlan(newest)) {
    return absl::AlreadyExistsError(absl::StrCat(
        record.id(), " went on by itself in the other store and stays so"));
  }
  return absl::OkStatus();
}

absl::Status CheckWhole(const v1::PlanRecord& record,
                        absl::Span<const v1::PlanUpdate> updates) {
  if (!updates.empty() && record.sequence() == updates.back().sequence() &&
      record.sequence() == static_cast<int64_t>(updates.size())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(record.id(), " comes with ", updates.size(), " of ",
                   record.sequence(), " updates"));
}

std::string PackKeys(const std::vector<std::string>& keys) {
  std::set<std::string> rising;
  for (const std::string& key : keys) {
    if (IsKey(key)) rising.insert(absl::HexStringToBytes(key));
  }
  return absl::StrJoin(rising, "");
}

std::vector<std::string> UnpackKeys(absl::string_view packed) {
  std::vector<std::string> keys;
  for (; packed.size() >= kKeyBytes; packed.remove_prefix(kKeyBytes)) {
    keys.push_back(absl::BytesToHexString(packed.substr(0, kKeyBytes)));
  }
  return keys;
}

absl::Status CheckIsSame(const v1::PlanRecord& asked,
                         const v1::PlanRecord& kept) {
  if (asked.module_sha256() == kept.module_sha256() &&
      google::protobuf::util::MessageDifferencer::Equals(asked.request(),
                                                         kept.request())) {
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(absl::StrCat(
      "the request id ", asked.request_id(), " is that of ", kept.id(),
      ", which asks for another plan; give each request an id of its own"));
}

absl::Status MakeRequestIdTakenError(const v1::PlanRecord& record) {
  return absl::AlreadyExistsError(
      absl::StrCat("the request id of ", record.id(), ", ", record.request_id(),
                   ", is another plan's in the other store"));
}

absl::Status ApplyUpdate(v1::PlanUpdate& update, v1::PlanRecord& record) {
  if (HasEnded(record.state())) {
    return absl::FailedPreconditionError(absl::StrCat(
        record.id(), " has ended: it is ",
        record.state() == v1::DONE
            ? "done"
            : (record.state() == v1::FAILED ? "failed" : "cancelled")));
  }
  record.set_sequence(record.sequence() + 1);
  update.set_sequence(record.sequence());
  record.set_updated_unix_ns(update.unix_ns());
  if (update.state() != v1::PLAN_STATE_UNSPECIFIED) {
    record.set_state(update.state());
    record.set_reason(update.reason());
    record.set_error_code(update.error_code());
  }
  if (update.has_progress()) *record.mutable_progress() = update.progress();
  if (update.has_device()) *record.mutable_device() = update.device();
  if (update.has_plan()) *record.mutable_plan() = update.plan();
  return absl::OkStatus();
}

}  // namespace meshwright::store
