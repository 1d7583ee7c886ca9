#include "worker/collect/xspace_records.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "worker/collect/kernel_times.h"

namespace meshwright::worker::collect {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = KernelRecord::Kind;

// As the CUDA plugin of JAX 0.11 writes it on an H200.
constexpr char kSpace[] = R"pb(
  planes {
    name: "/host:CUPTI"
    lines { id: 1 name: "Host Threads/1" }
  }
  planes {
    name: "/device:GPU:0"
    lines {
      id: 14
      name: "Stream #14(Compute,Memset)"
      timestamp_ns: 1795726091783693308
      events {
        metadata_id: 1
        offset_ps: 541319000
        duration_ps: 1312000
        stats { metadata_id: 9 uint64_value: 27 }
        stats { metadata_id: 21 ref_value: 22 }
      }
      events { metadata_id: 2 offset_ps: 543207000 duration_ps: 736000 }
    }
    lines {
      id: 99
      name: "XLA Ops"
      events { metadata_id: 1 offset_ps: 541319000 duration_ps: 1312000 }
    }
    event_metadata {
      key: 1
      value { id: 1 name: "loop_fusion" }
    }
    event_metadata {
      key: 2
      value { id: 2 name: "Memset" }
    }
    stat_metadata {
      key: 9
      value { id: 9 name: "correlation_id" }
    }
    stat_metadata {
      key: 21
      value { id: 21 name: "hlo_op" }
    }
    stat_metadata {
      key: 22
      value { id: 22 name: "all-reduce.3" }
    }
  }
)pb";

TEST(XSpaceRecordsTest, ReadsTheStreamsOfDevices) {
  hlo::XSpace space;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kSpace, &space));
  const Collection collection = ReadXSpace(space);
  ASSERT_THAT(collection.records, SizeIs(2));
  const KernelRecord& kernel = collection.records[0];
  EXPECT_EQ(kernel.name, "loop_fusion");
  EXPECT_EQ(kernel.operation, "all-reduce.3");
  EXPECT_EQ(kernel.start_ns, 1795726091783693308 + 541319);
  EXPECT_EQ(kernel.end_ns - kernel.start_ns, 1312);
  EXPECT_EQ(kernel.stream, 14);
  EXPECT_EQ(kernel.kind, Kind::kKernel);
  EXPECT_EQ(collection.records[1].kind, Kind::kCopy);
  EXPECT_EQ(collection.records[1].operation, "");
}

TEST(XSpaceRecordsTest, EachDeviceHasAPlane) {
  hlo::XSpace space;
  for (const char* const name :
       {"/host:CUPTI", "/device:GPU:0", "/device:GPU:1"}) {
    hlo::XPlane& plane = *space.add_planes();
    plane.set_name(name);
    for (const char* const stream : {"Stream #1", "Stream #2"}) {
      hlo::XLine& line = *plane.add_lines();
      line.set_name(stream);
      line.add_events();
    }
  }
  const Collection collection = ReadXSpace(space);
  ASSERT_THAT(collection.records, SizeIs(4));
  EXPECT_EQ(collection.records[0].device, collection.records[1].device);
  EXPECT_NE(collection.records[1].device, collection.records[2].device);
  EXPECT_EQ(collection.records[2].device, collection.records[3].device);
}

TEST(XSpaceRecordsTest, WhatIsNotThereIsLeftOut) {
  EXPECT_THAT(ReadXSpace({}).records, IsEmpty());
  hlo::XSpace space;
  hlo::XPlane& plane = *space.add_planes();
  plane.set_name("/device:GPU:0");
  hlo::XLine& line = *plane.add_lines();
  line.set_name("Stream #1");
  line.add_events()->set_metadata_id(7);  // described nowhere
  const Collection collection = ReadXSpace(space);
  ASSERT_THAT(collection.records, SizeIs(1));
  EXPECT_EQ(collection.records[0].name, "");
}

TEST(XSpaceRecordsTest, TimesThatNoClockShowsAreNone) {
  hlo::XSpace space;
  hlo::XPlane& plane = *space.add_planes();
  plane.set_name("/device:GPU:0");
  (*plane.mutable_event_metadata())[1].set_name(std::string(100'000, 'x'));
  hlo::XLine& line = *plane.add_lines();
  line.set_name("Stream #1");
  line.set_timestamp_ns(INT64_MAX);
  hlo::XEvent& late = *line.add_events();
  late.set_metadata_id(1);
  late.set_offset_ps(1'000);
  hlo::XEvent& longest = *line.add_events();
  longest.set_offset_ps(INT64_MAX);
  longest.set_duration_ps(INT64_MAX);
  const Collection collection = ReadXSpace(space);
  ASSERT_THAT(collection.records, SizeIs(2));
  for (const KernelRecord& it : collection.records) EXPECT_EQ(it.end_ns, 0);
  EXPECT_THAT(collection.records[0].name, SizeIs(1024));
}

// Seeds of the fuzzer, and what it found.
TEST(XSpaceRecordsTest, KeptProfilesAreRead) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("tests/testdata/xspace")) {
    std::ifstream file(entry.path(), std::ios::binary);
    hlo::XSpace space;
    EXPECT_TRUE(space.ParseFromIstream(&file)) << entry.path();
    const auto times = SumKernels(ReadXSpace(space), {{1, 1'000'000}}, {});
    EXPECT_GE(times.idle_ns(), 0) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 1);
}

}  // namespace
}  // namespace meshwright::worker::collect
