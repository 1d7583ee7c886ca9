#include "base/fingerprint.h"

#include <gtest/gtest.h>

namespace meshwright::base {
namespace {

TEST(FingerprintTest, MatchesThePublishedVector) {
  EXPECT_EQ(Sha256Hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(FingerprintTest, FramesItsFields) {
  EXPECT_NE(Fingerprinter().Add("ab").Add("c").Hex(),
            Fingerprinter().Add("a").Add("bc").Hex());
  EXPECT_EQ(Fingerprinter().Add("ab").Add(7).Hex(),
            Fingerprinter().Add("ab").Add(7).Hex());
}

TEST(FingerprintTest, MixDependsOnEveryByte) {
  EXPECT_NE(Mix(1, std::string_view("0123456789")),
            Mix(1, std::string_view("0123456788")));
  EXPECT_NE(Mix(1, uint64_t{2}), Mix(2, uint64_t{1}));
}

}  // namespace
}  // namespace meshwright::base
