#include "worker/comm/protocol/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "worker/comm/executor/executor_json.h"
#include "worker/comm/protocol/checksum.h"
#include "worker/comm/protocol/chunks.h"
#include "worker/comm/protocol/frame.h"
#include "worker/comm/protocol/schedule.h"

namespace meshwright::worker::comm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  plan.link.beta_seconds_per_byte = std::nan("");
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
  EXPECT_THAT(PortsOf(plan, 0).outgoing, ElementsAre(0, 2));
  EXPECT_THAT(PortsOf(plan, 3).incoming, ElementsAre(0, 2));
  EXPECT_THAT(PortsOf(plan, 3).outgoing, ElementsAre());
  EXPECT_THAT(PeersOf(plan, 0), ElementsAre(1, 2, 3));
  EXPECT_THAT(PeersOf(plan, 1), ElementsAre(0, 2));
  EXPECT_THAT(PeersOf(plan, 3), ElementsAre(0, 2));
}

TEST(PlanTest, TheFingerprintIsOfWhatMoves) {
  const std::string print = Fingerprint(FourHosts());
  Plan plan = FourHosts();
  plan.hosts[1].address = "elsewhere:1";
  plan.connect_seconds = 1;
  EXPECT_EQ(Fingerprint(plan), print);
  plan.tasks[0].receivers = {3, 2};
  EXPECT_NE(Fingerprint(plan), print);
}

TEST(ScheduleTest, StartsWhenPortsAreFree) {
  // a: s0 to d0, d1 in [0, 10] ms; b waits for d0's port, c for s0's.
  const Schedule schedule = ScheduleOf(FourHosts());
  EXPECT_DOUBLE_EQ(schedule.slots[1].start_seconds, 0.01);
  EXPECT_DOUBLE_EQ(schedule.slots[2].start_seconds, 0.01);
  EXPECT_DOUBLE_EQ(schedule.makespan_seconds, 0.03);
  Plan plan = FourHosts();
  plan.tasks[0].strategy = Strategy::kSendReceive;
  EXPECT_DOUBLE_EQ(ScheduleOf(plan).slots[0].end_seconds, 0.02);
}

TEST(ChunksTest, TheNumberIsTheModelsLeast) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> exponent(-7, -3);
  for (int round = 0; round < 200; ++round) {
    const int64_t bytes = 1 + static_cast<int64_t>(random() % 40'000'000);
    const int hops = 1 + static_cast<int>(random() % 9);
    const Link link = {std::pow(10, exponent(random)),
                       std::pow(10, exponent(random) - 4)};
    const int64_t least = (bytes + kMaxChunkBytes - 1) / kMaxChunkBytes;
    const int64_t most = std::max(least, bytes / kMinChunkBytes);
    double best = PipelineSeconds(bytes, least, hops, link);
    for (int64_t k = least; k <= most; ++k) {
      best = std::min(best, PipelineSeconds(bytes, k, hops, link));
    }
    const int64_t chosen = ChooseChunks(bytes, hops, link);
    EXPECT_GE(chosen, least);
    EXPECT_LE(chosen, most);
    EXPECT_DOUBLE_EQ(PipelineSeconds(bytes, chosen, hops, link), best);
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
  plan.link.beta_seconds_per_byte = 1e-4;              // 10 kB/s
  EXPECT_EQ(ChunkBytes(plan, plan.tasks[1]), 12'500);  // 10 s / 8
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

constexpr char kPlan[] = R"({
  "host": "d0",
  "hosts": [{"id": "s0", "address": "10.0.0.1:7000"},
            {"id": "d0", "address": "10.0.0.2:7000", "node": "n"}],
  "link": {"alpha": 1e-5, "beta": 1e-9},
  "deadline_seconds": 3,
  "tasks": [{"id": "a", "size_bytes": 100, "sender": "s0",
             "receivers": ["d0"], "strategy": "send_receive", "chunks": 5}]})";

TEST(ExecutorJsonTest, TheTransportIsTcpUnlessThePlanSaysNccl) {
  EXPECT_EQ(PlanFromJson(kPlan)->plan.carrier, Carrier::kTcp);
  const auto with = [](const std::string& value) {
    std::string text = kPlan;
    return PlanFromJson(
        text.insert(text.find("\"link\""), "\"transport\": " + value + ", "));
  };
  const auto nccl = with("\"nccl\"");
  ASSERT_TRUE(nccl.ok()) << nccl.status();
  EXPECT_EQ(nccl->plan.carrier, Carrier::kNccl);
  EXPECT_NE(Fingerprint(nccl->plan), Fingerprint(PlanFromJson(kPlan)->plan));
  EXPECT_EQ(with("\"ib\"").status().message(),
            "transport is \"ib\"; it is tcp or nccl");
}

TEST(ExecutorJsonTest, APlanIsRead) {
  const auto file = PlanFromJson(kPlan);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->host, "d0");
  const Plan& plan = file->plan;
  EXPECT_EQ(plan.hosts[0].node, "s0");
  EXPECT_EQ(plan.hosts[1].node, "n");
  EXPECT_EQ(plan.deadline_seconds, 3);
  EXPECT_EQ(plan.connect_seconds, 10);
  ASSERT_EQ(plan.tasks.size(), 1u);
  EXPECT_EQ(plan.tasks[0].strategy, Strategy::kSendReceive);
  EXPECT_EQ(plan.tasks[0].chunks, 5);
  EXPECT_EQ(ChunkBytes(plan, plan.tasks[0]), 20);
}

TEST(ExecutorJsonTest, EveryFaultNamesItsField) {
  const auto replaced = [](const std::string& from, const std::string& to) {
    std::string text = kPlan;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return std::string(
        PlanFromJson(text.replace(at, from.size(), to)).status().message());
  };
  EXPECT_EQ(replaced("\"hosts\"", "\"host_list\""), "hosts is missing");
  EXPECT_EQ(replaced("\"beta\": 1e-9", "\"beta\": \"x\""),
            "link.beta is string, not a number");
  EXPECT_EQ(replaced("\"sender\": \"s0\"", "\"sender\": \"s9\""),
            "tasks[0].sender: host s9 is none of the plan's: s0, d0");
  EXPECT_EQ(replaced("[\"d0\"]", "[\"d0\", 3]"),
            "tasks[0].receivers[1] is number, not a string");
  EXPECT_EQ(replaced("100", "1.5"),
            "tasks[0].size_bytes is 1.5, not an integer of 63 bits");
  EXPECT_EQ(replaced("100", "18446744073709551615"),
            "tasks[0].size_bytes is larger than 63 bits hold");
  EXPECT_EQ(replaced("100", "0"),
            "task a: size_bytes is 0; leave empty slices out");
  EXPECT_EQ(replaced("\"chunks\": 5", "\"chunks\": 0"),
            "tasks[0].chunks is 0; leave it out to have it chosen");
  EXPECT_EQ(replaced("send_receive", "multicast"),
            "tasks[0].strategy is \"multicast\"; it is broadcast, "
            "send_receive, local_all_gather or global_all_gather");
  EXPECT_THAT(replaced("{", "["), HasSubstr("not JSON at byte"));
}

TEST(ExecutorJsonTest, AFailureIsReportedWithWhatIsKnown) {
  const auto file = PlanFromJson(kPlan);
  ASSERT_TRUE(file.ok());
  Outcome outcome;
  outcome.status = absl::DataLossError("it differs");
  outcome.tasks = {
      {.task = 0, .checksum = 0xab, .verdict = Verdict::kMismatch}};
  const std::string json = ReportJson(file->plan, 1, outcome);
  EXPECT_THAT(json,
              HasSubstr(R"("host":"d0","ok":false,"error":"it differs")"));
  EXPECT_THAT(json, HasSubstr(R"("makespan_s":null)"));
  EXPECT_THAT(json, HasSubstr(R"("checksum":"xxh3:00000000000000ab")"));
  EXPECT_THAT(json, HasSubstr(R"("verdict":"mismatch")"));
}

}  // namespace
}  // namespace meshwright::worker::comm
