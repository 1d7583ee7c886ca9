#include "coordinator/report/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "coordinator/report/report_data.h"
#include "coordinator/report/testing/plans.h"
#include "proto/perfetto/trace.pb.h"

namespace meshwright::report {
namespace {

using perfetto::TrackEvent;
using testing::Contains;
using testing::IsSupersetOf;
using testing::Key;

perfetto::Trace Parse(const std::vector<Timeline>& timelines) {
  perfetto::Trace trace;
  EXPECT_TRUE(trace.ParseFromString(FormatTrace(timelines)));
  return trace;
}

std::vector<Timeline> MakeStagedTimelines() {
  const v1::Plan plan = MakeStagedPlan();
  const auto timelines = MakeTimelines(
      {.plan = plan, .staged_validation = MakeStagedValidation(plan, 2)});
  EXPECT_TRUE(timelines.ok()) << timelines.status();
  return *timelines;
}

// By "process / thread" or "process / counter": the uuid of each track.
std::map<std::string, uint64_t> ListTracks(const perfetto::Trace& trace) {
  std::map<uint64_t, std::string> processes;
  std::map<std::string, uint64_t> tracks;
  for (const perfetto::TracePacket& packet : trace.packet()) {
    if (!packet.has_track_descriptor()) continue;
    const perfetto::TrackDescriptor& it = packet.track_descriptor();
    if (it.has_process()) {
      processes[it.uuid()] = it.process().process_name();
    } else {
      EXPECT_TRUE(processes.contains(it.parent_uuid()));
      tracks[processes[it.parent_uuid()] + " / " +
             (it.has_thread() ? it.thread().thread_name() : it.name())] =
          it.uuid();
    }
  }
  return tracks;
}

TEST(Trace, HasATrackPerDeviceWithCommunicationApart) {
  const auto tracks = ListTracks(Parse(MakeStagedTimelines()));
  std::vector<std::string> names;
  for (const auto& [name, uuid] : tracks) names.push_back(name);
  EXPECT_THAT(names,
              IsSupersetOf({"predicted: device 0 of stage 1 / compute",
                            "predicted: device 0 of stage 1 / communication",
                            "predicted: device 1 of stage 2 / memory",
                            "measured: device 1 of stage 2 / compute"}));
}

TEST(Trace, DevicesOfALargeMeshAreOneProcess) {
  v1::Plan plan = MakeMeshPlan();
  plan.set_mesh(0, 512);
  const auto timelines =
      MakeTimelines({.plan = plan, .basis = MakeBasis(plan)});
  ASSERT_TRUE(timelines.ok()) << timelines.status();
  EXPECT_THAT(ListTracks(Parse(*timelines)),
              Contains(Key("predicted: devices 0-1023 / compute")));
  EXPECT_LT(FormatTrace(*timelines).size(), 10'000u);
}

TEST(Trace, NamesDevicesByTheirRanges) {
  Timeline timeline{.name = "predicted"};
  DeviceGroup& group = timeline.groups.emplace_back();
  for (int64_t device = 0; device < 20; ++device) {
    if (device != 2 && device != 4) group.devices.push_back(device);
  }
  group.lanes.push_back({.name = "step"});
  EXPECT_THAT(ListTracks(Parse({timeline})),
              Contains(Key("predicted: devices 0-1, 3, 5-19 / step")));
}

TEST(Trace, SlicesOfATrackBeginAndEndInTurn) {
  const perfetto::Trace trace = Parse(MakeStagedTimelines());
  std::map<uint64_t, std::pair<bool, uint64_t>> open;  // track: open, time
  int slices = 0;
  for (const perfetto::TracePacket& packet : trace.packet()) {
    if (!packet.has_track_event()) continue;
    const TrackEvent& event = packet.track_event();
    if (event.type() == TrackEvent::TYPE_COUNTER) continue;
    auto& [is_open, time] = open[event.track_uuid()];
    EXPECT_EQ(is_open, event.type() == TrackEvent::TYPE_SLICE_END);
    EXPECT_GE(packet.timestamp(), time);
    is_open = !is_open;
    time = packet.timestamp();
    ++slices;
  }
  EXPECT_GT(slices, 2 * 2 * 2 * 9);
  for (const auto& [track, it] : open) EXPECT_FALSE(it.first);
}

TEST(Trace, CountsTheMemoryOfEachDevice) {
  const perfetto::Trace trace = Parse(MakeStagedTimelines());
  const uint64_t memory =
      ListTracks(trace).at("predicted: device 0 of stage 1 / memory");
  int64_t most = 0;
  for (const perfetto::TracePacket& packet : trace.packet()) {
    if (packet.track_event().track_uuid() == memory) {
      EXPECT_EQ(packet.track_event().type(), TrackEvent::TYPE_COUNTER);
      most = std::max(most, packet.track_event().counter_value());
    }
  }
  // Persistent, and activations of two micro-batches by 1F1B.
  EXPECT_EQ(most, 100 + 2 * 10);
}

}  // namespace
}  // namespace meshwright::report
