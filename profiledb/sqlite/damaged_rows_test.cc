// Rows that a disk or a person damaged: what is read without them, what is
// said of them, and how they are mended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "profiledb/sqlite/sqlite_profile_store.h"
#include "profiledb/sqlite/testing/store_file.h"
#include "profiledb/store/testing/rows.h"
#include "profiledb/tables/stored_row.h"

namespace meshwright::sqlite {
namespace {

using store::MakeKey;
using store::MakeMeasured;
using testing::HasSubstr;

constexpr char kNeedle[] = "a needle in the row's bytes";

class DamagedRowsTest : public testing::Test {
 protected:
  // Two rows; the first one's reason is in the file but once.
  void RecordTwo() {
    const auto store = Open();
    v1::ProfileResult row = MakeMeasured("hit");
    row.set_reason(kNeedle);
    ASSERT_TRUE(store->Record(row, {}).ok());
    ASSERT_TRUE(store->Record(MakeMeasured("sound"), {}).ok());
  }

  std::unique_ptr<SqliteProfileStore> Open() const {
    auto store = SqliteProfileStore::Open(file_.path());
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  // Looks up both: only the sound one is there, and the other is listed.
  void ExpectSetAside(const std::string& reason) const {
    const auto store = Open();
    testing::internal::CaptureStderr();
    const auto results = store->Lookup({MakeKey("hit"), MakeKey("sound")});
    const std::string said = testing::internal::GetCapturedStderr();
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(results->size(), 1);
    EXPECT_TRUE(results->contains(MakeKey("sound")));
    EXPECT_THAT(said, HasSubstr(reason));
    EXPECT_THAT(said, HasSubstr("`meshwright profiles remeasure PLAN`"));
    EXPECT_THAT(said, HasSubstr(MakeKey("hit")));
    const auto entries = store->ListQuarantine();
    ASSERT_TRUE(entries.ok()) << entries.status();
    ASSERT_EQ(entries->size(), 1);
    EXPECT_EQ(entries->front().key, MakeKey("hit"));
    EXPECT_EQ(entries->front().state, store::QuarantineState::kDamaged);
    EXPECT_THAT(entries->front().reason, HasSubstr(reason));
    EXPECT_GT(entries->front().recorded, store::Nanoseconds());
    EXPECT_EQ(store->Count()->profiles.at(v1::MEASURED), 1);
    // It is said once.
    testing::internal::CaptureStderr();
    EXPECT_EQ(store->Lookup({MakeKey("hit")})->size(), 0);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    // Measured again, it is as good as new.
    ASSERT_TRUE(store->Record(MakeMeasured("hit"), {}).ok());
    EXPECT_EQ(store->Lookup({MakeKey("hit")})->size(), 1);
    EXPECT_TRUE(store->ListQuarantine()->empty());
  }

  const StoreFile file_{"damaged_rows"};
};

TEST_F(DamagedRowsTest, AFlippedBitInAResult) {
  RecordTwo();
  ASSERT_EQ(file_.FlipIn(kNeedle), 1);
  ExpectSetAside("its checksum differs");
}

TEST_F(DamagedRowsTest, BytesThatAreNoResult) {
  RecordTwo();
  file_.Sql(absl::StrCat("UPDATE profiles SET result = x'ff' WHERE key = x'",
                         MakeKey("hit"), "'"));
  ExpectSetAside("its checksum differs");
}

TEST_F(DamagedRowsTest, TheResultOfAnotherKey) {
  RecordTwo();
  file_.Sql(absl::StrCat(
      "UPDATE profiles SET (result, checksum) = (SELECT result, checksum "
      "FROM profiles WHERE key = x'",
      MakeKey("sound"), "') WHERE key = x'", MakeKey("hit"), "'"));
  ExpectSetAside("its checksum differs");
}

TEST_F(DamagedRowsTest, AnOutcomeThatWasForged) {
  RecordTwo();
  file_.Sql(absl::StrCat("UPDATE profiles SET outcome = 2 WHERE key = x'",
                         MakeKey("hit"), "'"));
  ExpectSetAside("its checksum differs");
}

TEST_F(DamagedRowsTest, VisitsGoPastThem) {
  RecordTwo();
  ASSERT_EQ(file_.FlipIn(kNeedle), 1);
  const auto store = Open();
  std::vector<std::string> keys;
  testing::internal::CaptureStderr();
  ASSERT_TRUE(
      store
          ->ForEach([&](const v1::ProfileResult& row, const store::Origin&) {
            keys.push_back(row.key());
            return true;
          })
          .ok());
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(keys, std::vector<std::string>{MakeKey("sound")});
  EXPECT_EQ(store->ListQuarantine()->size(), 1);
}

TEST_F(DamagedRowsTest, VerifyNamesAndSetsAsideWhatIsDamaged) {
  RecordTwo();
  {
    const auto store = Open();
    for (const int64_t minimum : {1000, 1010}) {
      ASSERT_TRUE(
          store->Record(MakeMeasured("several", minimum), {.team = "red"})
              .ok());
    }
    ASSERT_TRUE(store->RecordProgram(MakeKey("p"), kNeedle).ok());
    ASSERT_TRUE(store->RecordProgram(MakeKey("good"), "module").ok());
  }
  file_.Sql("UPDATE measurements SET host = 'forged' WHERE result IS NOT NULL");
  // The needle is in a result and, not compressible, in a program.
  ASSERT_EQ(file_.FlipIn(kNeedle), 2);
  const auto store = Open();
  testing::internal::CaptureStderr();
  const auto damaged = store->Verify();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_TRUE(damaged.ok()) << damaged.status();
  std::map<std::string, std::string> by_key;
  for (const store::DamagedRow& row : *damaged) {
    by_key[row.key] = absl::StrCat(row.team, ": ", row.damage);
  }
  EXPECT_EQ(
      by_key,
      (std::map<std::string, std::string>{
          {MakeKey("hit"), "shared: its checksum differs"},
          {MakeKey("several"), "red: one of several measurements of its key"},
          {MakeKey("p"), ": a compressed program is damaged"}}));
  EXPECT_EQ(store->ListQuarantine()->size(), 3);
  EXPECT_EQ(store->LookupProgram(MakeKey("p")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_TRUE(store->LookupProgram(MakeKey("good")).ok());
  EXPECT_EQ(store->LookupKept(MakeKey("several"), "red")->size(), 1);
  EXPECT_TRUE(store->Verify()->empty()) << "it is said once";
}

// With checksums that are right.
TEST_F(DamagedRowsTest, VerifyNamesKeptMeasurementsThatNobodyWrites) {
  {
    const auto store = Open();
    ASSERT_TRUE(store->Record(MakeMeasured("quality"), {}).ok());
    for (const int64_t minimum : {1000, 1010}) {
      ASSERT_TRUE(store->Record(MakeMeasured("many", minimum), {}).ok());
    }
    const store::Origin last = {.recorded = store::Nanoseconds::max()};  // 2262
    ASSERT_TRUE(store->Record(MakeMeasured("late"), last).ok());
    ASSERT_TRUE(store->Record(MakeMeasured("sound"), {}).ok());
  }
  // The first row's only measurement, whose result is the summary's.
  const int64_t checksum = tables::Checksum()
                               .Add(int64_t{1})
                               .Add(int64_t{0})
                               .Add(int64_t{77})
                               .Add("")
                               .Add("")
                               .Add("")
                               .Add("")
                               .Add("")
                               .value();
  file_.Sql(absl::StrCat("UPDATE measurements SET quality = 77, checksum = ",
                         checksum, " WHERE profile = 1"));
  // The checksum holds no number.
  for (int i = 1; i <= 14; ++i) {
    file_.Sql(absl::StrCat(
        "INSERT INTO measurements SELECT profile, number + ", 2 * i,
        ", recorded_unix_ns, quality, host, worker, device_id, machine, "
        "result, checksum FROM measurements WHERE profile = 2 AND number < 2"));
  }
  const auto store = Open();
  EXPECT_EQ(store->Lookup({MakeKey("late")})->size(), 1);
  const auto damaged = store->Verify();
  ASSERT_TRUE(damaged.ok()) << damaged.status();
  std::set<std::string> keys;
  for (const store::DamagedRow& row : *damaged) {
    keys.insert(row.key);
    EXPECT_EQ(row.damage, "one of several measurements of its key");
  }
  EXPECT_EQ(keys, (std::set<std::string>{MakeKey("quality"), MakeKey("many"),
                                         MakeKey("late")}));
  EXPECT_TRUE(store->Verify()->empty()) << "it is said once";
  EXPECT_EQ(store->LookupKept(MakeKey("many"), store::kSharedPool)->size(), 8);
}

TEST_F(DamagedRowsTest, VerifySaysThatTheFileIsDamaged) {
  {
    const auto store = Open();
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(store->Record(MakeMeasured(absl::StrCat(i)), {}).ok());
    }
  }
  // An index without its entries: look-ups miss rows, and no row is damaged.
  file_.Sql(
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
      "replace(sql, 'namespace, key)', 'key, namespace)') "
      "WHERE name = 'profiles'");
  const auto store = SqliteProfileStore::Open(file_.path());
  ASSERT_TRUE(store.ok()) << store.status();
  const absl::Status status = (*store)->Verify().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(file_.path()));
}

TEST_F(DamagedRowsTest, SoundMeasurementsOfTheKeyStay) {
  {
    const auto store = Open();
    ASSERT_TRUE(store->Record(MakeMeasured("hit", 2000), {.host = "a"}).ok());
    ASSERT_TRUE(store->Record(MakeMeasured("hit", 1000), {.host = "b"}).ok());
    ASSERT_EQ(store->LookupKept(MakeKey("hit"), store::kSharedPool)->size(), 2);
  }
  file_.Sql("UPDATE profiles SET result = x'ff'");
  const auto store = Open();
  testing::internal::CaptureStderr();
  EXPECT_EQ(store->Lookup({MakeKey("hit")})->size(), 0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("set aside"));
  EXPECT_EQ(store->Lookup({MakeKey("hit")})->size(), 1);
  EXPECT_EQ(store->LookupKept(MakeKey("hit"), store::kSharedPool)->size(), 1);
  EXPECT_EQ(store->ListQuarantine()->size(), 1) << "until it is measured again";
}

TEST_F(DamagedRowsTest, OneOfSeveralMeasurementsIsSetAsideAndSaid) {
  const auto store = Open();
  for (const int64_t minimum : {1000, 1010, 1020}) {
    ASSERT_TRUE(store->Record(MakeMeasured("hit", minimum), {}).ok());
  }
  file_.Sql("UPDATE measurements SET host = 'forged' WHERE number = 0");
  const auto count = [&] {
    return store->LookupKept(MakeKey("hit"), store::kSharedPool)->size();
  };
  testing::internal::CaptureStderr();
  EXPECT_EQ(count(), 2);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("one of several measurements"));
  EXPECT_THAT(said, HasSubstr(MakeKey("hit")));
  testing::internal::CaptureStderr();
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "it is said once";
}

TEST_F(DamagedRowsTest, RecordingOverOneMendsIt) {
  RecordTwo();
  ASSERT_EQ(file_.FlipIn(kNeedle), 1);
  const auto store = Open();
  ASSERT_TRUE(store->Record(MakeMeasured("hit", 777), {}).ok());
  const auto results = store->Lookup({MakeKey("hit")});
  ASSERT_EQ(results->size(), 1);
  EXPECT_EQ(results->at(MakeKey("hit")).measurement().minimum_ns(), 777);
  EXPECT_TRUE(store->ListQuarantine()->empty());
}

TEST_F(DamagedRowsTest, ADamagedMeasurementLeavesTheOthers) {
  const auto store = Open();
  for (const int64_t minimum : {1000, 1010, 1020}) {
    ASSERT_TRUE(store->Record(MakeMeasured("k", minimum), {}).ok());
  }
  file_.Sql("UPDATE measurements SET host = 'forged' WHERE number = 0");
  const auto kept = store->LookupKept(MakeKey("k"), store::kSharedPool);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->size(), 2);
  EXPECT_EQ(store->Lookup({MakeKey("k")})->size(), 1);
  ASSERT_TRUE(store->Record(MakeMeasured("k", 1030), {}).ok());
  EXPECT_EQ(store->LookupKept(MakeKey("k"), store::kSharedPool)->size(), 3);
}

// Whatever bit of the file is flipped: an error, or rows that were recorded.
TEST_F(DamagedRowsTest, AFlippedBitAnywhereIsNeverBelieved) {
  {
    const auto store = Open();
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(
          store->Record(MakeMeasured(absl::StrCat(i), 1'000'000), {}).ok());
    }
  }
  std::string sound;
  {
    std::ifstream file(file_.path(), std::ios::binary);
    sound.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) keys.push_back(MakeKey(absl::StrCat(i)));
  int answered = 0;
  testing::internal::CaptureStderr();
  for (size_t at = 100; at < sound.size(); at += 211) {
    std::string bytes = sound;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    std::ofstream(file_.path(), std::ios::binary) << bytes;
    const auto store = SqliteProfileStore::Open(file_.path());
    if (!store.ok()) continue;
    const auto results = (*store)->Lookup(keys);
    if (!results.ok()) continue;
    ++answered;
    for (const auto& [key, row] : *results) {
      EXPECT_EQ(row.measurement().minimum_ns(), 1'000'000) << at;
    }
  }
  testing::internal::GetCapturedStderr();
  EXPECT_GT(answered, 50);
}

TEST_F(DamagedRowsTest, AWholeDamagedFileIsSaid) {
  {
    const auto store = Open();
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(store->Record(MakeMeasured(absl::StrCat(i)), {}).ok());
    }
  }
  {
    std::fstream file(file_.path(),
                      std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(4096);
    const std::string ones(1 << 16, '\xff');
    file.write(ones.data(), static_cast<std::streamsize>(ones.size()));
  }
  const auto store = SqliteProfileStore::Open(file_.path());
  const absl::Status status =
      store.ok() ? (*store)->Lookup({MakeKey("0")}).status() : store.status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(file_.path()));
}

}  // namespace
}  // namespace meshwright::sqlite
