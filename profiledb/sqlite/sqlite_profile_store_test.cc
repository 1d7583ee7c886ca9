// Faults of the SQLite store alone: files, versions, disks, processes.
// The contract of every store is tests/conformance/profile_store_conformance.
#include "profiledb/sqlite/sqlite_profile_store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "profiledb/schema/migrations.h"
#include "profiledb/sqlite/sqlite_database.h"
#include "profiledb/sqlite/testing/power_cut_disk.h"
#include "profiledb/sqlite/testing/store_file.h"
#include "profiledb/store/away.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::sqlite {
namespace {

using store::MakeKey;
using store::MakeMeasured;

class SqliteProfileStoreTest : public testing::Test {
 protected:
  // Once a thread of the store has written it.
  bool BecomesEqual(const std::string& query, int64_t value) const {
    const absl::Time end = absl::Now() + absl::Seconds(30);
    while (file_.Query(query) != value) {
      if (absl::Now() > end) return false;
    }
    return true;
  }

  const StoreFile file_{"sqlite_store"};
  const std::string& path_ = file_.path();
};

v1::ProfileResult Row(const std::string& name, size_t padding = 0) {
  v1::ProfileResult result = MakeMeasured(name);
  result.set_reason(std::string(padding, 'x'));
  return result;
}

int64_t Measured(SqliteProfileStore& store) {
  const auto statistics = store.Count();
  EXPECT_TRUE(statistics.ok()) << statistics.status();
  const auto found = statistics->profiles.find(v1::MEASURED);
  return found == statistics->profiles.end() ? 0 : found->second;
}

TEST_F(SqliteProfileStoreTest, RowsOutliveTheStore) {
  ASSERT_TRUE((*SqliteProfileStore::Open(path_))->Record(Row("k"), {}).ok());
  const auto store = SqliteProfileStore::Open(path_);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->Lookup({MakeKey("k")})->size(), 1);
}

TEST_F(SqliteProfileStoreTest, ANewerStoreIsRefusedInOneSentence) {
  ASSERT_TRUE(SqliteProfileStore::Open(path_).ok());
  file_.Sql("PRAGMA user_version = 99");
  const auto store = SqliteProfileStore::Open(path_);
  EXPECT_EQ(store.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(store.status().message(),
            absl::StrCat("the store ", path_,
                         " has version 99, but this program knows none after ",
                         schema::FindNewestVersion(),
                         "; use a newer Meshwright, or a backup of the store "
                         "from before"));
}

TEST_F(SqliteProfileStoreTest, AFileThatIsNoStoreIsLeftAsItWas) {
  const std::string text(4096, 'n');
  std::ofstream(path_) << text;
  EXPECT_EQ(SqliteProfileStore::Open(path_).status().code(),
            absl::StatusCode::kInvalidArgument);
  std::ifstream file(path_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
}

TEST_F(SqliteProfileStoreTest, ADatabaseOfAnotherProgramIsRefused) {
  file_.Sql("CREATE TABLE bookmarks (url TEXT)");
  const auto store = SqliteProfileStore::Open(path_);
  EXPECT_EQ(store.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store.status().message(),
            path_ + " is a database of another program, not a store");
}

TEST_F(SqliteProfileStoreTest, AFullDiskLosesNothing) {
  const auto store = SqliteProfileStore::Open(path_, {.max_bytes = 256 * 1024});
  ASSERT_TRUE(store.ok()) << store.status();
  int64_t recorded = 0;
  absl::Status status;
  while (status.ok() && recorded < 1000) {
    status = (*store)->Record(Row(absl::StrCat("k", recorded), 4000), {});
    if (status.ok()) ++recorded;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(store::IsAway(status));
  EXPECT_NE(status.message().find("the disk is full; make room on it"),
            std::string::npos);
  EXPECT_GT(recorded, 10);
  EXPECT_EQ(Measured(**store), recorded);
  // With room again, the same store goes on.
  const auto roomy = SqliteProfileStore::Open(path_);
  ASSERT_TRUE(roomy.ok()) << roomy.status();
  EXPECT_TRUE((*roomy)->Record(Row("late"), {}).ok());
  EXPECT_EQ(Measured(**roomy), recorded + 1);
}

// Who meets one of these waits and asks again.
TEST_F(SqliteProfileStoreTest, ADiskThatFailsOnceIsAway) {
  std::set<absl::StatusCode> seen;
  {
    PowerCutDisk disk(/*seed=*/7);
    const auto store = SqliteProfileStore::Open(path_);
    ASSERT_TRUE(store.ok()) << store.status();
    for (int call = 0; call < 40; ++call) {
      disk.FailAt(1 + call % 8);
      absl::Status status;
      for (int row = 0; status.ok() && row < 10; ++row) {
        status = (*store)->Record(Row(absl::StrCat(call, ".", row)), {});
      }
      EXPECT_TRUE(store::IsAway(status)) << status;
      seen.insert(status.code());
    }
  }
  EXPECT_EQ(seen.count(absl::StatusCode::kResourceExhausted), 1);
  EXPECT_EQ(seen.count(absl::StatusCode::kInternal), 1);
}

TEST_F(SqliteProfileStoreTest, AStoreThatReadsOnlyIsAway) {
  const auto database = SqliteDatabase::Open(path_);
  ASSERT_TRUE(database.ok()) << database.status();
  ASSERT_TRUE((*database)->Execute("PRAGMA query_only = 1").ok());
  const absl::Status status =
      (*database)->Execute("CREATE TABLE made (id INTEGER)");
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_TRUE(store::IsAway(status));
}

TEST_F(SqliteProfileStoreTest, ADaysFirstUseIsWrittenWithTheNextCommit) {
  base::FakeClock clock;
  const auto store = SqliteProfileStore::Open(path_, {.clock = &clock});
  ASSERT_TRUE((*store)->Record(Row("k"), {}).ok());
  ASSERT_TRUE((*store)->Record(Row("unused"), {}).ok());
  const int64_t day = file_.Query("SELECT MAX(last_used_day) FROM profiles");
  EXPECT_EQ(day, 11);  // the clock starts at a million seconds
  clock.Advance(absl::Hours(72));
  ASSERT_TRUE((*store)->RecordProgram(MakeKey("before"), "hlo").ok());
  const auto used = [&] {
    return file_.Query(
        absl::StrCat("SELECT last_used_day FROM profiles WHERE key = x'",
                     MakeKey("k"), "'"));
  };
  ASSERT_TRUE((*store)->Lookup({MakeKey("k")}).ok());
  EXPECT_EQ(used(), day);
  ASSERT_TRUE((*store)->RecordProgram(MakeKey("p"), "hlo").ok());
  EXPECT_EQ(used(), day + 3);
  EXPECT_EQ(file_.Query("SELECT MIN(last_used_day) FROM profiles"), day);
  EXPECT_EQ((*store)->Lookup({MakeKey("k")})->size(), 1);
}

// Who only looks up writes nothing else.
TEST_F(SqliteProfileStoreTest, ALookUpHasUsesWrittenWhereNothingElseIs) {
  base::FakeClock clock;
  const auto store = SqliteProfileStore::Open(path_, {.clock = &clock});
  ASSERT_TRUE((*store)->Record(Row("k"), {}).ok());
  clock.Advance(absl::Hours(48));
  ASSERT_TRUE((*store)->Lookup({MakeKey("k")}).ok());
  EXPECT_TRUE(BecomesEqual("SELECT last_used_day FROM profiles", 13));
}

TEST_F(SqliteProfileStoreTest, UsesAreWrittenWhereTheClockWasSetBack) {
  base::FakeClock clock;
  {
    const auto store = SqliteProfileStore::Open(path_, {.clock = &clock});
    ASSERT_TRUE((*store)->RecordProgram(MakeKey("p"), "hlo").ok());
  }
  clock.Advance(absl::Hours(48));
  const auto store = SqliteProfileStore::Open(path_, {.clock = &clock});
  clock.Advance(absl::Hours(-24));
  ASSERT_TRUE((*store)->LookupProgram(MakeKey("p")).ok());
  EXPECT_TRUE(BecomesEqual("SELECT last_used_day FROM program_uses", 12));
}

// An import, say.
TEST_F(SqliteProfileStoreTest, ALookUpWaitsForNoOtherWriter) {
  base::FakeClock clock;
  const auto store = SqliteProfileStore::Open(path_, {.clock = &clock});
  ASSERT_TRUE((*store)->Record(Row("k"), {}).ok());
  const auto other = SqliteDatabase::Open(path_);
  ASSERT_TRUE(other.ok()) << other.status();
  const auto look_up = [&]() -> absl::Status {
    clock.Advance(absl::Hours(48));
    const absl::Time begun = absl::Now();
    EXPECT_EQ((*store)->Lookup({MakeKey("k")})->size(), 1);
    // A writer waits twice as long.
    EXPECT_LT(absl::Now() - begun, absl::Seconds(5));
    return {};
  };
  ASSERT_TRUE((*other)->Transact(tables::Access::kWrite, look_up).ok());
  EXPECT_TRUE(BecomesEqual("SELECT last_used_day FROM profiles", 13));
}

TEST_F(SqliteProfileStoreTest, UsesAreWrittenAThousandACommitAndAtTheEnd) {
  constexpr int kRows = 2'300;
  base::FakeClock clock;
  std::vector<std::string> keys;
  {
    const auto store = SqliteProfileStore::Open(path_, {.clock = &clock});
    std::vector<store::Entry> entries(kRows);
    for (int i = 0; i < kRows; ++i) {
      entries[i].result = Row(absl::StrCat("k", i));
      keys.push_back(entries[i].result.key());
    }
    ASSERT_TRUE((*store)->Record(entries).ok());
  }
  clock.Advance(absl::Hours(24));
  const auto used = [&] {
    return file_.Query(
        "SELECT COUNT(*) FROM profiles WHERE last_used_day = 12");
  };
  {
    const auto store = SqliteProfileStore::Open(path_, {.clock = &clock});
    ASSERT_EQ((*store)->Lookup(keys)->size(), kRows);
    EXPECT_EQ(used(), 0);
    ASSERT_TRUE((*store)->RecordProgram(MakeKey("p"), "hlo").ok());
    EXPECT_EQ(used(), 1'000);
  }
  EXPECT_EQ(used(), kRows);
}

// An export of a large store takes minutes: plans go on meanwhile.
TEST_F(SqliteProfileStoreTest, AScanHoldsUpNobodyAndSeesOneMoment) {
  const auto store = SqliteProfileStore::Open(path_);
  ASSERT_TRUE((*store)->Record(Row("a"), {}).ok());
  ASSERT_TRUE((*store)->Record(Row("b"), {}).ok());
  int rows = 0;
  const auto visit = [&](const store::WholeRow& row) -> absl::Status {
    ++rows;
    std::thread other([&] {
      EXPECT_EQ((*store)->Lookup({MakeKey("a")})->size(), 1);
      EXPECT_TRUE((*store)->Record(Row(absl::StrCat("new ", rows)), {}).ok());
    });
    other.join();
    return {};
  };
  ASSERT_TRUE((*store)->ForEachWhole({.row = visit}).ok());
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(Measured(**store), 4);
}

TEST_F(SqliteProfileStoreTest, TheChosenMeasurementIsStoredOnce) {
  const auto store = SqliteProfileStore::Open(path_);
  for (const int64_t minimum : {1000, 1020, 1010}) {
    ASSERT_TRUE((*store)->Record(MakeMeasured("k", minimum), {}).ok());
  }
  EXPECT_EQ(file_.Query("SELECT COUNT(*) FROM measurements"), 3);
  EXPECT_EQ(file_.Query("SELECT number FROM measurements WHERE result IS NULL"),
            0);
  EXPECT_EQ(file_.Query("SELECT COUNT(*) FROM measurements WHERE result IS "
                        "NULL"),
            1);
}

TEST_F(SqliteProfileStoreTest, ARowIsLessThanAKilobyte) {
  constexpr int kRows = 2000;
  {
    const auto store = SqliteProfileStore::Open(path_);
    std::vector<std::thread> threads;
    for (int t = 0; t < 20; ++t) {
      threads.emplace_back([&store, t] {
        for (int r = t; r < kRows; r += 20) {
          const v1::ProfileResult row =
              store::MakeWorkersRow(absl::StrCat(r), r);
          ASSERT_TRUE((*store)->Record(row, store::MakeWorkersOrigin(r)).ok());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_LE(std::filesystem::file_size(path_) / kRows, 1000);
}

// Both add to the same row, over and over: none is lost.
TEST_F(SqliteProfileStoreTest, ProcessesAddToOneRow) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  const auto add = [&](int64_t from) {
    const auto store = SqliteProfileStore::Open(path_);
    if (!store.ok()) return false;
    for (int64_t i = 0; i < store::kMaximumKept / 2; ++i) {
      if (!(*store)->Record(MakeMeasured("k", from + i), {}).ok()) return false;
    }
    return true;
  };
  if (child == 0) _exit(add(1'000'000) ? 0 : 1);
  EXPECT_TRUE(add(2'000'000));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const auto store = SqliteProfileStore::Open(path_);
  const auto kept = (*store)->LookupKept(MakeKey("k"), store::kSharedPool);
  ASSERT_TRUE(kept.ok()) << kept.status();
  std::set<int64_t> minima;
  for (const store::KeptRow& row : *kept) {
    minima.insert(row.result.measurement().minimum_ns());
  }
  EXPECT_EQ(minima.size(), store::kMaximumKept);
}

TEST_F(SqliteProfileStoreTest, ProcessesShareOneFile) {
  constexpr int kProcesses = 4;
  constexpr int kRows = 25;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // Each opens the new file itself, all at once.
      const auto store = SqliteProfileStore::Open(path_);
      if (!store.ok()) _exit(1);
      for (int r = 0; r < kRows; ++r) {
        const bool ok =
            (*store)->Record(Row(absl::StrCat(p, "/", r)), {}).ok() &&
            (*store)->Record(Row(absl::StrCat("same/", r)), {}).ok();
        if (!ok) _exit(2);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  const auto store = SqliteProfileStore::Open(path_);
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(Measured(**store), kProcesses * kRows + kRows);
}

}  // namespace
}  // namespace meshwright::sqlite
