#include "base/fingerprint.h"

#include <gtest/gtest.h>

#include <string>

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

TEST(FingerprintTest, DigestsManyFieldsAsTheirBytes) {
  Fingerprinter print;
  std::string bytes;
  const auto append = [&](uint64_t number) {
    for (int i = 0; i < 8; ++i) {
      bytes.push_back(static_cast<char>(number >> 8 * i));
    }
  };
  for (int field = 0; field < 3000; ++field) {
    print.Add(field);
    append(static_cast<uint64_t>(field));
    if (field % 500 != 0) continue;
    print.Add("text");
    append(4);
    bytes += "text";
  }
  EXPECT_EQ(print.Hex(), Sha256Hex(bytes));
}

TEST(FingerprintTest, MixDependsOnEveryByte) {
  EXPECT_NE(Mix(1, std::string_view("0123456789")),
            Mix(1, std::string_view("0123456788")));
  EXPECT_NE(Mix(1, uint64_t{2}), Mix(2, uint64_t{1}));
}

}  // namespace
}  // namespace meshwright::base
