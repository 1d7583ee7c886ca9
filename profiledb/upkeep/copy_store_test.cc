#include "profiledb/upkeep/copy_store.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "profiledb/open.h"
#include "profiledb/postgres/testing/postgres_server.h"
#include "profiledb/sqlite/testing/store_file.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::store {
namespace {

// Everything, with all origins and days.
std::string Dump(ProfileStore& store) {
  std::string text;
  const auto add_row = [&](const WholeRow& row) -> absl::Status {
    absl::StrAppend(&text, row.team, " ", row.key, " ", row.last_used_day);
    for (const KeptRow& kept : row.kept) {
      absl::StrAppend(&text, " ", kept.origin.host, " ", kept.origin.machine,
                      " ", kept.origin.recorded.time_since_epoch().count(), " ",
                      kept.result.SerializeAsString());
    }
    absl::StrAppend(&text, "\n");
    return {};
  };
  const auto add_program = [&](const std::string& key,
                               std::string_view hlo) -> absl::Status {
    absl::StrAppend(&text, key, " ", std::string(hlo), "\n");
    return {};
  };
  const auto add_crash = [&](const QuarantineEntry& entry) -> absl::Status {
    absl::StrAppend(&text, entry.key, " ", static_cast<int>(entry.state), " ",
                    entry.crashes, " ", entry.reason, " ", entry.log, "\n");
    return {};
  };
  EXPECT_TRUE(store
                  .ForEachWhole({.row = add_row,
                                 .program = add_program,
                                 .quarantined = add_crash})
                  .ok());
  return text;
}

void Fill(ProfileStore& store) {
  for (int i = 0; i < 1200; ++i) {
    Origin origin = MakeWorkersOrigin(i);
    origin.team = i % 3 == 0 ? "red" : kSharedPool;
    const Entry entry{.result = MakeWorkersRow(absl::StrCat(i % 700), i),
                      .origin = origin,
                      .last_used_day = 19'000 + i % 7};
    ASSERT_TRUE(store.Record({&entry, 1}).ok());
  }
  ASSERT_TRUE(store.RecordProgram(MakeKey("1"), "module").ok());
  ASSERT_TRUE(
      store.RecordProgram(MakeKey("model"), std::string(100'000, 'm')).ok());
  ASSERT_TRUE(store.Quarantine(MakeKey("crash"), 3, "why", "\xff log").ok());
}

TEST(CopyStoreTest, ACopyHasEverythingAndASecondOneChangesNothing) {
  FakeProfileStore from;
  Fill(from);
  from.Plant(MakeRow("pruned", v1::PRUNED), {});
  FakeProfileStore to;
  const auto report = CopyStore(from, to);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->measurements(), 1200);
  EXPECT_EQ(report->programs(), 2);
  EXPECT_EQ(report->quarantined(), 1);
  EXPECT_EQ(report->left(), 1);
  EXPECT_EQ(report->left_rows(0).key(), MakeKey("pruned"));
  const std::string dump = Dump(to);
  ASSERT_TRUE(CopyStore(from, to).ok());
  EXPECT_EQ(Dump(to), dump);
}

TEST(CopyStoreTest, ThroughSqliteAndPostgresAndBack) {
  const auto server = postgres::PostgresServer::Start({});
  if (absl::IsNotFound(server.status())) {
    GTEST_SKIP() << "PostgreSQL's server is not installed";
  }
  ASSERT_TRUE(server.ok()) << server.status();
  const sqlite::StoreFile one("copy_one");
  const sqlite::StoreFile other("copy_other");
  const auto from = OpenProfileStore(one.path());
  ASSERT_TRUE(from.ok()) << from.status();
  Fill(**from);
  const auto postgres = OpenProfileStore((*server)->NewStoreUrl());
  ASSERT_TRUE(postgres.ok()) << postgres.status();
  const auto back = OpenProfileStore(other.path());
  ASSERT_TRUE(back.ok()) << back.status();
  ASSERT_TRUE(CopyStore(**from, **postgres).ok());
  ASSERT_TRUE(CopyStore(**postgres, **back).ok());
  const std::string dump = Dump(**from);
  EXPECT_GT(dump.size(), 100'000);
  EXPECT_TRUE(Dump(**postgres) == dump);
  EXPECT_TRUE(Dump(**back) == dump);
}

}  // namespace
}  // namespace meshwright::store
