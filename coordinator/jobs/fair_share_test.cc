#include "coordinator/jobs/fair_share.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace meshwright::jobs {
namespace {

TEST(FairShareTest, AbsenceIsNoCredit) {
  FairShare shares;
  shares.Enter("a");
  shares.Charge("a", absl::Hours(5));
  shares.Enter("b");  // new, or back after a holiday
  EXPECT_EQ(shares.charged("b"), absl::Hours(5));
  shares.Charge("b", absl::Hours(1));
  shares.Charge("b", -absl::Minutes(30));
  EXPECT_EQ(shares.charged("b"), absl::Hours(5) + absl::Minutes(30));
}

TEST(FairShareTest, DebtsAreKept) {
  FairShare shares;
  shares.Enter("a");
  shares.Enter("b");
  shares.Charge("b", absl::Hours(3));
  shares.Leave("b");
  shares.Enter("b");
  EXPECT_EQ(shares.charged("b"), absl::Hours(3));
  shares.Leave("b");
  shares.Charge("a", absl::Hours(9));
  shares.Enter("b");
  EXPECT_EQ(shares.charged("b"), absl::Hours(9));
}

TEST(FairShareTest, ANamespaceWithJobsIsNotForgotten) {
  FairShare shares;
  shares.Enter("a");
  shares.Enter("a");
  shares.Charge("a", absl::Hours(1));
  shares.Leave("a");
  for (int i = 0; i < 3000; ++i) {
    const std::string name = absl::StrCat("n", i);
    shares.Enter(name);
    shares.Charge(name, absl::Hours(2));
    shares.Leave(name);
  }
  EXPECT_EQ(shares.charged("a"), absl::Hours(1));
  EXPECT_EQ(shares.charged("n0"), absl::ZeroDuration());  // long ago
  EXPECT_EQ(shares.charged("n2999"), absl::Hours(3));
}

}  // namespace
}  // namespace meshwright::jobs
