#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/fingerprint.h"
#include "profiledb/schema/migrations.h"
#include "proto/v1/plan_record.pb.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::schema {
namespace {

// Stored in every row: a number may never change its meaning.
TEST(SchemaTest, OutcomesAreFrozen) {
  EXPECT_EQ(v1::OUTCOME_UNSPECIFIED, 0);
  EXPECT_EQ(v1::MEASURED, 1);
  EXPECT_EQ(v1::COMPILE_FAILED, 2);
  EXPECT_EQ(v1::OUT_OF_MEMORY, 3);
  EXPECT_EQ(v1::TIMED_OUT, 4);
  EXPECT_EQ(v1::CRASHED, 5);
  EXPECT_EQ(v1::PRUNED, 6);
  EXPECT_EQ(v1::TRANSIENT, 7);  // never stored
  EXPECT_EQ(v1::Outcome_MAX, 7) << "freeze the new outcome here";
}

TEST(SchemaTest, QualitiesAreFrozen) {
  EXPECT_EQ(v1::QUALITY_UNSPECIFIED, 0);
  EXPECT_EQ(v1::GOOD, 1);
  EXPECT_EQ(v1::NOISY, 2);
  EXPECT_EQ(v1::SUSPECT, 3);
  EXPECT_EQ(v1::Quality_MAX, 3) << "freeze the new quality here";
}

TEST(SchemaTest, PlanStatesAreFrozen) {
  EXPECT_EQ(v1::PLAN_STATE_UNSPECIFIED, 0);
  EXPECT_EQ(v1::QUEUED, 1);
  EXPECT_EQ(v1::ANALYSING, 2);
  EXPECT_EQ(v1::MEASURING, 3);
  EXPECT_EQ(v1::WAITING, 4);
  EXPECT_EQ(v1::SEARCHING, 5);
  EXPECT_EQ(v1::DONE, 6);
  EXPECT_EQ(v1::FAILED, 7);
  EXPECT_EQ(v1::CANCELLED, 8);
  EXPECT_EQ(v1::PlanState_MAX, 8) << "freeze the new state here";
}

TEST(SchemaTest, OrdersAreFrozen) {
  EXPECT_EQ(v1::WorkerOrder::RESUME, 0);  // never stored
  EXPECT_EQ(v1::WorkerOrder::DRAIN, 1);
  EXPECT_EQ(v1::WorkerOrder::QUARANTINE, 2);
  EXPECT_EQ(v1::WorkerOrder::Kind_MAX, 2) << "freeze the new order here";
}

TEST(SchemaTest, ReasonsOfNoiseAreFrozen) {
  EXPECT_EQ(v1::NOISE_UNSPECIFIED, 0);
  EXPECT_EQ(v1::BUSY_MACHINE, 1);
  EXPECT_EQ(v1::FEW_SAMPLES, 2);
  EXPECT_EQ(v1::MINIMUM_MET_ONCE, 3);
  EXPECT_EQ(v1::THROTTLED, 4);
  EXPECT_EQ(v1::UNSTEADY, 5);
  EXPECT_EQ(v1::SLOW_PERIOD, 6);
  EXPECT_EQ(v1::Noise_MAX, 6) << "freeze the new reason here";
}

TEST(SchemaTest, StoredMessagesKeepTheirFieldNumbers) {
  using Result = v1::ProfileResult;
  EXPECT_EQ(Result::kKeyFieldNumber, 1);
  EXPECT_EQ(Result::kOutcomeFieldNumber, 2);
  EXPECT_EQ(Result::kReasonFieldNumber, 3);
  EXPECT_EQ(Result::kMeasurementFieldNumber, 4);
  EXPECT_EQ(v1::Measurement::kMinimumNsFieldNumber, 1);
  EXPECT_EQ(v1::Measurement::kComputeNsFieldNumber, 5);
  EXPECT_EQ(v1::Measurement::kCommunicationNsFieldNumber, 6);
  EXPECT_EQ(v1::Measurement::kMemoryFieldNumber, 7);
  EXPECT_EQ(v1::Measurement::kQualityFieldNumber, 14);
  EXPECT_EQ(v1::Measurement::kAnchorsFieldNumber, 15);
  EXPECT_EQ(v1::Measurement::kSpreadNsFieldNumber, 20);
  EXPECT_EQ(v1::Measurement::kQuantilesNsFieldNumber, 21);
  EXPECT_EQ(v1::Measurement::kSampleCountFieldNumber, 22);
  EXPECT_EQ(v1::DeviceMemory::kPeakBytesFieldNumber, 5);
}

void ExpectRisingByOne(const std::vector<Migration>& migrations, int newest) {
  int version = 0;
  for (const Migration& migration : migrations) {
    EXPECT_EQ(migration.version, ++version);
  }
  EXPECT_EQ(newest, version);
}

void ExpectFrozen(const std::vector<Migration>& migrations,
                  const std::vector<std::string>& fingerprints) {
  ASSERT_EQ(fingerprints.size(), migrations.size());
  for (size_t i = 0; i < migrations.size(); ++i) {
    std::string sql = migrations[i].sql;
    if (migrations[i].cleanup_sql != nullptr) sql += migrations[i].cleanup_sql;
    EXPECT_EQ(base::Sha256Hex(sql), fingerprints[i]);
  }
}

TEST(SchemaTest, VersionsRiseByOne) {
  ExpectRisingByOne(ListMigrations(), FindNewestVersion());
  ExpectRisingByOne(ListPostgresMigrations(), FindNewestPostgresVersion());
}

// A released migration is never edited: stores in the field have applied it.
TEST(SchemaTest, ReleasedMigrationsAreFrozen) {
  ExpectFrozen(
      ListMigrations(),
      {"b92607966fe450333f42ec84baa586aa82ff7e384b818689626cbaffc4a06e55",
       "4de6b52084d7a164f333e473e7bd59cc286ce893895ce1d3a46c5e7bf5c5e891",
       "f26f4fe648085d96f23c62625d997654c754fef36a7edbe680e10149ae404941",
       "5c68ec1acbc68d08797417285317689c5f67a9b945f1e0b3c957fdb36c90b53f",
       "7fc7aa496e6b9469cc0678f2ade6583f2f52e4ecd03304f6869b18c61cb50791",
       "26ada3373c6b668b691c527f4e98d8cffb3bc06daa91b4ec346b730518702a0c",
       "623e63c369cb9b4ef2db60b8ebc58e803c408dd63c9cac7ff07612166364bb56",
       "621268c3cbd0623fb41f9b8f6acaeafb1784e680d45556597a68ddc791267781"});
  ExpectFrozen(
      ListPostgresMigrations(),
      {"5827969ab1975981265612cff04fe9c2229ea885d6864ee0deaf225e3afea1a6",
       "f57981f752049abdfce509fd7d885df2dd0679e5186637129d453ea010fabea5",
       "dd8496652629234236dbd99fdf70313692e4eaca30bb67dc23d1c16a6e8fc0d1",
       "b5d63e23ade19f95936e05f29afdb833d2b02fa5288436dcc7308fd57fef4370",
       "ac9f7a1354ed2b6bed2f888dc344c05013c4b0d8c0ec5058848bee37b3317c7d",
       "9f4405a76a4c5c04c371cf5c826b272e848d2a4a2d77b2902ed86ef951d9216c",
       "7c376319c1d7fdd59443cc3244d6bfa7caffb7bfb3d87b1cdc78cf4ffd5305dd"});
}

}  // namespace
}  // namespace meshwright::schema
