#include "profiledb/store/unclaimed_modules.h"

#include <gtest/gtest.h>

#include <string>

#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

class UnclaimedModulesTest : public testing::Test {
 protected:
  absl::Status Put(const std::string& name, int64_t bytes,
                   const std::string& name_space = "vision") {
    const std::string module = MakeKey(name);
    return unclaimed_.Put(name_space, module, std::string(bytes, 'm'),
                          {.stored_bytes = 100});
  }

  void Submit(const std::string& name, int64_t bytes) {
    v1::PlanRecord record;
    record.set_namespace_("vision");
    record.set_module_sha256(MakeKey(name));
    record.set_module_bytes(bytes);
    ASSERT_TRUE(plans_.Add(record).ok());
  }

  MemoryPlanStore plans_;
  FakeProfileStore profiles_;
  UnclaimedModules unclaimed_{&plans_, &profiles_};
};

TEST_F(UnclaimedModulesTest, WhatNoPlanNamesCounts) {
  EXPECT_TRUE(Put("a", 60).ok());
  EXPECT_TRUE(Put("a", 60).ok());  // it is there
  EXPECT_TRUE(absl::IsResourceExhausted(Put("b", 41)));
  EXPECT_TRUE(Put("b", 40).ok());
  EXPECT_TRUE(Put("b", 41, "audio").ok());
}

TEST_F(UnclaimedModulesTest, WhatAPlanNamesCountsOnce) {
  EXPECT_TRUE(Put("a", 60).ok());
  Submit("a", 60);
  EXPECT_TRUE(Put("a", 60).ok());
  EXPECT_TRUE(Put("b", 40).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Put("c", 1)));
}

TEST_F(UnclaimedModulesTest, WhatWasCollectedDoesNotCount) {
  EXPECT_TRUE(Put("a", 60).ok());
  EXPECT_TRUE(Put("b", 30).ok());
  const UnusedProgram gone[] = {{.key = MakeKey("a")}};
  ASSERT_TRUE(profiles_.RemovePrograms(gone).ok());
  EXPECT_TRUE(Put("c", 70).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Put("d", 1)));
}

// A plan of another namespace, which is charged for it.
TEST_F(UnclaimedModulesTest, WhatIsClaimedDoesNotCount) {
  EXPECT_TRUE(Put("a", 60).ok());
  EXPECT_EQ(unclaimed_.CountBytes("vision"), 60);
  unclaimed_.Claim(MakeKey("a"));
  EXPECT_EQ(unclaimed_.CountBytes("vision"), 0);
  EXPECT_TRUE(Put("b", 100).ok());
}

TEST_F(UnclaimedModulesTest, WhatIsKeptMayBePutAgainBeyondTheLimit) {
  Submit("a", 150);
  EXPECT_TRUE(Put("a", 150).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Put("b", 1)));
}

TEST_F(UnclaimedModulesTest, WithoutALimitNothingIsRefused) {
  for (const char* module : {"a", "b"}) {
    EXPECT_TRUE(
        unclaimed_.Put("vision", MakeKey(module), std::string(1000, 'm'), {})
            .ok());
  }
  EXPECT_EQ(unclaimed_.CountBytes("vision"), 0);
}

}  // namespace
}  // namespace meshwright::store
