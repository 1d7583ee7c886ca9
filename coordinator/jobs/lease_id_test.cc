#include "coordinator/jobs/lease_id.h"

#include <gtest/gtest.h>

namespace meshwright::jobs {
namespace {

TEST(LeaseIdTest, ATextIsReadAsItWasWritten) {
  const LeaseId id{7, 12};
  EXPECT_EQ(FormatLeaseId(id), "7.12");
  EXPECT_EQ(*ParseLeaseId("7.12"), id);
  EXPECT_LT(id, (LeaseId{8, 1}));
}

TEST(LeaseIdTest, OtherTextsAreNone) {
  for (const char* text :
       {"", "7", "7.", ".12", "7.12.1", "07.12", " 7.12", "job-1.1"}) {
    EXPECT_EQ(ParseLeaseId(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

}  // namespace
}  // namespace meshwright::jobs
