#include "profiledb/upkeep/measurement_transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

using testing::HasSubstr;

constexpr Nanoseconds kImported{std::chrono::days(20'000)};
constexpr size_t kPiece = 700;  // less than a record
constexpr int64_t kPlenty = 1 << 20;

class MeasurementTransferTest : public testing::Test {
 protected:
  MeasurementTransferTest() {
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(store_.Record(MakeFounded(absl::StrCat(i)), {}).ok());
    }
  }

  std::string Export(const std::string& team = "") {
    const auto outgoing = MakeOutgoingMeasurements(store_, team);
    EXPECT_TRUE(outgoing.ok()) << outgoing.status();
    report_ = outgoing->report;
    std::string all(kPlenty, '\0');
    all.resize(std::fread(all.data(), 1, all.size(), outgoing->file.get()));
    return all;
  }

  absl::StatusOr<v1::ImportReport> Import(const std::string& bytes,
                                          int64_t maximum = kPlenty,
                                          const std::string& team = "") {
    const auto incoming = IncomingMeasurements::Make(maximum);
    if (!incoming.ok()) return incoming.status();
    for (size_t at = 0; at < bytes.size(); at += kPiece) {
      const absl::Status status = (*incoming)->Add(bytes.substr(at, kPiece));
      if (!status.ok()) return status;
    }
    return (*incoming)->Import(other_, team, kImported);
  }

  FakeProfileStore store_;
  FakeProfileStore other_;
  v1::ExportReport report_;
};

TEST_F(MeasurementTransferTest, PiecesMakeTheFile) {
  const std::string bytes = Export();
  EXPECT_EQ(report_.rows(), 20);
  EXPECT_EQ(report_.measurements(), 20);
  EXPECT_EQ(report_.file(), "");
  const auto report = Import(bytes);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->recorded(), 20);
  EXPECT_EQ(other_.Count()->profiles.at(v1::MEASURED), 20);
}

TEST_F(MeasurementTransferTest, OneNamespaceIntoAnother) {
  ASSERT_TRUE(store_.Record(MakeFounded("red"), {.team = "red"}).ok());
  const std::string bytes = Export("red");
  EXPECT_EQ(report_.rows(), 1);
  ASSERT_TRUE(Import(bytes, kPlenty, "blue").ok());
  EXPECT_EQ(other_.LookupKept(MakeKey("red"), "blue")->size(), 1);
}

TEST_F(MeasurementTransferTest, OfAFileThatIsNotWholeNothingIsRecorded) {
  const std::string bytes = Export();
  std::string changed = bytes;
  changed[changed.size() / 2] ^= 1;
  for (const std::string& wrong :
       {std::string(), std::string("no measurements"),
        bytes.substr(0, bytes.size() / 2), bytes.substr(0, bytes.size() - 1),
        bytes + bytes, changed}) {
    const absl::Status status = Import(wrong).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("the file that was sent"));
  }
  EXPECT_TRUE(other_.Count()->profiles.empty());
}

TEST_F(MeasurementTransferTest, OneThatIsTooLargeIsRefusedAtItsPiece) {
  const std::string bytes = Export();
  const auto size = static_cast<int64_t>(bytes.size());
  EXPECT_TRUE(Import(bytes, size).ok());
  EXPECT_EQ(Import(bytes, size - 1).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace meshwright::store
