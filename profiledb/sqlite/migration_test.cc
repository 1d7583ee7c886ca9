// A store of version 1, made with the SQL of its day, brought to today's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "profiledb/schema/migrations.h"
#include "profiledb/sqlite/sqlite_profile_store.h"
#include "profiledb/sqlite/testing/store_file.h"
#include "profiledb/store/samples.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::sqlite {
namespace {

using store::MakeKey;
using store::MakeMeasured;
using store::MakeRow;

class MigrationTest : public testing::Test {
 protected:
  MigrationTest() {
    file_.Sql(absl::StrCat(schema::ListMigrations().front().sql,
                           "PRAGMA application_id = ", schema::kApplicationId,
                           "; PRAGMA user_version = 1"));
  }

  void Insert(const std::string& space, const std::string& key,
              const v1::ProfileResult& result, const std::string& bytes) {
    file_.Sql(absl::StrCat("INSERT INTO profiles VALUES ('", space, "', '", key,
                           "', ", static_cast<int>(result.outcome()), ", x'",
                           absl::BytesToHexString(bytes),
                           "', 'host', 'worker', 1700000000123456789)"));
  }
  void Insert(const std::string& space, const v1::ProfileResult& result) {
    Insert(space, result.key(), result, result.SerializeAsString());
  }

  std::unique_ptr<SqliteProfileStore> Open() const {
    auto store = SqliteProfileStore::Open(file_.path());
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  const StoreFile file_{"migration"};
};

TEST_F(MigrationTest, RowsOfEveryOutcomeStayReadable) {
  for (const v1::Outcome outcome :
       {v1::MEASURED, v1::COMPILE_FAILED, v1::OUT_OF_MEMORY, v1::TIMED_OUT,
        v1::CRASHED, v1::PRUNED}) {
    Insert("shared", MakeRow(absl::StrCat(outcome), outcome, "why"));
  }
  Insert("red", MakeMeasured("red", 5000, v1::QUALITY_UNSPECIFIED));
  const auto store = Open();
  ASSERT_NE(store, nullptr);
  int rows = 0;
  ASSERT_TRUE(store
                  ->ForEach([&](const v1::ProfileResult& row,
                                const store::Origin& origin) {
                    ++rows;
                    EXPECT_EQ(origin.host, "host");
                    EXPECT_EQ(origin.worker, "worker");
                    EXPECT_EQ(origin.machine, "");
                    EXPECT_EQ(origin.recorded.time_since_epoch().count(),
                              1'700'000'000'123'456'789);
                    if (origin.team == "red") {
                      EXPECT_EQ(row.key(), MakeKey("red"));
                      EXPECT_EQ(row.measurement().minimum_ns(), 5000);
                      EXPECT_EQ(row.measurement().quality(),
                                v1::QUALITY_UNSPECIFIED);
                    } else {
                      EXPECT_EQ(row.reason(), "why");
                    }
                    return true;
                  })
                  .ok());
  EXPECT_EQ(rows, 7);
  EXPECT_EQ(store->Count()->profiles.at(v1::MEASURED), 2);
  EXPECT_EQ(store->Count()->profiles.at(v1::PRUNED), 1);
  EXPECT_TRUE(store->ListQuarantine()->empty());
  EXPECT_EQ(file_.Query("PRAGMA user_version"), schema::FindNewestVersion());
  EXPECT_EQ(file_.Query("SELECT COUNT(*) FROM sqlite_schema WHERE name = "
                        "'profiles_version_1'"),
            0);
}

TEST_F(MigrationTest, APrunedRowGivesWayToAMeasurement) {
  Insert("shared", MakeRow("k", v1::PRUNED));
  const auto store = Open();
  ASSERT_TRUE(store->Record(MakeRow("k", v1::CRASHED), {}).ok());
  EXPECT_EQ(store->Lookup({MakeKey("k")})->at(MakeKey("k")).outcome(),
            v1::PRUNED);
  ASSERT_TRUE(store->Record(MakeMeasured("k"), {}).ok());
  EXPECT_EQ(store->Lookup({MakeKey("k")})->at(MakeKey("k")).outcome(),
            v1::MEASURED);
}

// Nothing is known of their uses: they do not go for it.
TEST_F(MigrationTest, ProgramsCountAsUsedOnTheDayOfTheMigration) {
  file_.Sql(absl::StrCat("INSERT INTO programs VALUES ('", MakeKey("k"),
                         "', x'00', 1)"));
  const auto store = Open();
  ASSERT_NE(store, nullptr);
  const int64_t today = absl::ToUnixSeconds(absl::Now()) / 86'400;
  EXPECT_EQ(store->ListUnusedPrograms(today - 1)->size(), 0u);
  EXPECT_EQ(store->ListUnusedPrograms(today + 1)->size(), 1u);
}

TEST_F(MigrationTest, SamplesAreCompacted) {
  v1::ProfileResult row = MakeMeasured("k", 1000);
  for (int i = 0; i < 250; ++i) {
    row.mutable_measurement()->add_samples_ns(1000 + i);
  }
  Insert("shared", row);
  const auto results = Open()->Lookup({MakeKey("k")});
  ASSERT_TRUE(results.ok()) << results.status();
  const v1::Measurement& it = results->at(MakeKey("k")).measurement();
  EXPECT_EQ(it.samples_ns_size(), store::kMaximumRawSamples);
  EXPECT_EQ(it.quantiles_ns_size(), store::kQuantiles);
  EXPECT_EQ(it.sample_count(), 250);
}

TEST_F(MigrationTest, DamagedAndAbsurdRowsAreSetAside) {
  v1::ProfileResult negative = MakeMeasured("negative");
  negative.mutable_measurement()->set_minimum_ns(-1);
  Insert("shared", negative);
  Insert("shared", MakeMeasured("impossible", 1));
  Insert("shared", MakeKey("unreadable"), MakeMeasured("unreadable"), "\xff");
  Insert("shared", MakeKey("renamed"), MakeMeasured("renamed"),
         MakeMeasured("another").SerializeAsString());
  Insert("shared", "no key", MakeMeasured("k"), "");
  Insert("shared", MakeMeasured("sound"));
  const auto store = Open();
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(store->Count()->profiles.at(v1::MEASURED), 1);
  std::map<std::string, std::string> reasons;
  const auto entries = store->ListQuarantine();
  ASSERT_TRUE(entries.ok()) << entries.status();
  for (const store::QuarantineEntry& entry : *entries) {
    EXPECT_EQ(entry.state, store::QuarantineState::kDamaged);
    reasons[entry.key] = entry.reason;
  }
  EXPECT_EQ(reasons[MakeKey("negative")], "its minimum is -1 ns");
  EXPECT_EQ(reasons[MakeKey("impossible")],
            "its minimum of 1 ns is below the 100 ns that any execution takes");
  EXPECT_EQ(reasons[MakeKey("unreadable")], "it does not parse");
  EXPECT_EQ(reasons[MakeKey("renamed")], "it has another key");
  EXPECT_EQ(reasons["no key"], "its key is not 64 hex digits");
  EXPECT_EQ(reasons.size(), 5);
}

TEST_F(MigrationTest, ProgramsStay) {
  ASSERT_TRUE(Open()->RecordProgram(MakeKey("p"), "hlo").ok());
  EXPECT_EQ(*Open()->LookupProgram(MakeKey("p")), "hlo");
}

// More than one batch, so that the rows of the second are found.
TEST_F(MigrationTest, ManyRowsGoInBatches) {
  const v1::ProfileResult row = MakeMeasured("");
  v1::ProfileResult without_key = row;
  without_key.clear_key();
  file_.Sql(absl::StrCat(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
      "i < 25000) INSERT INTO profiles SELECT 'shared', printf('%064x', i), 1,"
      " x'",
      absl::BytesToHexString(without_key.SerializeAsString()),
      "', 'h', 'w', i FROM n"));
  const auto store = Open();
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(store->Count()->profiles.at(v1::MEASURED), 25000);
  EXPECT_EQ(file_.Query("SELECT COUNT(*) FROM measurements"), 25000);
  EXPECT_EQ(file_.Query("SELECT COUNT(DISTINCT key) FROM profiles"), 25000);
}

TEST_F(MigrationTest, AMigrationThatFailsLeavesVersionOne) {
  Insert("shared", MakeMeasured("k"));
  file_.Sql("UPDATE profiles SET result = x'ff'");
  // A table that is in the way fails the migration half-way.
  file_.Sql("CREATE TABLE measurements (x)");
  EXPECT_FALSE(SqliteProfileStore::Open(file_.path()).ok());
  EXPECT_EQ(file_.Query("PRAGMA user_version"), 1);
  EXPECT_EQ(file_.Query("SELECT COUNT(*) FROM profiles WHERE host = 'host'"),
            1);
}

}  // namespace
}  // namespace meshwright::sqlite
