#include "coordinator/validation/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace meshwright::validation {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Validation ThreePlans() {
  Validation validation;
  for (const char* name : {"chosen", "dp", "tp"}) {
    ValidationPlan plan;
    plan.name = name;
    plan.key = std::string("key of ") + name;
    validation.request.add_programs()->set_key(plan.key);
    validation.plans.push_back(plan);
  }
  validation.baselines = {1, 2};
  validation.request.mutable_reference()->set_key("whole");
  return validation;
}

class ReferenceTest : public testing::Test {
 protected:
  // The first `too_large` references do not fit.
  absl::StatusOr<Compared> Compare(int too_large) {
    return CompareWithFirstThatFits(
        validation_,
        [&](const v1::CompareRequest& request) -> absl::StatusOr<Results> {
          tried_.push_back(request.reference().key());
          v1::ProfileResult result;
          result.set_outcome(v1::MEASURED);
          if (static_cast<int>(tried_.size()) <= too_large) {
            result.set_outcome(v1::TRANSIENT);
            result.set_reason("it needs 9 GiB");
            result.set_reference_too_large(true);
          }
          return Results{{"key of chosen", result}};
        });
  }

  Validation validation_ = ThreePlans();
  std::vector<std::string> tried_;
};

TEST_F(ReferenceTest, IsOneDeviceWhereThatHoldsTheStep) {
  const auto compared = Compare(0);
  ASSERT_TRUE(compared.ok());
  EXPECT_EQ(compared->reference, kOneDevice);
  EXPECT_THAT(tried_, ElementsAre("whole"));
}

TEST_F(ReferenceTest, ElseIsTheFirstBaselineThatFits) {
  const auto compared = Compare(2);
  ASSERT_TRUE(compared.ok());
  EXPECT_EQ(compared->reference, "tp");
  EXPECT_EQ(compared->results.size(), 1u);
  EXPECT_THAT(tried_, ElementsAre("whole", "key of dp as reference",
                                  "key of tp as reference"));
  // Other inputs are compared with the same one.
  EXPECT_EQ(validation_.request.reference().key(), "key of tp as reference");
}

TEST_F(ReferenceTest, WhereNothingFitsTheErrorSaysSo) {
  const auto compared = Compare(3);
  EXPECT_EQ(compared.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(compared.status().message(), HasSubstr("it needs 9 GiB"));
}

TEST_F(ReferenceTest, OtherErrorsTryNoOtherReference) {
  int calls = 0;
  const auto compared = CompareWithFirstThatFits(
      validation_, [&](const v1::CompareRequest&) -> absl::StatusOr<Results> {
        ++calls;
        return absl::FailedPreconditionError("the plugin crashed");
      });
  EXPECT_FALSE(compared.ok());
  EXPECT_EQ(calls, 1);
}

// The text of a reason decides nothing.
TEST_F(ReferenceTest, OtherFailuresTryNoOtherReference) {
  int calls = 0;
  const auto compared = CompareWithFirstThatFits(
      validation_, [&](const v1::CompareRequest&) -> absl::StatusOr<Results> {
        ++calls;
        v1::ProfileResult result;
        result.set_outcome(v1::TRANSIENT);
        result.set_reason("the reference run needs more memory than is free");
        return Results{{"key of chosen", result}};
      });
  ASSERT_TRUE(compared.ok()) << compared.status();
  EXPECT_EQ(compared->reference, kOneDevice);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace meshwright::validation
