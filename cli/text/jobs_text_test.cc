#include "cli/text/jobs_text.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

v1::JobDetails MakeDetails() {
  v1::JobDetails details;
  v1::JobSummary& job = *details.mutable_job();
  job.set_id("job-3");
  job.set_owner("ann");
  job.set_model("llama");
  job.set_state(v1::JobSummary::RUNNING);
  job.set_age_seconds(61);
  job.set_programs(9);
  job.set_finished(4);
  job.set_failed(1);
  job.set_plan("plan-7");
  job.set_reason("tries 5 programs again in a moment");
  v1::JobProgram& program = *details.add_programs();
  program.set_key("0123456789abcdef");
  program.set_state(v1::JobProgram::DONE);
  program.set_outcome(v1::CRASHED);
  program.set_worker("gpu7");
  program.set_reason("killed by SIGSEGV");
  details.add_programs()->set_label("segment 1 rows");
  details.mutable_programs(1)->set_state(v1::JobProgram::WAITING);
  v1::JobLine& line = *details.add_log();
  line.set_seconds(1.5);
  line.set_text("lease 7.12: 9 programs to worker gpu7, try 1");
  return details;
}

TEST(JobsTextTest, AJobIsShownWithWhyItWaits) {
  EXPECT_EQ(FormatJob(MakeDetails()),
            "job    owner  model  state    elapsed  done  failed  plan    "
            "worker  reason\n"
            "job-3  ann    llama  running   61.0 s   4/9       1  plan-7      "
            "    tries 5 programs again in a moment\n"
            "\n"
            "program         state    worker  reason\n"
            "0123456789ab    crashed  gpu7    killed by SIGSEGV\n"
            "segment 1 rows  waiting\n");
}

TEST(JobsTextTest, ALogHasItsTimes) {
  EXPECT_EQ(FormatJobLog(MakeDetails()),
            "     1.500 s  lease 7.12: 9 programs to worker gpu7, try 1\n");
}

TEST(JobsTextTest, ALogKeepsItsLinesAndNoOrdersToTheTerminal) {
  v1::JobDetails details;
  details.add_log()->set_text("at main\nat \x1b[2Jrun");
  EXPECT_EQ(FormatJobLog(details), "     0.000 s  at main\nat ?[2Jrun\n");
}

TEST(JobsTextTest, AWorkerIsShownWithWhyItGetsNothing) {
  v1::WorkerSummary worker;
  worker.set_id("gpu7");
  worker.set_state(v1::WorkerSummary::QUARANTINED);
  worker.set_platform("cuda");
  worker.set_device_count(8);
  worker.set_programs_measured(12);
  worker.set_seen_seconds_ago(2);
  worker.set_reason("is quarantined by an administrator: slow fan");
  EXPECT_EQ(FormatWorkers({worker}),
            "worker  state        platform  devices  measured  last seen  job  "
            "reason\n"
            "gpu7    quarantined  cuda            8        12      2.0 s       "
            "is quarantined by an administrator: slow fan\n");
}

}  // namespace
}  // namespace meshwright::cli
