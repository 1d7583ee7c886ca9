// Faults of the PostgreSQL store alone: servers, versions, rights, lost
// connections. The contract of every store is
// tests/conformance/profile_store_conformance.
#include "profiledb/postgres/postgres_profile_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "profiledb/postgres/postgres_database.h"
#include "profiledb/postgres/testing/postgres_server.h"
#include "profiledb/schema/migrations.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::postgres {
namespace {

using store::MakeKey;
using store::MakeMeasured;
using testing::HasSubstr;
using testing::Not;

class PostgresProfileStoreTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto started = PostgresServer::Start({.is_durable = true});
    if (absl::IsNotFound(started.status())) return;
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = started->release();
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }

  void SetUp() override {
    if (server_ == nullptr) {
      GTEST_SKIP() << "PostgreSQL's server is not installed";
    }
    url_ = server_->NewStoreUrl();
  }

  std::unique_ptr<PostgresProfileStore> Open() const {
    auto store = PostgresProfileStore::Open(url_);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  static int64_t Measured(store::ProfileStore& store) {
    const auto statistics = store.Count();
    EXPECT_TRUE(statistics.ok()) << statistics.status();
    return statistics.ok() && statistics->profiles.contains(v1::MEASURED)
               ? statistics->profiles.at(v1::MEASURED)
               : 0;
  }

  // How many of one key there are; -1: the store fails.
  static int Known(store::ProfileStore& store, const std::string& name) {
    const auto results = store.Lookup({MakeKey(name)});
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? static_cast<int>(results->size()) : -1;
  }

  static PostgresServer* server_;
  std::string url_;
};

PostgresServer* PostgresProfileStoreTest::server_ = nullptr;

TEST_F(PostgresProfileStoreTest, RowsOutliveTheStore) {
  ASSERT_TRUE(Open()->Record(MakeMeasured("k"), {}).ok());
  EXPECT_EQ(Open()->Lookup({MakeKey("k")})->size(), 1);
}

TEST_F(PostgresProfileStoreTest, AWriterThatStopsMidwayGivesWay) {
  const auto store = Open();
  ASSERT_NE(store, nullptr);
  const auto stopped = PostgresDatabase::Open(url_);
  ASSERT_TRUE(stopped.ok()) << stopped.status();
  absl::Status other = absl::UnknownError("it was not tried");
  const absl::Status status =
      (*stopped)->Transact(tables::Access::kWrite, [&]() -> absl::Status {
        other = store->Record(MakeMeasured("k"), {});
        return absl::OkStatus();
      });
  EXPECT_TRUE(other.ok()) << other;
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(Known(*store, "k"), 1);
}

TEST_F(PostgresProfileStoreTest, ANewerStoreIsRefusedInOneSentence) {
  ASSERT_NE(Open(), nullptr);
  server_->Sql(url_, "UPDATE meshwright_store SET version = 99");
  const absl::Status status = PostgresProfileStore::Open(url_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat(
                  " has version 99, but this program knows none after ",
                  schema::FindNewestPostgresVersion(),
                  "; use a newer Meshwright, or a backup")));
}

TEST_F(PostgresProfileStoreTest, ADatabaseOfAnotherProgramIsLeftAlone) {
  server_->Sql(url_, "CREATE TABLE programs (channel INTEGER)");
  const absl::Status status = PostgresProfileStore::Open(url_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("is a database of another program"));
  EXPECT_EQ(server_->Query(url_,
                           "SELECT COUNT(*) FROM pg_tables WHERE schemaname = "
                           "current_schema()"),
            1);
}

TEST_F(PostgresProfileStoreTest, ARefusalDoesNotHoldThePassword) {
  ASSERT_NE(Open(), nullptr);
  const std::string host = server_->Url().substr(server_->Url().find("?host="));
  struct Case {
    std::string url;
    absl::StatusCode code;
    std::string words;
  };
  const Case cases[] = {
      {"postgres://u:secret@h:port:port/", absl::StatusCode::kInvalidArgument,
       "postgres://USER@HOST:PORT/DATABASE"},
      {"postgres://u:secret%zz@h/d", absl::StatusCode::kInvalidArgument,
       "postgres://USER@HOST:PORT/DATABASE"},
      {"postgres://u:secret@h/d?colour=red", absl::StatusCode::kInvalidArgument,
       "postgres://USER@HOST:PORT/DATABASE"},
      {"postgres://nobody-here:secret@/postgres" + host,
       absl::StatusCode::kPermissionDenied, "does not let you in"},
      {"postgres://meshwright:secret@/elsewhere" + host,
       absl::StatusCode::kInvalidArgument, "there is no store postgres://"},
      {"postgres://u:secret@/d?host=/nonexistent",
       absl::StatusCode::kUnavailable, "no connection to its server"},
  };
  for (const Case& c : cases) {
    const absl::Status status = PostgresProfileStore::Open(c.url).status();
    const std::string message(status.message());
    EXPECT_EQ(status.code(), c.code) << c.url << ": " << status;
    EXPECT_THAT(message, HasSubstr(c.words));
    EXPECT_THAT(message, Not(HasSubstr("secret")));
    EXPECT_THAT(message, Not(HasSubstr("\n")));
  }
}

TEST_F(PostgresProfileStoreTest, AReaderMayLookUpAndNotRecord) {
  ASSERT_TRUE(Open()->Record(MakeMeasured("k"), {}).ok());
  server_->Sql(
      url_,
      "DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object "
      "THEN NULL; END $$; DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I "
      "TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA %I TO reader', "
      "current_schema(), current_schema()); END $$");
  const std::string url =
      server_->Url("reader") + url_.substr(server_->Url().size());
  const auto store = PostgresProfileStore::Open(url);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->Lookup({MakeKey("k")})->size(), 1);
  const absl::Status status = (*store)->Record(MakeMeasured("new"), {});
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot be written"));
}

// The server's own message of a full disk, which a trigger gives.
TEST_F(PostgresProfileStoreTest, AFullDiskLosesNothing) {
  const auto store = Open();
  ASSERT_TRUE(store->Record(MakeMeasured("k"), {}).ok());
  server_->Sql(url_,
               "CREATE FUNCTION full_disk() RETURNS trigger AS $$ BEGIN RAISE "
               "EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END "
               "$$ LANGUAGE plpgsql; CREATE TRIGGER full_disk BEFORE INSERT ON "
               "measurements EXECUTE FUNCTION full_disk()");
  const absl::Status status = store->Record(MakeMeasured("late"), {});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("the disk is full"));
  EXPECT_EQ(Measured(*store), 1);
  server_->Sql(url_, "DROP TRIGGER full_disk ON measurements");
  EXPECT_TRUE(store->Record(MakeMeasured("late"), {}).ok());
  EXPECT_EQ(Measured(*store), 2);
}

TEST_F(PostgresProfileStoreTest, AHeldStoreIsUnavailable) {
  const auto store =
      PostgresProfileStore::Open(url_ + "%20-clock_timeout%3D50ms");
  ASSERT_TRUE(store.ok()) << store.status();
  const auto other = PostgresDatabase::Open(url_);
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_TRUE(
      (*other)
          ->Transact(tables::Access::kWrite,
                     [&]() -> absl::Status {
                       const absl::Status status =
                           (*store)->Record(MakeMeasured("k"), {});
                       EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable)
                           << status;
                       EXPECT_THAT(std::string(status.message()),
                                   HasSubstr("is held by another"));
                       EXPECT_TRUE((*store)->Lookup({}).ok());
                       return {};
                     })
          .ok());
  EXPECT_TRUE((*store)->Record(MakeMeasured("k"), {}).ok());
}

TEST_F(PostgresProfileStoreTest, ADamagedRowIsSetAside) {
  const auto store = Open();
  ASSERT_TRUE(store->Record(MakeMeasured("hit"), {}).ok());
  ASSERT_TRUE(store->Record(MakeMeasured("sound"), {}).ok());
  server_->Sql(url_, absl::StrCat("UPDATE profiles SET result = '\\xff' WHERE "
                                  "key = '\\x",
                                  MakeKey("hit"), "'"));
  testing::internal::CaptureStderr();
  const auto results = store->Lookup({MakeKey("hit"), MakeKey("sound")});
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->size(), 1);
  EXPECT_THAT(said, HasSubstr(MakeKey("hit")));
  const auto entries = store->ListQuarantine();
  ASSERT_EQ(entries->size(), 1);
  EXPECT_EQ(entries->front().state, store::QuarantineState::kDamaged);
  EXPECT_THAT(entries->front().reason, HasSubstr("checksum"));
  ASSERT_TRUE(store->Record(MakeMeasured("hit"), {}).ok());
  EXPECT_TRUE(store->ListQuarantine()->empty());
}

// As two coordinators, each with connections of its own.
TEST_F(PostgresProfileStoreTest, TwoStoresAddToOneRow) {
  const auto add = [&](int64_t from) {
    const auto store = Open();
    for (int64_t i = 0; i < store::kMaximumKept / 2; ++i) {
      EXPECT_TRUE(store->Record(MakeMeasured("k", from + i), {}).ok());
    }
  };
  std::thread other([&] { add(1'000'000); });
  add(2'000'000);
  other.join();
  const auto kept = Open()->LookupKept(MakeKey("k"), store::kSharedPool);
  ASSERT_TRUE(kept.ok()) << kept.status();
  std::set<int64_t> minima;
  for (const store::KeptRow& row : *kept) {
    minima.insert(row.result.measurement().minimum_ns());
  }
  EXPECT_EQ(minima.size(), store::kMaximumKept);
}

TEST_F(PostgresProfileStoreTest, ATextIsPreparedOnceByTheServer) {
  const auto database = PostgresDatabase::Open(url_);
  ASSERT_TRUE(database.ok()) << database.status();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ((*database)->QueryInteger("SELECT 7").value_or(0), 7);
  }
  // That of the count is the second.
  EXPECT_EQ((*database)
                ->QueryInteger("SELECT count(*) FROM pg_prepared_statements")
                .value_or(0),
            2);
}

TEST_F(PostgresProfileStoreTest, AStoreGoesOnAfterItsServerWasRestarted) {
  const auto store = Open();
  ASSERT_TRUE(store->Record(MakeMeasured("k"), {}).ok());
  ASSERT_EQ(Known(*store, "k"), 1);
  server_->Stop();
  for (const absl::Status& status :
       {store->Record(MakeMeasured("late"), {}), store->Lookup({}).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("try again"));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
  }
  ASSERT_TRUE(server_->Restart().ok());
  EXPECT_EQ(Known(*store, "k"), 1);
  EXPECT_TRUE(store->Record(MakeMeasured("late"), {}).ok());
  // Nobody called while it was down: nobody notices.
  server_->Stop();
  ASSERT_TRUE(server_->Restart().ok());
  EXPECT_TRUE(store->Record(MakeMeasured("later"), {}).ok());
  EXPECT_EQ(Measured(*store), 3);
}

TEST_F(PostgresProfileStoreTest, AConnectionThatIsEndedIsMadeAgain) {
  const auto store = Open();
  ASSERT_TRUE(store->Record(MakeMeasured("k"), {}).ok());
  server_->Query(server_->Url(),
                 "SELECT COUNT(pg_terminate_backend(pid, 10000)) FROM "
                 "pg_stat_activity WHERE pid <> pg_backend_pid() AND "
                 "backend_type = 'client backend'");
  EXPECT_EQ(Known(*store, "k"), 1);
  EXPECT_TRUE(store->Record(MakeMeasured("late"), {}).ok());
}

// Every write that was acknowledged is there; the others say that they may not
// be, and recording them again counts them once.
TEST_F(PostgresProfileStoreTest, AServerKilledInMidWriteLosesNothing) {
  constexpr int kWriters = 8;
  constexpr int kRows = 400;
  const auto store = Open();
  std::atomic<int> written = 0;
  std::latch many{100};
  std::vector<std::vector<bool>> is_written(kWriters, std::vector<bool>(kRows));
  std::vector<std::thread> writers;
  const auto name = [](int w, int r) { return absl::StrCat(w, "/", r); };
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      for (int r = 0; r < kRows; ++r) {
        const absl::Status status = store->Record(MakeMeasured(name(w, r)), {});
        is_written[w][r] = status.ok();
        if (status.ok()) {
          if (written++ < 100) many.count_down();
        } else {
          EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
        }
      }
    });
  }
  many.wait();
  server_->Kill();
  for (std::thread& writer : writers) writer.join();
  EXPECT_LT(written, kWriters * kRows) << "it was killed too late";
  ASSERT_TRUE(server_->Restart().ok());
  // On a machine that stands still for seconds a write may give way again.
  const auto record = [&](const std::string& row) {
    absl::Status status;
    for (int tries = 0; tries < 5; ++tries) {
      status = store->Record(MakeMeasured(row), {});
      if (!absl::IsUnavailable(status)) break;
    }
    return status;
  };
  for (int w = 0; w < kWriters; ++w) {
    for (int r = 0; r < kRows; ++r) {
      const std::string key = MakeKey(name(w, r));
      if (is_written[w][r]) {
        EXPECT_EQ(Known(*store, name(w, r)), 1) << name(w, r);
      } else {
        const absl::Status status = record(name(w, r));
        EXPECT_TRUE(status.ok()) << status;
      }
      const auto kept = store->LookupKept(key, store::kSharedPool);
      ASSERT_TRUE(kept.ok()) << kept.status();
      EXPECT_EQ(kept->size(), 1);
    }
  }
  const auto damaged = store->Verify();
  ASSERT_TRUE(damaged.ok()) << damaged.status();
  EXPECT_TRUE(damaged->empty());
}

}  // namespace
}  // namespace meshwright::postgres
