#include "profiledb/upkeep/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"
#include "profiledb/upkeep/measurement_file.h"

namespace meshwright::store {
namespace {

using testing::HasSubstr;

constexpr Nanoseconds kNow{std::chrono::days(20'000)};

class ExchangeTest : public testing::Test {
 protected:
  ExchangeTest()
      : path_(absl::StrCat(testing::TempDir(), "/exchange_", getpid())) {}
  ~ExchangeTest() override { std::filesystem::remove(path_); }

  // Of the store's rows with all that they keep.
  static std::string Dump(ProfileStore& store) {
    std::string text;
    const auto add = [&](const WholeRow& row) -> absl::Status {
      for (const KeptRow& kept : row.kept) {
        absl::StrAppend(&text, row.team, " ", kept.origin.host, " ",
                        kept.origin.recorded.time_since_epoch().count(), " ",
                        kept.result.SerializeAsString(), "\n");
      }
      return {};
    };
    EXPECT_TRUE(store.ForEachWhole({.row = add}).ok());
    return text;
  }

  const std::string path_;
  FakeProfileStore store_;
};

TEST_F(ExchangeTest, EveryMeasurementComesBackWithItsOrigin) {
  for (int i = 0; i < 3; ++i) {
    Origin origin = MakeWorkersOrigin(i);
    origin.team = i == 2 ? "red" : kSharedPool;
    ASSERT_TRUE(store_.Record(MakeWorkersRow("k", i), origin).ok());
  }
  v1::ProfileResult crashed = MakeRow("crashed", v1::CRASHED, "why");
  crashed.set_log("a secret path");
  ASSERT_TRUE(store_.Record(crashed, {}).ok());
  ASSERT_TRUE(store_.RecordProgram(MakeKey("k"), "an executable").ok());
  store_.Plant(MakeRow("pruned", v1::PRUNED), {});
  const auto exported = ExportMeasurements(store_, "", path_);
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(exported->rows(), 3);
  EXPECT_EQ(exported->measurements(), 4);
  const std::string bytes = *base::ReadFile(path_);
  EXPECT_EQ(bytes.find("an executable"), std::string::npos);
  EXPECT_EQ(bytes.find("a secret path"), std::string::npos);
  FakeProfileStore other;
  for (int i = 0; i < 2; ++i) {  // the second changes nothing
    const auto imported = ImportMeasurements(other, "", kNow, path_);
    ASSERT_TRUE(imported.ok()) << imported.status();
    EXPECT_EQ(imported->measurements(), 4);
    EXPECT_EQ(imported->recorded(), 4);
    EXPECT_EQ(imported->refused(), 0);
    EXPECT_EQ(other.LookupKept(MakeKey("k"), kSharedPool)->size(), 2);
  }
  FakeProfileStore expected;
  for (int i = 0; i < 3; ++i) {
    Origin origin = MakeWorkersOrigin(i);
    origin.team = i == 2 ? "red" : kSharedPool;
    ASSERT_TRUE(expected.Record(MakeWorkersRow("k", i), origin).ok());
  }
  crashed.clear_log();
  ASSERT_TRUE(expected.Record(crashed, {}).ok());
  EXPECT_EQ(Dump(other), Dump(expected));
}

TEST_F(ExchangeTest, ATeamIsExportedAloneAndImportedIntoAnother) {
  ASSERT_TRUE(store_.Record(MakeFounded("a"), {.team = "red"}).ok());
  ASSERT_TRUE(store_.Record(MakeFounded("b"), {}).ok());
  EXPECT_EQ(ExportMeasurements(store_, "red", path_)->measurements(), 1);
  FakeProfileStore other;
  ASSERT_TRUE(ImportMeasurements(other, "blue", kNow, path_).ok());
  EXPECT_EQ(other.LookupKept(MakeKey("a"), "blue")->size(), 1);
  EXPECT_TRUE(other.LookupKept(MakeKey("a"), "red")->empty());
}

TEST_F(ExchangeTest, ForgedRowsAreRefusedByName) {
  {
    const auto file = MeasurementFileWriter::Create(path_);
    ASSERT_TRUE(file.ok()) << file.status();
    const auto add = [&](const std::string& name, auto forge) {
      v1::ExportedMeasurement it;
      it.set_team(kSharedPool);
      *it.mutable_result() = MakeFounded(name);
      forge(it);
      ASSERT_TRUE((*file)->Add(it).ok());
    };
    using It = v1::ExportedMeasurement;
    add("sound", [](It&) {});
    add("negative", [](It& it) {
      it.mutable_result()->mutable_measurement()->set_minimum_ns(-5);
    });
    add("future", [](It& it) {
      it.set_recorded_unix_ns(
          (kNow + std::chrono::days(2)).time_since_epoch().count());
    });
    add("past", [](It& it) { it.set_recorded_unix_ns(-1); });
    add("host", [](It& it) { it.set_host(std::string("a\0b", 3)); });
    add("pruned", [](It& it) { it.mutable_result()->set_outcome(v1::PRUNED); });
    add("estimate", [](It& it) {
      it.mutable_result()->mutable_measurement()->set_estimate_error_ns(1);
    });
    ASSERT_TRUE((*file)->Finish().ok());
  }
  const auto report = ImportMeasurements(store_, "", kNow, path_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->measurements(), 7);
  EXPECT_EQ(report->recorded(), 1);
  EXPECT_EQ(report->refused(), 6);
  ASSERT_EQ(report->refused_rows_size(), 6);
  EXPECT_EQ(report->refused_rows(0).key(), MakeKey("negative"));
  EXPECT_THAT(report->refused_rows(0).reason(), HasSubstr("-5 ns"));
  EXPECT_THAT(report->refused_rows(1).reason(), HasSubstr("in the future"));
  EXPECT_EQ(store_.Count()->profiles.at(v1::MEASURED), 1);
}

TEST_F(ExchangeTest, WhatNoRowKeepsDoesNotCountAsImported) {
  const Nanoseconds now = std::chrono::system_clock::now();
  const auto at = [&](std::chrono::hours hours) {
    return Origin{.recorded = now + hours};
  };
  // Eight of a clock that is ahead, then a current one.
  for (int i = 1; i <= kMaximumKept; ++i) {
    ASSERT_TRUE(
        store_.Record(MakeFounded("k", 1000 + i), at(std::chrono::hours(i)))
            .ok());
  }
  ASSERT_TRUE(store_.Record(MakeFounded("full"), {}).ok());
  ASSERT_TRUE(ExportMeasurements(store_, "", path_).ok());
  FakeProfileStore other;
  ASSERT_TRUE(
      other.Record(MakeFounded("k", 999), at(std::chrono::hours(0))).ok());
  for (int i = 1; i <= kMaximumKept; ++i) {
    ASSERT_TRUE(
        other.Record(MakeFounded("full", 1000 + i), at(std::chrono::hours(-i)))
            .ok());
  }
  const auto report = ImportMeasurements(other, "", now, path_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->measurements(), kMaximumKept + 1);
  EXPECT_EQ(report->recorded(), kMaximumKept - 1);
  const auto kept = other.LookupKept(MakeKey("k"), kSharedPool);
  ASSERT_EQ(kept->size(), kMaximumKept);
  EXPECT_EQ(kept->back().result.measurement().minimum_ns(), 999);
}

TEST_F(ExchangeTest, OfADamagedFileNothingIsImported) {
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(store_.Record(MakeFounded(absl::StrCat(i)), {}).ok());
  }
  ASSERT_TRUE(ExportMeasurements(store_, "", path_).ok());
  std::string bytes = *base::ReadFile(path_);
  bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 1);
  ASSERT_TRUE(base::WriteFile(path_, bytes).ok());
  FakeProfileStore other;
  EXPECT_EQ(ImportMeasurements(other, "", kNow, path_).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(other.Count()->profiles.empty());
}

}  // namespace
}  // namespace meshwright::store
