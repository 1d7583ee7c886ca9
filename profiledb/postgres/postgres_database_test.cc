// Servers that are there and say nothing.
#include "profiledb/postgres/postgres_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "profiledb/postgres/testing/postgres_server.h"
#include "profiledb/store/away.h"

namespace meshwright::postgres {
namespace {

using testing::HasSubstr;

constexpr auto kPatience = std::chrono::seconds(1);

class PostgresDatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = PostgresServer::Start({});
    if (absl::IsNotFound(started.status())) {
      GTEST_SKIP() << "PostgreSQL's server is not installed";
    }
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    auto database = PostgresDatabase::Open(server_->Url(), kPatience);
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
  }

  absl::Status ReadOne() {
    return database_->Transact(tables::Access::kRead, [&] {
      return database_->QueryInteger("SELECT 1").status();
    });
  }

  std::unique_ptr<PostgresServer> server_;
  std::unique_ptr<PostgresDatabase> database_;
};

void ExpectSilent(const absl::Status& status) {
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(store::IsAway(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("does not answer for 1s"));
}

TEST_F(PostgresDatabaseTest, ATextWithAZeroByteIsTheCallersFault) {
  const auto read = [&](std::string_view text) {
    return database_->Transact(tables::Access::kRead, [&]() -> absl::Status {
      const auto statement = database_->Prepare("SELECT CAST(?1 AS TEXT)");
      (*statement)->BindText(1, text);
      return (*statement)->Step().status();
    });
  };
  const absl::Status status = read(std::string_view("a\0b", 3));
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("zero byte"));
  EXPECT_TRUE(absl::IsInvalidArgument(read("\xff")));
  EXPECT_TRUE(read("ab").ok());
}

// The server answers COMMIT with ROLLBACK then, and no error.
TEST_F(PostgresDatabaseTest, ATransactionThatWasUndoneIsNotDone) {
  const absl::Status status = database_->Transact(tables::Access::kWrite, [&] {
    EXPECT_FALSE(database_->QueryInteger("SELECT 1 / 0").ok());
    return absl::OkStatus();  // as if it were of no matter
  });
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  EXPECT_TRUE(ReadOne().ok());
}

TEST_F(PostgresDatabaseTest, AServerThatStopsIsNotWaitedForForEver) {
  ASSERT_TRUE(ReadOne().ok());
  server_->Pause();
  ExpectSilent(ReadOne());
  // The next one is told at once: it would be let in, and then wait.
  const auto asked = std::chrono::steady_clock::now();
  ExpectSilent(ReadOne());
  EXPECT_LT(std::chrono::steady_clock::now() - asked, kPatience);
  ExpectSilent(PostgresDatabase::Open(server_->Url(), kPatience).status());
  server_->Resume();
  absl::Status status;
  do {  // until it is asked again
    status = ReadOne();
  } while (store::IsAway(status));
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(PostgresDatabaseTest, AServerThatStopsWithinATransaction) {
  const absl::Status status =
      database_->Transact(tables::Access::kWrite, [&]() -> absl::Status {
        server_->Pause();
        return database_->Execute("CREATE TABLE made (id INTEGER)");
      });
  ExpectSilent(status);
  server_->Resume();
}

// Many rows come in many pieces, and a large parameter leaves in many.
TEST_F(PostgresDatabaseTest, LargeAnswersAndParametersPass) {
  const auto database = PostgresDatabase::Open(server_->Url());
  ASSERT_TRUE(database.ok()) << database.status();
  const std::string large(size_t{16} << 20, 'x');
  const absl::Status status =
      (*database)->Transact(tables::Access::kRead, [&]() -> absl::Status {
        auto echo = (*database)->Prepare(
            "SELECT CAST(?1 AS BYTEA), n FROM generate_series(1, 2) AS n");
        if (!echo.ok()) return echo.status();
        (*echo)->BindBlob(1, large);
        for (int row = 0; row < 2; ++row) {
          const auto has_row = (*echo)->Step();
          if (!has_row.ok()) return has_row.status();
          EXPECT_TRUE(*has_row);
          EXPECT_TRUE((*echo)->View(0) == large);
        }
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace meshwright::postgres
