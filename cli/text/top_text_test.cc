#include "cli/text/top_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TopFrame MakeFrame() {
  TopFrame frame;
  frame.address = "127.0.0.1:7433";
  frame.asked = absl::FromUnixSeconds(1'000'000);
  v1::WorkerSummary& busy = *frame.workers.add_workers();
  busy.set_id("a");
  busy.set_state(v1::WorkerSummary::BUSY);
  busy.set_job_id("job-3");
  busy.set_programs_measured(17);
  v1::WorkerSummary& away = *frame.workers.add_workers();
  away.set_id("b");
  away.set_state(v1::WorkerSummary::AWAY);
  away.set_reason("its connection is lost");
  v1::JobSummary& done = *frame.jobs.add_jobs();
  done.set_id("job-2");
  done.set_state(v1::JobSummary::DONE);
  done.set_programs(100);
  v1::JobSummary& running = *frame.jobs.add_jobs();
  running.set_id("job-3");
  running.set_state(v1::JobSummary::RUNNING);
  running.set_plan("plan-7");
  running.set_model("gpt2");
  running.set_programs(40);
  running.set_finished(12);
  v1::PlanRecord& waiting = *frame.plans.add_plans();
  waiting.set_id("plan-8");
  waiting.set_state(v1::WAITING);
  waiting.set_reason("no worker is attached");
  waiting.set_submitted_unix_ns(999'990'000'000'000);
  v1::PlanRecord& measuring = *frame.plans.add_plans();
  measuring.set_id("plan-7");
  measuring.set_state(v1::MEASURING);
  return frame;
}

TEST(TopTextTest, CountsWorkersWithTheirWorkAndPlansWithReasons) {
  const std::string text = FormatTop(MakeFrame());
  EXPECT_THAT(text, HasSubstr("coordinator 127.0.0.1:7433 at "));
  EXPECT_THAT(text, HasSubstr("workers: 1 away, 1 busy\n"
                              "plans: 1 measuring, 1 waiting\n"
                              "jobs: 1 running\n"
                              "programs of these jobs: 12 of 40 done\n"));
  EXPECT_THAT(
      text, testing::ContainsRegex("a +busy +job-3 +plan-7 +gpt2 +12/40 +17"));
  EXPECT_THAT(text, testing::ContainsRegex("b +away .*its connection is lost"));
  EXPECT_THAT(text, testing::ContainsRegex(
                        "plan-8 +waiting +10.* no worker is attached"));
  EXPECT_THAT(text, Not(HasSubstr("older plans")));
}

TEST(TopTextTest, APlanOfACoordinatorWhoseClockIsAheadIsNoTimeOld) {
  TopFrame frame = MakeFrame();
  frame.asked -= absl::Hours(1);
  EXPECT_THAT(FormatTop(frame), Not(HasSubstr("-3590")));
  EXPECT_EQ(TopToJson(frame)["plans"][0]["elapsed_seconds"], 0);
}

TEST(TopTextTest, AnEmptyCoordinator) {
  TopFrame frame;
  frame.plans.set_next_page_token("plan-1");
  const std::string text = FormatTop(frame);
  EXPECT_THAT(text, HasSubstr("workers: none\nplans: none\njobs: none\n"));
  EXPECT_THAT(text, HasSubstr("and older plans"));
}

TEST(TopTextTest, JsonLeavesOutWhatIsDone) {
  const nlohmann::ordered_json json = TopToJson(MakeFrame());
  EXPECT_EQ(json["workers"].size(), 2);
  ASSERT_EQ(json["jobs"].size(), 1);
  EXPECT_EQ(json["jobs"][0]["id"], "job-3");
  EXPECT_EQ(json["plans"][0]["reason"], "no worker is attached");
  EXPECT_EQ(json["plans"][0]["elapsed_seconds"], 10);
}

}  // namespace
}  // namespace meshwright::cli
