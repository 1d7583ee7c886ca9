#include "coordinator/validation/other_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace meshwright::validation {
namespace {

using ::testing::ElementsAre;

v1::CompareRequest Request() {
  v1::CompareRequest request;
  request.mutable_options()->set_minimum_samples(24);
  request.mutable_options()->set_minimum_time_ns(1'000'000'000);
  for (int i = 0; i < 4; ++i) {
    v1::Program& program = *request.add_programs();
    program.set_key(std::string(1, static_cast<char>('a' + i)));
    for (int k = 0; k < 2; ++k) program.add_inputs()->set_seed(k + 1);
  }
  *request.mutable_reference() = request.programs(0);
  request.mutable_programs(3)->set_timed_only(true);
  return request;
}

std::map<std::string, v1::ProfileResult> MakeResults() {
  std::map<std::string, v1::ProfileResult> results;
  const double differences[] = {1e-7, 2e-3, 1e-3, 5};
  for (int i = 0; i < 4; ++i) {
    v1::ProfileResult& it = results[std::string(1, static_cast<char>('a' + i))];
    it.set_outcome(v1::MEASURED);
    it.set_max_relative_difference(differences[i]);
  }
  return results;
}

TEST(OtherInputs, AreForPlansThatDifferByMore) {
  auto results = MakeResults();
  EXPECT_THAT(ListDiffering(Request(), results, 1e-3), ElementsAre("b"));
  EXPECT_THAT(ListDiffering(Request(), results, 3e-2), ElementsAre());
  results["a"].set_max_relative_difference(std::nan(""));
  results["b"].set_outcome(v1::CRASHED);
  results.erase("c");
  EXPECT_THAT(ListDiffering(Request(), results, 1e-3), ElementsAre("a"));
}

TEST(OtherInputs, AreTheSameForThePlanAndTheReference) {
  const v1::CompareRequest request = Request();
  const v1::CompareRequest other = MakeOtherInputs(request, {"b"});
  ASSERT_EQ(other.programs_size(), 1);
  EXPECT_EQ(other.programs(0).key(), "b");
  EXPECT_EQ(other.options().maximum_samples(), 1);
  for (int k = 0; k < 2; ++k) {
    const uint64_t seed = other.programs(0).inputs(k).seed();
    EXPECT_EQ(seed, other.reference().inputs(k).seed());
    EXPECT_NE(seed, request.programs(1).inputs(k).seed());
  }
  EXPECT_NE(other.reference().inputs(0).seed(),
            other.reference().inputs(1).seed());
}

}  // namespace
}  // namespace meshwright::validation
