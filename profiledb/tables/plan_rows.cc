#include "profiledb/tables/plan_rows.h"

#include <google/protobuf/message.h>

#include "absl/strings/str_cat.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/tables/stored_row.h"

namespace meshwright::tables {
namespace {

constexpr char kStateDiffers[] = "its state differs";

bool ParseBytes(std::string_view bytes, google::protobuf::Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

bool Differs(const Statement& row, int column, int64_t checksum) {
  return !row.IsNull(column) && row.Integer(column) != checksum;
}

}  // namespace

int64_t ComputeChecksum(store::PlanId id, std::string_view bytes) {
  return Checksum().Add(id.value).Add(bytes).value();
}

int64_t ComputeChecksum(store::PlanId id, int64_t sequence,
                        std::string_view bytes) {
  return Checksum().Add(id.value).Add(sequence).Add(bytes).value();
}

std::string ParseRecord(const Statement& row, v1::PlanRecord& record) {
  const store::PlanId id{row.Integer(0)};
  if (Differs(row, 3, ComputeChecksum(id, row.View(2)))) {
    return "its checksum differs";
  }
  if (!ParseBytes(row.View(2), record)) return "its record is none";
  if (record.id() != store::FormatPlanId(id)) return "its id differs";
  return record.state() == row.Integer(1) ? "" : kStateDiffers;
}

std::string ParseWholePlan(const Statement& row, v1::PlanRecord& record) {
  std::string damage = ParseRecord(row, record);
  // One that was set aside has another state, whatever else is wrong with it.
  if (row.IsNull(4) || (!damage.empty() && damage != kStateDiffers)) {
    return damage;
  }
  const store::PlanId id{row.Integer(0)};
  if (Differs(row, 5, ComputeChecksum(id, row.View(4)))) {
    return "the checksum of what was planned differs";
  }
  return ParseBytes(row.View(4), *record.mutable_plan())
             ? damage
             : "what was planned is no plan";
}

std::string ParseUpdate(store::PlanId id, const Statement& row,
                        v1::PlanUpdate& update) {
  const int64_t sequence = row.Integer(0);
  if (Differs(row, 2, ComputeChecksum(id, sequence, row.View(1))) ||
      !ParseBytes(row.View(1), update) || update.sequence() != sequence) {
    return absl::StrCat("its update ", sequence, " is not as it was written");
  }
  return "";
}

absl::Status MakeDamageError(store::PlanId id, const std::string& damage) {
  return absl::DataLossError(absl::StrCat(
      store::FormatPlanId(id), " is damaged in the store: ", damage,
      "; submit it again, or restore the store from a backup"));
}

}  // namespace meshwright::tables
