#include "worker/collect/xspace_records.h"

#include <string>

#include "absl/strings/match.h"

namespace meshwright::worker::collect {
namespace {

// The number of the stat that names the HLO instruction; none: 0.
int64_t FindOperationStat(const hlo::XPlane& plane) {
  for (const auto& [id, metadata] : plane.stat_metadata()) {
    if (metadata.name() == "hlo_op") return id;
  }
  return 0;
}

std::string ReadText(const hlo::XPlane& plane, const hlo::XStat& stat) {
  if (stat.value_case() == hlo::XStat::kStrValue) return stat.str_value();
  if (stat.value_case() != hlo::XStat::kRefValue) return {};
  const auto found =
      plane.stat_metadata().find(static_cast<int64_t>(stat.ref_value()));
  return found == plane.stat_metadata().end() ? "" : found->second.name();
}

bool IsCopy(const std::string& name) {
  return absl::StartsWith(name, "Memcpy") || absl::StartsWith(name, "Memset");
}

// "Stream #13(Compute)"
bool IsStream(const hlo::XLine& line) {
  return absl::StartsWith(line.name(), "Stream");
}

void ReadStream(const hlo::XPlane& plane, const hlo::XLine& line,
                int64_t operation_stat, Collection& collection) {
  for (const hlo::XEvent& event : line.events()) {
    KernelRecord record;
    const auto metadata = plane.event_metadata().find(event.metadata_id());
    if (metadata != plane.event_metadata().end()) {
      record.name = metadata->second.name();
    }
    if (IsCopy(record.name)) record.kind = KernelRecord::Kind::kCopy;
    for (const hlo::XStat& stat : event.stats()) {
      if (operation_stat != 0 && stat.metadata_id() == operation_stat) {
        record.operation = ReadText(plane, stat);
      }
    }
    constexpr int64_t kPicoseconds = 1000;
    record.start_ns = line.timestamp_ns() + event.offset_ps() / kPicoseconds;
    record.end_ns = line.timestamp_ns() +
                    (event.offset_ps() + event.duration_ps()) / kPicoseconds;
    record.stream = line.id();
    collection.records.push_back(std::move(record));
  }
}

}  // namespace

Collection ReadXSpace(const hlo::XSpace& space) {
  Collection collection;
  for (const hlo::XPlane& plane : space.planes()) {
    if (!absl::StartsWith(plane.name(), "/device:")) continue;
    const int64_t operation_stat = FindOperationStat(plane);
    for (const hlo::XLine& line : plane.lines()) {
      if (IsStream(line)) ReadStream(plane, line, operation_stat, collection);
    }
  }
  return collection;
}

}  // namespace meshwright::worker::collect
