#include "profiledb/store/plan_limits.h"

#include "absl/strings/str_cat.h"

namespace meshwright::store {
namespace {

constexpr char kAsk[] =
    "or ask the coordinator's administrator for a larger quota";

}  // namespace

absl::Status CheckLimits(const PlanLimits& limits, const v1::PlanRecord& record,
                         absl::Span<const v1::PlanRecord> unfinished) {
  const auto plans = static_cast<int64_t>(unfinished.size());
  if (limits.plans.has_value() && plans >= *limits.plans) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the namespace ", record.namespace_(), " may have ", *limits.plans,
        " plans at once and has ", plans, "; wait until one ends, ", kAsk));
  }
  int64_t bytes = record.module_bytes();
  for (const v1::PlanRecord& plan : unfinished) bytes += plan.module_bytes();
  if (limits.module_bytes.has_value() && bytes > *limits.module_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the modules of plans of the namespace ", record.namespace_(),
        " may have ", *limits.module_bytes, " bytes together and would have ",
        bytes, "; wait until a plan ends, ", kAsk));
  }
  return absl::OkStatus();
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
