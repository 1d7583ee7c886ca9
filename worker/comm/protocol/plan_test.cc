#include "worker/comm/protocol/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "worker/comm/protocol/checksum.h"
#include "worker/comm/protocol/chunks.h"
#include "worker/comm/protocol/frame.h"
#include "worker/comm/protocol/schedule.h"

namespace meshwright::worker::comm {
namespace {

using ::testing::ElementsAre;

Plan FourHosts() {
  Plan plan;
  plan.link = {1e-4, 1e-8};
  for (const char* id : {"s0", "s1", "d0", "d1"}) {
    plan.hosts.push_back({id, std::string(id) + ".cluster:7000", id});
  }
  plan.tasks = {{"a", 1'000'000, 0, {2, 3}},
                {"b", 2'000'000, 1, {2}},
                {"c", 1'000'000, 0, {3}}};
  return plan;
}

void ExpectFault(const Plan& plan, const std::string& sentence) {
  const absl::Status status = Validate(plan);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()), sentence);
}

TEST(PlanTest, EveryFaultIsOneSentence) {
  EXPECT_TRUE(Validate(FourHosts()).ok());
  Plan plan = FourHosts();
  plan.tasks[1].id = "a";
  ExpectFault(plan, "task a stands twice among the tasks");
  plan = FourHosts();
  plan.hosts[3].id = "s0";
  ExpectFault(plan, "host s0 stands twice among the hosts");
  plan = FourHosts();
  plan.hosts[3].address = plan.hosts[0].address;
  ExpectFault(plan,
              "host d1 has the address s0.cluster:7000, which another host "
              "has too");
  for (const char* address : {"", "d1", ":7000", "d1:", "d1:0", "d1:70000"}) {
    plan = FourHosts();
    plan.hosts[3].address = address;
    ExpectFault(plan, std::string("host d1 has the address \"") + address +
                          "\", which is not HOST:PORT with a port of 1 to "
                          "65535");
  }
  plan = FourHosts();
  plan.tasks[0].size_bytes = 0;
  ExpectFault(plan, "task a: size_bytes is 0; leave empty slices out");
  plan.tasks[0].size_bytes = -5;
  ExpectFault(plan, "task a: size_bytes is -5; leave empty slices out");
  plan.tasks[0].size_bytes = (int64_t{1} << 53) + 1;
  ExpectFault(plan,
              "task a: size_bytes is 9007199254740993, more than "
              "9007199254740992");
  plan = FourHosts();
  plan.tasks[0].size_bytes = 10;
  plan.tasks[0].chunks = 11;
  ExpectFault(plan, "task a: chunks is 11, but its 10 bytes make 1 to 10");
  plan = FourHosts();
  plan.tasks[0].receivers = {};
  ExpectFault(plan, "task a has no receivers");
  plan.tasks[0].receivers = {2, 2};
  ExpectFault(plan, "task a: host d0 stands twice among its receivers");
  plan.tasks[0].receivers = {2, 0};
  ExpectFault(plan,
              "task a: host s0 is its sender and its receiver; leave it out "
              "of the receivers, as it holds the slice already");
  plan = FourHosts();
  plan.link.beta = std::nan("");
  ExpectFault(plan, "link.beta is nan, not a finite number from 0");
  plan = FourHosts();
  plan.deadline_seconds = 0;
  ExpectFault(plan, "deadline_seconds is 0, not above 0 and up to 86400");
  plan = FourHosts();
  plan.hosts.clear();
  ExpectFault(plan, "hosts is empty; name every rank");
}

TEST(PlanTest, PortsAndPeers) {
  const Plan plan = FourHosts();
  EXPECT_THAT(FindPorts(plan, 0).outgoing, ElementsAre(0, 2));
  EXPECT_THAT(FindPorts(plan, 3).incoming, ElementsAre(0, 2));
  EXPECT_THAT(FindPorts(plan, 3).outgoing, ElementsAre());
  EXPECT_THAT(FindPeers(plan, 0), ElementsAre(1, 2, 3));
  EXPECT_THAT(FindPeers(plan, 1), ElementsAre(0, 2));
  EXPECT_THAT(FindPeers(plan, 3), ElementsAre(0, 2));
}

TEST(PlanTest, TheFingerprintIsOfWhatMoves) {
  const std::string print = ComputeFingerprint(FourHosts());
  Plan plan = FourHosts();
  plan.hosts[1].address = "elsewhere:1";
  plan.connect_seconds = 1;
  EXPECT_EQ(ComputeFingerprint(plan), print);
  plan.tasks[0].receivers = {3, 2};
  EXPECT_NE(ComputeFingerprint(plan), print);
}

TEST(ScheduleTest, StartsWhenPortsAreFree) {
  // a: s0 to d0, d1 in [0, 10] ms; b waits for d0's port, c for s0's.
  const Schedule schedule = ComputeSchedule(FourHosts());
  EXPECT_DOUBLE_EQ(schedule.slots[1].start_seconds, 0.01);
  EXPECT_DOUBLE_EQ(schedule.slots[2].start_seconds, 0.01);
  EXPECT_DOUBLE_EQ(schedule.makespan_seconds, 0.03);
  Plan plan = FourHosts();
  plan.tasks[0].strategy = Strategy::kSendReceive;
  EXPECT_DOUBLE_EQ(ComputeSchedule(plan).slots[0].end_seconds, 0.02);
}

TEST(ChunksTest, TheNumberIsTheModelsLeast) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> exponent(-7, -3);
  for (int round = 0; round < 200; ++round) {
    const int64_t bytes = 1 + static_cast<int64_t>(random() % 40'000'000);
    const int hops = 1 + static_cast<int>(random() % 9);
    const base::Link link = {std::pow(10, exponent(random)),
                             std::pow(10, exponent(random) - 4)};
    const int64_t min_chunks = (bytes + kMaxChunkBytes - 1) / kMaxChunkBytes;
    const int64_t max_chunks = std::max(min_chunks, bytes / kMinChunkBytes);
    double best = EstimatePipelineSeconds(bytes, min_chunks, hops, link);
    for (int64_t k = min_chunks; k <= max_chunks; ++k) {
      best = std::min(best, EstimatePipelineSeconds(bytes, k, hops, link));
    }
    const int64_t chosen = ChooseChunks(bytes, hops, link);
    EXPECT_GE(chosen, min_chunks);
    EXPECT_LE(chosen, max_chunks);
    EXPECT_DOUBLE_EQ(EstimatePipelineSeconds(bytes, chosen, hops, link), best);
  }
}

TEST(ChunksTest, AboutAHundredWhereThePaperHasAHundred) {
  // 1 GB, and less, over 10 Gb/s.
  EXPECT_EQ(ChooseChunks(int64_t{1} << 30, 3, {1e-4, 8e-10}), 131);
  EXPECT_EQ(ChooseChunks(int64_t{1} << 26, 4, {2e-5, 8e-10}), 90);
}

TEST(ChunksTest, OddLinksKeepWithinTheBounds) {
  EXPECT_EQ(ChooseChunks(1, 7, {0, 0}), 1);
  EXPECT_EQ(ChooseChunks(1 << 20, 7, {0, 0}), 1);
  EXPECT_EQ(ChooseChunks(1 << 20, 7, {1e30, 1}), 1);
  EXPECT_EQ(ChooseChunks(1 << 20, 1, {1e-6, 1e-9}), 1);
  EXPECT_EQ(ChooseChunks(int64_t{1} << 53, 7, {0, 1}), int64_t{1} << 30);
}

TEST(ChunksTest, AChunkOnItsWayDoesNotLookLikeADeadLink) {
  Plan plan = FourHosts();
  plan.link.beta = 1e-4;                                   // 10 kB/s
  EXPECT_EQ(FindChunkBytes(plan, plan.tasks[1]), 12'500);  // 10 s / 8
}

TEST(FrameTest, WhatIsEncodedIsDecoded) {
  const Frame frame = {FrameType::kChunk, 3, 7, 11, 1 << 20, 0x123456789abcull};
  EXPECT_EQ(*Decode(Encode(frame)), frame);
}

TEST(FrameTest, RandomBytesAreNoFrameAndNoCrash) {
  std::mt19937 random(4);
  for (int round = 0; round < 100'000; ++round) {
    FrameBytes bytes = Encode({FrameType::kAbort, 1, 2, 3, 40, 5});
    const int changes = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < changes; ++i) {
      bytes[random() % kFrameBytes] = static_cast<std::byte>(random());
    }
    const auto frame = Decode(bytes);
    if (!frame.ok()) continue;
    EXPECT_LE(frame->payload_bytes, kMaxChunkBytes);
    EXPECT_EQ(Encode(*frame), bytes);
  }
}

TEST(ChecksumTest, PiecesMakeTheWhole) {
  std::vector<std::byte> bytes(10'000);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * i);
  }
  RunningChecksum whole(bytes);
  whole.Advance(10'000);
  RunningChecksum pieces(bytes);
  for (const int64_t end : {0, 1, 700, 700, 300, 9'999}) pieces.Advance(end);
  EXPECT_FALSE(pieces.whole());
  EXPECT_NE(pieces.value(), whole.value());
  pieces.Advance(10'000);
  EXPECT_TRUE(pieces.whole());
  EXPECT_EQ(pieces.value(), whole.value());
  bytes[5'000] ^= std::byte{1};
  RunningChecksum changed(bytes);
  changed.Advance(10'000);
  EXPECT_NE(changed.value(), whole.value());
}

TEST(ChecksumTest, TheEmptySliceHasXxhsOwnValue) {
  EXPECT_EQ(RunningChecksum({}).value(), 0x2d06800538d394c2ull);
}

}  // namespace
}  // namespace meshwright::worker::comm
