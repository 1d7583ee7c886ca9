// The contract of every ProfileStore, as one suite of parameterised tests.
//
// To hold another store to it, instantiate ProfileStoreConformance with a
// function that makes an empty one, or skips the test and returns null:
//
//   INSTANTIATE_TEST_SUITE_P(Postgres, ProfileStoreConformance,
//                            testing::Values(MakePostgresStore));
#ifndef MESHWRIGHT_TESTS_CONFORMANCE_PROFILE_STORE_CONFORMANCE_H_
#define MESHWRIGHT_TESTS_CONFORMANCE_PROFILE_STORE_CONFORMANCE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "profiledb/store/profile_store.h"

namespace meshwright::conformance {

using MakeStore = std::function<std::unique_ptr<store::ProfileStore>()>;

class ProfileStoreConformance : public testing::TestWithParam<MakeStore> {
 protected:
  void SetUp() override {
    store_ = GetParam()();
    if (IsSkipped()) return;
    ASSERT_NE(store_, nullptr);
  }

  std::unique_ptr<store::ProfileStore> store_;
};

}  // namespace meshwright::conformance

#endif  // MESHWRIGHT_TESTS_CONFORMANCE_PROFILE_STORE_CONFORMANCE_H_
