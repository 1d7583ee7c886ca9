#include "profiledb/tables/stored_row.h"

#include <gtest/gtest.h>

#include <chrono>

#include "profiledb/store/testing/rows.h"

namespace meshwright::tables {
namespace {

// Stored in every row: they may never change.
TEST(StoredRowTest, ChecksumsAreFrozen) {
  EXPECT_EQ(Checksum().value(), -3750763034362895579);
  EXPECT_EQ(Checksum().Add(int64_t{1}).value(), -5808592059079980448);
  EXPECT_EQ(Checksum().Add("meshwright").value(), -8071231106723478021);
}

TEST(StoredRowTest, QuarantineStatesAreFrozen) {
  EXPECT_EQ(static_cast<int>(store::QuarantineState::kCrashing), 1);
  EXPECT_EQ(static_cast<int>(store::QuarantineState::kQuarantined), 2);
  EXPECT_EQ(static_cast<int>(store::QuarantineState::kDamaged), 3);
}

TEST(StoredRowTest, EveryFlippedBitChangesTheChecksum) {
  std::string bytes = "the columns of a row, a few words long";
  const int64_t sound = Checksum().Add(bytes).value();
  for (char& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      byte = static_cast<char>(byte ^ (1 << bit));
      EXPECT_NE(Checksum().Add(bytes).value(), sound);
      byte = static_cast<char>(byte ^ (1 << bit));
    }
  }
  EXPECT_NE(Checksum().Add("ab").Add("c").value(),
            Checksum().Add("a").Add("bc").value());
}

TEST(StoredRowTest, KeysAreTheirBytes) {
  const std::string key = store::MakeKey("k");
  EXPECT_EQ(KeyToBytes(key).size(), 32);
  EXPECT_EQ(BytesToKey(KeyToBytes(key)), key);
}

TEST(StoredRowTest, TimesKeepTheirNanoseconds) {
  const auto time = FromUnixNs(1'700'000'000'123'456'789);
  EXPECT_EQ(ToUnixNs(time), 1'700'000'000'123'456'789);
  EXPECT_EQ(ToUnixDay(time), 19675);
}

TEST(StoredRowTest, AResultIsReadBackWithItsKey) {
  const v1::ProfileResult row = store::MakeMeasured("k");
  v1::ProfileResult read;
  EXPECT_EQ(ParseResult(SerializeResult(row), row.key(), v1::MEASURED, read),
            "");
  EXPECT_EQ(read.SerializeAsString(), row.SerializeAsString());
  EXPECT_EQ(ParseResult("\xff", row.key(), v1::MEASURED, read),
            "it does not parse");
  EXPECT_EQ(ParseResult(SerializeResult(row), row.key(), v1::CRASHED, read),
            "it has another outcome");
  EXPECT_EQ(ParseResult(row.SerializeAsString(), store::MakeKey("other"),
                        v1::MEASURED, read),
            "it has another key");
}

}  // namespace
}  // namespace meshwright::tables
