#include "worker/comm/executor/executor_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "worker/comm/protocol/chunks.h"

namespace meshwright::worker::comm {
namespace {

using ::testing::HasSubstr;

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
  EXPECT_NE(ComputeFingerprint(nccl->plan),
            ComputeFingerprint(PlanFromJson(kPlan)->plan));
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
  EXPECT_EQ(FindChunkBytes(plan, plan.tasks[0]), 20);
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
  const std::string json = FormatReport(file->plan, 1, outcome);
  EXPECT_THAT(json,
              HasSubstr(R"("host":"d0","ok":false,"error":"it differs")"));
  EXPECT_THAT(json, HasSubstr(R"("makespan_s":null)"));
  EXPECT_THAT(json, HasSubstr(R"("checksum":"xxh3:00000000000000ab")"));
  EXPECT_THAT(json, HasSubstr(R"("verdict":"mismatch")"));
}

}  // namespace
}  // namespace meshwright::worker::comm
