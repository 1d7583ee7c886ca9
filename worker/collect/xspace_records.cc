#include "worker/collect/xspace_records.h"

#include <string>

#include "absl/strings/match.h"

namespace meshwright::worker::collect {
namespace {

// Of a kernel's or an instruction's; templates have thousands of letters, and
// every event has its own copy.
constexpr size_t kLongestName = 1024;

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

// Nanoseconds; 0, as of a record without times, where no clock shows them.
int64_t AddPicoseconds(int64_t timestamp_ns, int64_t offset_ps,
                       int64_t duration_ps) {
  constexpr int64_t kPicoseconds = 1000;
  int64_t picoseconds = 0;
  int64_t nanoseconds = 0;
  const bool is_none =
      __builtin_add_overflow(offset_ps, duration_ps, &picoseconds) ||
      __builtin_add_overflow(timestamp_ns, picoseconds / kPicoseconds,
                             &nanoseconds);
  return is_none ? 0 : nanoseconds;
}

// "Stream #13(Compute)"
bool IsStream(const hlo::XLine& line) {
  return absl::StartsWith(line.name(), "Stream");
}

// `device`: the plane's place among the profile's.
void ReadStream(const hlo::XPlane& plane, const hlo::XLine& line, int device,
                int64_t operation_stat, Collection& collection) {
  for (const hlo::XEvent& event : line.events()) {
    KernelRecord record;
    const auto metadata = plane.event_metadata().find(event.metadata_id());
    if (metadata != plane.event_metadata().end()) {
      record.name = metadata->second.name().substr(0, kLongestName);
    }
    if (IsCopy(record.name)) record.kind = KernelRecord::Kind::kCopy;
    for (const hlo::XStat& stat : event.stats()) {
      if (operation_stat != 0 && stat.metadata_id() == operation_stat) {
        record.operation = ReadText(plane, stat).substr(0, kLongestName);
      }
    }
    record.start_ns = AddPicoseconds(line.timestamp_ns(), event.offset_ps(), 0);
    record.end_ns = AddPicoseconds(line.timestamp_ns(), event.offset_ps(),
                                   event.duration_ps());
    record.stream = line.id();
    record.device = device;
    collection.records.push_back(std::move(record));
  }
}

}  // namespace

Collection ReadXSpace(const hlo::XSpace& space) {
  Collection collection;
  for (int i = 0; i < space.planes_size(); ++i) {
    const hlo::XPlane& plane = space.planes(i);
    if (!absl::StartsWith(plane.name(), "/device:")) continue;
    const int64_t operation_stat = FindOperationStat(plane);
    for (const hlo::XLine& line : plane.lines()) {
      if (!IsStream(line)) continue;
      ReadStream(plane, line, i, operation_stat, collection);
    }
  }
  return collection;
}

}  // namespace meshwright::worker::collect
