#include "profiledb/store/plan_limits.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace meshwright::store {
namespace {

constexpr char kAsk[] =
    "or ask the coordinator's administrator for a larger quota";

bool IsOver(const v1::PlanRecord& plan) {
  return plan.state() == v1::DONE || plan.state() == v1::FAILED ||
         plan.state() == v1::CANCELLED;
}

int64_t CountStoredBytes(absl::Span<const v1::PlanRecord> plans) {
  absl::flat_hash_set<absl::string_view> modules;
  int64_t bytes = 0;
  for (const v1::PlanRecord& plan : plans) {
    bytes += CountRequestBytes(plan);
    if (modules.insert(plan.module_sha256()).second) {
      bytes += plan.module_bytes();
    }
  }
  return bytes;
}

}  // namespace

int64_t CountRequestBytes(const v1::PlanRecord& plan) {
  return static_cast<int64_t>(plan.request().ByteSizeLong());
}

absl::Status CheckLimits(const PlanLimits& limits, const v1::PlanRecord& record,
                         absl::Span<const v1::PlanRecord> plans) {
  int64_t unfinished = 0;
  int64_t bytes = record.module_bytes();
  bool is_kept = false;  // its module, for another plan
  for (const v1::PlanRecord& plan : plans) {
    is_kept = is_kept || plan.module_sha256() == record.module_sha256();
    if (IsOver(plan)) continue;
    ++unfinished;
    bytes += plan.module_bytes();
  }
  if (limits.plans.has_value() && unfinished >= *limits.plans) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the namespace ", record.namespace_(), " may have ",
                     *limits.plans, " plans at once and has ", unfinished,
                     "; wait until one ends, ", kAsk));
  }
  if (limits.module_bytes.has_value() && bytes > *limits.module_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the modules of plans of the namespace ", record.namespace_(),
        " may have ", *limits.module_bytes, " bytes together and would have ",
        bytes, "; wait until a plan ends, ", kAsk));
  }
  if (!limits.stored_bytes.has_value()) return absl::OkStatus();
  const int64_t stored = CountStoredBytes(plans) + CountRequestBytes(record) +
                         (is_kept ? 0 : record.module_bytes());
  if (stored <= *limits.stored_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "what is kept for plans of the namespace ", record.namespace_(),
      " may have ", *limits.stored_bytes, " bytes and would have ", stored,
      "; have old plans and modules removed with \"meshwright profiles gc "
      "--max-plan-days\" and \"--max-unused-days\", ",
      kAsk));
}

absl::Status CheckPrograms(const v1::PlanRecord& record, int64_t programs) {
  if (record.max_programs() == 0 || programs <= record.max_programs()) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "a plan of the namespace ", record.namespace_(), " may have ",
      record.max_programs(), " programs measured, and ", record.id(),
      " needs at least ", programs, "; open fewer strategies, ", kAsk));
}

}  // namespace meshwright::store
