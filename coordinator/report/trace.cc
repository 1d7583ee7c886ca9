#include "coordinator/report/trace.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "proto/perfetto/trace.pb.h"

namespace meshwright::report {
namespace {

// Packets of one writer have one sequence, which starts with no state.
constexpr uint32_t kSequence = 1;
constexpr uint32_t kStateCleared = 1;

uint64_t ToNanoseconds(double seconds) {
  return static_cast<uint64_t>(std::llround(seconds * 1e9));
}

// A group of more devices has one process: equal tracks would make a file that
// nobody can open.
constexpr size_t kMostApart = 16;

// The devices of each process.
std::vector<std::vector<int64_t>> ListProcesses(
    const std::vector<int64_t>& devices) {
  if (devices.size() > kMostApart) return {devices};
  std::vector<std::vector<int64_t>> processes;
  for (const int64_t device : devices) processes.push_back({device});
  return processes;
}

// "device 3", "devices 0-3, 8".
std::string NameDevices(const std::vector<int64_t>& devices) {
  std::string text = devices.size() == 1 ? "device " : "devices ";
  for (size_t first = 0; first < devices.size();) {
    size_t end = first + 1;
    while (end < devices.size() && devices[end] == devices[end - 1] + 1) ++end;
    absl::StrAppend(&text, first > 0 ? ", " : "", devices[first]);
    if (end > first + 1) absl::StrAppend(&text, "-", devices[end - 1]);
    first = end;
  }
  return text;
}

class Writer {
 public:
  uint64_t AddProcess(int32_t pid, const std::string& name) {
    perfetto::TrackDescriptor& track = AddTrack();
    track.mutable_process()->set_pid(pid);
    track.mutable_process()->set_process_name(name);
    return track.uuid();
  }

  void AddLane(const Lane& lane, int32_t pid, int32_t tid, uint64_t process) {
    perfetto::TrackDescriptor& track = AddTrack();
    track.set_parent_uuid(process);
    track.mutable_thread()->set_pid(pid);
    track.mutable_thread()->set_tid(tid);
    track.mutable_thread()->set_thread_name(lane.name);
    const uint64_t uuid = track.uuid();
    for (const Slice& slice : lane.slices) {
      const uint64_t begin = ToNanoseconds(slice.start_seconds);
      const uint64_t end = ToNanoseconds(slice.start_seconds + slice.seconds);
      if (begin >= end) continue;
      perfetto::TrackEvent& event =
          AddEvent(begin, uuid, perfetto::TrackEvent::TYPE_SLICE_BEGIN);
      event.set_name(slice.name);
      event.add_categories(slice.kind);
      if (!slice.detail.empty()) {
        perfetto::DebugAnnotation& detail = *event.add_debug_annotations();
        detail.set_name("configuration");
        detail.set_string_value(slice.detail);
      }
      AddEvent(end, uuid, perfetto::TrackEvent::TYPE_SLICE_END);
    }
  }

  void AddMemory(const std::vector<MemoryLevel>& levels, uint64_t process) {
    if (levels.empty()) return;
    perfetto::TrackDescriptor& track = AddTrack();
    track.set_parent_uuid(process);
    track.set_name("memory");
    track.mutable_counter()->set_unit(
        perfetto::CounterDescriptor::UNIT_SIZE_BYTES);
    const uint64_t uuid = track.uuid();
    for (const MemoryLevel& level : levels) {
      AddEvent(ToNanoseconds(level.seconds), uuid,
               perfetto::TrackEvent::TYPE_COUNTER)
          .set_counter_value(level.bytes);
    }
  }

  std::string Serialize() const { return trace_.SerializeAsString(); }

 private:
  perfetto::TracePacket& AddPacket() {
    const bool first = trace_.packet().empty();
    perfetto::TracePacket& packet = *trace_.add_packet();
    packet.set_trusted_packet_sequence_id(kSequence);
    if (first) packet.set_sequence_flags(kStateCleared);
    return packet;
  }
  perfetto::TrackDescriptor& AddTrack() {
    perfetto::TrackDescriptor& track = *AddPacket().mutable_track_descriptor();
    track.set_uuid(++tracks_);
    return track;
  }
  perfetto::TrackEvent& AddEvent(uint64_t time, uint64_t track,
                                 perfetto::TrackEvent::Type type) {
    perfetto::TracePacket& packet = AddPacket();
    packet.set_timestamp(time);
    perfetto::TrackEvent& event = *packet.mutable_track_event();
    event.set_track_uuid(track);
    event.set_type(type);
    return event;
  }

  perfetto::Trace trace_;
  uint64_t tracks_ = 0;
};

}  // namespace

std::string FormatTrace(const std::vector<Timeline>& timelines) {
  Writer writer;
  int32_t pid = 0;
  for (const Timeline& timeline : timelines) {
    for (const DeviceGroup& group : timeline.groups) {
      const std::string of =
          timeline.groups.size() > 1 ? absl::StrCat(" of ", group.name) : "";
      for (const auto& devices : ListProcesses(group.devices)) {
        const uint64_t process = writer.AddProcess(
            ++pid, absl::StrCat(timeline.name, ": ", NameDevices(devices), of));
        int32_t tid = 1;
        for (const Lane& lane : group.lanes) {
          writer.AddLane(lane, pid, tid++, process);
        }
        writer.AddMemory(group.memory, process);
      }
    }
  }
  return writer.Serialize();
}

}  // namespace meshwright::report
