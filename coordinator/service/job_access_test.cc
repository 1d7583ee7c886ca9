#include "coordinator/service/job_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::service {
namespace {

using security::Role;

v1::JobSummary MakeJob() {
  v1::JobSummary job;
  job.set_id("job-3");
  job.set_state(v1::JobSummary::RUNNING);
  job.set_owner("token:ann");
  job.set_namespace_("vision");
  job.set_model("secret model");
  job.set_plan("plan-7");
  job.set_reason("an administrator ended job-3: of the secret model");
  return job;
}

TEST(JobAccessTest, TheTeamAndAdministratorsSeeWhoseItIs) {
  const security::Caller callers[] = {
      {"", "", {Role::kAdmin}},
      {"token:bob", "vision", {Role::kRead}},
      {"token:root", "", {Role::kAdmin}},
  };
  for (const security::Caller& caller : callers) {
    EXPECT_EQ(ShowTo(caller, MakeJob()).model(), "secret model") << caller.id;
  }
}

TEST(JobAccessTest, OthersSeeThatThereIsOne) {
  const v1::JobSummary seen =
      ShowTo({"token:eve", "speech", {Role::kSubmit}}, MakeJob());
  EXPECT_EQ(seen.id(), "job-3");
  EXPECT_EQ(seen.state(), v1::JobSummary::RUNNING);
  EXPECT_THAT(seen.ShortDebugString(),
              testing::Not(testing::HasSubstr("secret")));
  EXPECT_EQ(seen.owner(), "");
  EXPECT_EQ(seen.plan(), "");
}

}  // namespace
}  // namespace meshwright::service
