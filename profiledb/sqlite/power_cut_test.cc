// A store whose disk loses its power, a thousand times: it opens, it is sound,
// and it has every write that was acknowledged.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiledb/sqlite/sqlite_database.h"
#include "profiledb/sqlite/sqlite_profile_store.h"
#include "profiledb/sqlite/testing/power_cut_disk.h"
#include "profiledb/sqlite/testing/store_file.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::sqlite {
namespace {

constexpr int kCutsOfAStore = 50;  // then a new one

// The acknowledged writes: all of them are there. A write in doubt is there
// whole or not at all.
class PowerCutTest : public testing::Test {
 protected:
  struct Plan {
    v1::PlanRecord added;
    std::vector<std::string> updates;    // serialized, from number 1
    std::optional<std::string> doubted;  // the next, perhaps
  };

  bool Open() {
    profiles_.reset();
    plans_store_.reset();
    auto profiles = SqliteProfileStore::Open(file_->path());
    auto plans = OpenSqlitePlanStore(file_->path());
    if (!profiles.ok() || !plans.ok()) {
      opening_ = profiles.ok() ? plans.status() : profiles.status();
      return false;
    }
    profiles_ = *std::move(profiles);
    plans_store_ = *std::move(plans);
    return true;
  }
  void Close() {
    profiles_.reset();
    plans_store_.reset();
  }

  void Write() {
    switch (random_() % 8) {
      case 0:
        return AddPlan();
      case 1:
        return BeginEpoch();
      case 2:
        return RecordProgram();
      case 3:
      case 4:
        return AppendUpdate();
      default:
        return RecordRows();
    }
  }

  void RecordRows() {
    std::vector<store::Entry> entries(1 + random_() % 4);
    std::map<std::string, int64_t> rows;
    for (store::Entry& entry : entries) {
      const int number = ++numbers_;
      entry.result =
          store::MakeWorkersRow(absl::StrCat("row ", number), number);
      entry.origin = store::MakeWorkersOrigin(number);
      rows[entry.result.key()] = entry.result.measurement().minimum_ns();
    }
    if (profiles_->Record(entries).ok()) {
      rows_.insert(rows.begin(), rows.end());
    } else {
      doubted_rows_.push_back(std::move(rows));
    }
  }

  void RecordProgram() {
    const std::string key = store::MakeKey(absl::StrCat("hlo ", ++numbers_));
    std::string hlo;
    const size_t size = 1 + random_() % 40'000;
    while (hlo.size() < size) absl::StrAppend(&hlo, random_());
    if (profiles_->RecordProgram(key, hlo).ok()) programs_[key] = hlo;
  }

  void BeginEpoch() {
    const auto epoch = plans_store_->BeginEpoch("the test");
    if (!epoch.ok()) return;
    EXPECT_GT(*epoch, epoch_);
    epoch_ = *epoch;
  }

  void AddPlan() {
    v1::PlanRecord record;
    record.set_namespace_("shared");
    record.set_owner("ann");
    record.set_request_id(absl::StrCat("request ", ++numbers_));
    record.set_module_sha256(store::MakeKey(record.request_id()));
    auto added = plans_store_->Add(record);
    if (!added.ok()) return;
    Plan& plan = plans_[added->id()];
    plan.added = *std::move(added);
    plan.updates = {""};  // queued, for no reason
  }

  void AppendUpdate() {
    if (plans_.empty() || epoch_.value == 0) return;
    auto it = plans_.begin();
    std::advance(it, random_() % plans_.size());
    Plan& plan = it->second;
    v1::PlanUpdate update;
    update.set_state(v1::MEASURING);
    update.set_reason(absl::StrCat("update ", ++numbers_));
    const auto record =
        plans_store_->Append(epoch_, *store::ParsePlanId(it->first), update);
    // Another epoch may have begun in doubt.
    if (absl::IsAborted(record.status())) return BeginEpoch();
    if (!record.ok()) {
      plan.doubted = update.reason();
      return;
    }
    // One that was in doubt may have come before it.
    const bool came =
        record->sequence() == static_cast<int64_t>(plan.updates.size()) + 2;
    if (came) {
      ASSERT_TRUE(plan.doubted.has_value());
      plan.updates.push_back(*plan.doubted);
    }
    plan.updates.push_back(update.reason());
    ASSERT_EQ(record->sequence(), static_cast<int64_t>(plan.updates.size()));
    plan.doubted.reset();
  }

  void ReadUpdates(Plan& plan) {
    const auto updates = plans_store_->ReadUpdates(
        *store::ParsePlanId(plan.added.id()), 0, 10'000);
    ASSERT_TRUE(updates.ok()) << updates.status();
    std::vector<std::string> reasons;
    for (const v1::PlanUpdate& update : *updates) {
      reasons.push_back(update.reason());
      EXPECT_EQ(update.sequence(), static_cast<int64_t>(reasons.size()));
    }
    if (plan.doubted.has_value() && reasons.size() == plan.updates.size() + 1) {
      plan.updates.push_back(*plan.doubted);
    }
    plan.doubted.reset();
    EXPECT_EQ(reasons, plan.updates) << plan.added.id();
  }

  void CheckAll() {
    {
      const auto database = SqliteDatabase::Open(file_->path());
      ASSERT_TRUE(database.ok()) << database.status();
      const absl::Status sound = (*database)->Check();
      ASSERT_TRUE(sound.ok()) << sound;
    }
    std::vector<std::string> keys;
    for (const auto& [key, minimum] : rows_) keys.push_back(key);
    for (const auto& rows : doubted_rows_) {
      for (const auto& [key, minimum] : rows) keys.push_back(key);
    }
    const auto found = profiles_->Lookup(keys);
    ASSERT_TRUE(found.ok()) << found.status();
    for (const auto& rows : doubted_rows_) {
      const bool is_there = found->contains(rows.begin()->first);
      for (const auto& [key, minimum] : rows) {
        EXPECT_EQ(found->contains(key), is_there) << "half a commit is there";
        if (is_there) rows_[key] = minimum;
      }
    }
    doubted_rows_.clear();
    for (const auto& [key, minimum] : rows_) {
      const auto row = found->find(key);
      ASSERT_NE(row, found->end()) << "an acknowledged row is lost";
      EXPECT_EQ(row->second.measurement().minimum_ns(), minimum);
    }
    for (const auto& [key, hlo] : programs_) {
      const auto program = profiles_->LookupProgram(key);
      ASSERT_TRUE(program.ok()) << program.status();
      EXPECT_EQ(*program, hlo);
    }
    for (auto& [id, plan] : plans_) {
      const auto record = plans_store_->Get(*store::ParsePlanId(id));
      ASSERT_TRUE(record.ok()) << record.status();
      EXPECT_EQ(record->request_id(), plan.added.request_id());
      ReadUpdates(plan);
      EXPECT_EQ(record->sequence(), static_cast<int64_t>(plan.updates.size()));
    }
  }

  void NewStore() {
    Close();
    disk_.Restore();  // it forgets the old one
    file_.reset();
    file_ = std::make_unique<StoreFile>("power_cut");
    rows_.clear();
    doubted_rows_.clear();
    programs_.clear();
    plans_.clear();
    epoch_ = store::Epoch();
  }

  std::mt19937_64 random_{1};
  PowerCutDisk disk_{2};
  std::unique_ptr<StoreFile> file_;
  std::unique_ptr<store::ProfileStore> profiles_;
  std::unique_ptr<store::PlanStore> plans_store_;
  absl::Status opening_;
  int numbers_ = 0;
  std::map<std::string, int64_t> rows_;  // minimum by key
  std::vector<std::map<std::string, int64_t>> doubted_rows_;
  std::map<std::string, std::string> programs_;
  std::map<std::string, Plan> plans_;
  store::Epoch epoch_;
};

TEST_F(PowerCutTest, WhatWasAcknowledgedIsThere) {
  const int cuts = std::getenv("MESHWRIGHT_LONG") != nullptr ? 20'000 : 1'000;
  int64_t written = 0;
  for (int cut = 0; cut < cuts; ++cut) {
    SCOPED_TRACE(absl::StrCat("cut ", cut));
    if (cut % kCutsOfAStore == 0) NewStore();
    // A third of the cuts come while the store is made or recovered.
    const bool is_early = random_() % 3 == 0;
    if (is_early) disk_.CutAt(1 + static_cast<int64_t>(random_() % 40));
    if (Open()) {
      if (!is_early) {
        CheckAll();
        disk_.CutAt(1 + static_cast<int64_t>(random_() % 400));
      }
      while (!disk_.is_off() && !HasFailure()) {
        if (random_() % 50 == 0) {
          disk_.FailAt(1 + static_cast<int64_t>(random_() % 20));
        }
        Write();
      }
    }
    ASSERT_TRUE(disk_.is_off()) << opening_;
    Close();
    disk_.Restore();
    const bool opens = Open();
    ASSERT_TRUE(opens) << opening_;
    CheckAll();
    if (HasFailure()) return;
    written = static_cast<int64_t>(rows_.size());
    // Half of the stores go on with the log as it was recovered.
    if (random_() % 2 == 0) Close();
  }
  EXPECT_GT(written, 0);
  const PowerCutDisk::Tally tally = disk_.tally();
  EXPECT_GT(tally.lost_sectors, cuts);
  EXPECT_GT(tally.failures, cuts / 20);
  std::printf("%d cuts: %s writes, %s syncs, %s failures, %s sectors lost\n",
              cuts, absl::StrCat(tally.writes).c_str(),
              absl::StrCat(tally.syncs).c_str(),
              absl::StrCat(tally.failures).c_str(),
              absl::StrCat(tally.lost_sectors).c_str());
}

// The disk itself: without syncs a store does lose what it acknowledged.
TEST_F(PowerCutTest, AStoreThatDoesNotSyncLosesRows) {
  int lost = 0;
  for (int cut = 0; cut < 20; ++cut) {
    NewStore();
    ASSERT_TRUE(Open()) << opening_;
    Close();
    auto database = SqliteDatabase::Open(file_->path());
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE((*database)
                    ->Execute("PRAGMA synchronous = OFF; CREATE TABLE t (a); "
                              "INSERT INTO t VALUES (1)")
                    .ok());
    disk_.CutAt(1);
    EXPECT_FALSE((*database)->Execute("INSERT INTO t VALUES (2)").ok());
    database->reset();
    disk_.Restore();
    const auto again = SqliteDatabase::Open(file_->path());
    ASSERT_TRUE(again.ok()) << again.status();
    const auto rows = (*again)->QueryInteger("SELECT COUNT(*) FROM t");
    lost += !rows.ok() || *rows == 0;
  }
  EXPECT_GT(lost, 5);
}

}  // namespace
}  // namespace meshwright::sqlite
