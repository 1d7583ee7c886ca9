#include "tests/conformance/profile_store_conformance.h"

#include <chrono>
#include <limits>
#include <thread>

#include "absl/strings/str_cat.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::conformance {
namespace {

using store::MakeKey;
using store::MakeMeasured;
using store::Origin;

v1::ProfileResult Row(const std::string& name, v1::Outcome outcome,
                      const std::string& reason = "") {
  return store::MakeRow(name, outcome, reason);
}

// As of a day and a machine.
Origin From(int day, const std::string& machine = "") {
  return {.host = absl::StrCat("host", day),
          .worker = "w",
          .device_id = "cpu:0",
          .machine = machine,
          .recorded = store::Nanoseconds(std::chrono::days(day))};
}

// Empty where the key is unknown.
std::string FindReason(store::ProfileStore& store, const std::string& name,
                       const store::LookupOptions& options = {}) {
  const auto results = store.Lookup({MakeKey(name)}, options);
  EXPECT_TRUE(results.ok()) << results.status();
  const auto found = results->find(MakeKey(name));
  return found == results->end() ? "" : found->second.reason();
}

TEST_P(ProfileStoreConformance, GivesBackWholeRows) {
  v1::ProfileResult row = Row("k", v1::MEASURED);
  row.mutable_measurement()->mutable_memory()->set_peak_bytes(456);
  row.mutable_measurement()->add_collectives()->set_kind("all-reduce");
  ASSERT_TRUE(store_->Record(row, {}).ok());
  const auto results = store_->Lookup(
      {MakeKey("k"), MakeKey("unknown"), "no key", MakeKey("k")});
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 1);
  row.mutable_measurement()->set_undisturbed(1);
  EXPECT_EQ(results->at(MakeKey("k")).SerializeAsString(),
            row.SerializeAsString());
  EXPECT_TRUE(store_->Lookup({})->empty());
}

// The table in profile_store.h.
TEST_P(ProfileStoreConformance, KeepsTheRowThatRanksHigher) {
  struct Case {
    v1::Outcome there, comes;
    bool replaces;
  };
  const Case cases[] = {
      {v1::MEASURED, v1::CRASHED, false},
      {v1::CRASHED, v1::MEASURED, true},
      {v1::CRASHED, v1::OUT_OF_MEMORY, true},
      {v1::OUT_OF_MEMORY, v1::COMPILE_FAILED, true},
  };
  for (const Case& c : cases) {
    const std::string key = absl::StrCat(c.there, "-", c.comes);
    ASSERT_TRUE(store_->Record(Row(key, c.there, "first"), {}).ok());
    ASSERT_TRUE(store_->Record(Row(key, c.comes, "second"), {}).ok());
    EXPECT_EQ(FindReason(*store_, key), c.replaces ? "second" : "first") << key;
  }
}

TEST_P(ProfileStoreConformance, FailuresAreLeftOutToBeTriedAgain) {
  for (const v1::Outcome outcome :
       {v1::MEASURED, v1::COMPILE_FAILED, v1::OUT_OF_MEMORY, v1::TIMED_OUT,
        v1::CRASHED}) {
    ASSERT_TRUE(store_->Record(Row(absl::StrCat(outcome), outcome), {}).ok());
  }
  std::vector<std::string> keys;
  for (int i = 1; i <= 5; ++i) keys.push_back(MakeKey(absl::StrCat(i)));
  EXPECT_EQ(store_->Lookup(keys)->size(), 5);
  const auto results = store_->Lookup(keys, {.retry_failures = true});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->size(), 1);
  EXPECT_TRUE(results->contains(MakeKey("1")));
  const auto in_time = store_->Lookup(keys, {.retry_time_outs = true});
  ASSERT_TRUE(in_time.ok());
  EXPECT_EQ(in_time->size(), 4);
  EXPECT_FALSE(in_time->contains(MakeKey(absl::StrCat(v1::TIMED_OUT))));
}

class CountingObserver : public store::LookupObserver {
 public:
  void AddLookups(int64_t hits, int64_t misses) override {
    hits_ += hits;
    misses_ += misses;
  }
  int64_t hits() const { return hits_; }
  int64_t misses() const { return misses_; }

 private:
  int64_t hits_ = 0;
  int64_t misses_ = 0;
};

TEST_P(ProfileStoreConformance, AnObserverCountsTheKeysThatHaveARow) {
  ASSERT_TRUE(store_->Record(Row("a", v1::MEASURED), {}).ok());
  ASSERT_TRUE(store_->Record(Row("b", v1::CRASHED), {}).ok());
  CountingObserver observer;
  store_->Observe(&observer);
  const std::string keys[] = {MakeKey("a"), MakeKey("b"), MakeKey("c"),
                              "no key"};
  EXPECT_EQ(store_->Lookup(keys)->size(), 2);
  EXPECT_EQ(observer.hits(), 2);
  EXPECT_EQ(observer.misses(), 2);
  // A failure that is to be tried again is none.
  EXPECT_EQ(store_->Lookup(keys, {.retry_failures = true})->size(), 1);
  EXPECT_EQ(observer.hits(), 3);
  EXPECT_EQ(observer.misses(), 5);
  store_->Observe(nullptr);
  EXPECT_EQ(store_->Lookup(keys)->size(), 2);
  EXPECT_EQ(observer.hits(), 3);
}

TEST_P(ProfileStoreConformance, ARetryOfFailuresLeavesTheQuarantineAlone) {
  const std::string held = MakeKey("held");
  const std::string crashing = MakeKey("crashing");
  for (const char* const team : {store::kSharedPool, "red"}) {
    ASSERT_TRUE(store_->Record(Row("held", v1::CRASHED), {.team = team}).ok());
  }
  ASSERT_TRUE(store_->Record(Row("crashing", v1::CRASHED), {}).ok());
  ASSERT_TRUE(
      store_->Quarantine(held, store::kCrashesToQuarantine, "why", "").ok());
  ASSERT_TRUE(store_->Quarantine(crashing, 1, "why", "").ok());
  for (const char* const team : {store::kSharedPool, "red"}) {
    const auto results = store_->Lookup({held, crashing},
                                        {.team = team, .retry_failures = true});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(results->size(), 1);
    EXPECT_TRUE(results->contains(held));
  }
  ASSERT_TRUE(store_->RetryQuarantined(held).ok());
  EXPECT_TRUE(store_->Lookup({held}, {.retry_failures = true})->empty());
}

TEST_P(ProfileStoreConformance, AKeyKeepsItsMeasurementsNewestFirst) {
  for (const int day : {3, 1, 2}) {
    ASSERT_TRUE(
        store_
            ->Record(MakeMeasured("k", 1'000'000 + 1000 * day), From(day, "m"))
            .ok());
  }
  const auto kept = store_->LookupKept(MakeKey("k"), store::kSharedPool);
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_EQ(kept->size(), 3);
  for (int i = 0; i < 3; ++i) {
    const int day = 3 - i;
    const store::KeptRow& row = kept->at(i);
    EXPECT_EQ(row.origin.host, absl::StrCat("host", day));
    EXPECT_EQ(row.origin.worker, "w");
    EXPECT_EQ(row.origin.device_id, "cpu:0");
    EXPECT_EQ(row.origin.machine, "m");
    EXPECT_EQ(row.origin.team, store::kSharedPool);
    EXPECT_EQ(row.origin.recorded, From(day).recorded);
    EXPECT_EQ(row.result.key(), MakeKey("k"));
    EXPECT_EQ(row.result.measurement().minimum_ns(), 1'000'000 + 1000 * day);
    EXPECT_EQ(row.result.measurement().quality(), v1::GOOD);
    EXPECT_EQ(row.result.measurement().spread_ns(), 0);
    EXPECT_EQ(row.result.measurement().undisturbed(), 0);
  }
  EXPECT_TRUE(store_->LookupKept(MakeKey("k"), "red")->empty());
  EXPECT_TRUE(store_->LookupKept(MakeKey("q"), store::kSharedPool)->empty());
}

TEST_P(ProfileStoreConformance, ALookupAnswersWithTheSummary) {
  ASSERT_TRUE(store_->Record(MakeMeasured("k", 1'625'000), From(1)).ok());
  ASSERT_TRUE(store_->Record(MakeMeasured("k", 947'000), From(2)).ok());
  ASSERT_TRUE(store_->Record(MakeMeasured("k", 950'000), From(3)).ok());
  ASSERT_TRUE(
      store_->Record(MakeMeasured("k", 1'400'000, v1::NOISY), From(4)).ok());
  const auto results = store_->Lookup({MakeKey("k")});
  ASSERT_TRUE(results.ok()) << results.status();
  const v1::Measurement& it = results->at(MakeKey("k")).measurement();
  EXPECT_EQ(it.minimum_ns(), 947'000);
  EXPECT_EQ(it.quality(), v1::GOOD);
  EXPECT_EQ(it.spread_ns(), 1500);
  EXPECT_EQ(it.undisturbed(), 4);
  const auto kept = store_->LookupKept(MakeKey("k"), store::kSharedPool);
  ASSERT_EQ(kept->size(), 4);
  EXPECT_EQ(kept->at(0).result.measurement().quality(), v1::NOISY);
  EXPECT_EQ(kept->at(1).result.measurement().quality(), v1::GOOD);
  EXPECT_EQ(kept->at(3).result.measurement().quality(), v1::SUSPECT);
  // A visit gives the summary with the origin of the times it has.
  int rows = 0;
  const auto visit = [&](const v1::ProfileResult& row, const Origin& from) {
    ++rows;
    EXPECT_EQ(row.measurement().minimum_ns(), 947'000);
    EXPECT_EQ(from.host, "host2");
    return true;
  };
  ASSERT_TRUE(store_->ForEach(visit).ok());
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(store_->Count()->profiles.at(v1::MEASURED), 1);
}

TEST_P(ProfileStoreConformance, ANoisyRowHealsWhenMeasuredAgain) {
  const auto look = [&] {
    return store_->Lookup({MakeKey("k")})->at(MakeKey("k")).measurement();
  };
  ASSERT_TRUE(
      store_->Record(MakeMeasured("k", 1'500'000, v1::NOISY), From(1)).ok());
  EXPECT_EQ(look().quality(), v1::NOISY);
  ASSERT_TRUE(store_->Record(MakeMeasured("k", 1'000'000), From(2)).ok());
  EXPECT_EQ(look().quality(), v1::GOOD);
  EXPECT_EQ(look().minimum_ns(), 1'000'000);
}

TEST_P(ProfileStoreConformance, TheOldestMeasurementMakesRoom) {
  for (int day = 1; day <= store::kMaximumKept + 3; ++day) {
    ASSERT_TRUE(
        store_->Record(MakeMeasured("k", 1'000'000 + day), From(day)).ok());
  }
  const auto kept = store_->LookupKept(MakeKey("k"), store::kSharedPool);
  ASSERT_EQ(kept->size(), store::kMaximumKept);
  EXPECT_EQ(kept->front().origin.recorded,
            From(store::kMaximumKept + 3).recorded);
  EXPECT_EQ(kept->back().origin.recorded, From(4).recorded);
}

TEST_P(ProfileStoreConformance, ManySamplesAreKeptAsQuantiles) {
  v1::ProfileResult row = MakeMeasured("k", 1000);
  for (int i = 0; i < 500; ++i) {
    row.mutable_measurement()->add_samples_ns(1000 + i);
  }
  ASSERT_TRUE(store_->Record(row, {}).ok());
  const auto results = store_->Lookup({MakeKey("k")});
  const v1::Measurement& it = results->at(MakeKey("k")).measurement();
  EXPECT_EQ(it.samples_ns_size(), 16);
  EXPECT_EQ(it.quantiles_ns_size(), 21);
  EXPECT_EQ(it.sample_count(), 500);
  EXPECT_EQ(it.quantiles_ns(20), 1499);
}

TEST_P(ProfileStoreConformance, CrashesAreCountedUntilAProgramIsQuarantined) {
  ASSERT_TRUE(store_->RecordProgram(MakeKey("k"), "module").ok());
  for (int crash = 1; crash <= store::kCrashesToQuarantine; ++crash) {
    const auto crashes = store_->Quarantine(
        MakeKey("k"), 1, absl::StrCat("reason ", crash), "the log");
    ASSERT_TRUE(crashes.ok()) << crashes.status();
    EXPECT_EQ(*crashes, crash);
    const auto entries = store_->ListQuarantine();
    ASSERT_EQ(entries->size(), 1);
    const store::QuarantineEntry& entry = entries->front();
    EXPECT_EQ(entry.key, MakeKey("k"));
    EXPECT_EQ(entry.crashes, crash);
    EXPECT_EQ(entry.reason, absl::StrCat("reason ", crash));
    EXPECT_EQ(entry.log, "the log");
    EXPECT_TRUE(entry.has_program);
    EXPECT_GT(entry.recorded, store::Nanoseconds());
    EXPECT_EQ(entry.state, crash < store::kCrashesToQuarantine
                               ? store::QuarantineState::kCrashing
                               : store::QuarantineState::kQuarantined);
  }
  EXPECT_EQ(store_->Quarantine("k", 1, "", "").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(ProfileStoreConformance, ARetryForgetsTheCrashes) {
  ASSERT_TRUE(store_->Quarantine(MakeKey("k"), 1, "why", "").ok());
  ASSERT_TRUE(store_->Quarantine(MakeKey("other"), 1, "why", "").ok());
  ASSERT_TRUE(store_->Record(Row("k", v1::CRASHED, "why"), From(1)).ok());
  ASSERT_TRUE(store_->Record(Row("k", v1::CRASHED), {.team = "red"}).ok());
  ASSERT_TRUE(store_->Record(Row("other", v1::CRASHED, "why"), {}).ok());
  ASSERT_TRUE(store_->RetryQuarantined(MakeKey("k")).ok());
  EXPECT_EQ(store_->RetryQuarantined(MakeKey("k")).code(),
            absl::StatusCode::kNotFound);
  EXPECT_TRUE(store_->Lookup({MakeKey("k")}, {.team = "red"})->empty());
  EXPECT_EQ(FindReason(*store_, "other"), "why");
  ASSERT_EQ(store_->ListQuarantine()->size(), 1);
  EXPECT_FALSE(store_->ListQuarantine()->front().has_program);
}

TEST_P(ProfileStoreConformance, AMeasurementForgetsTheCrashes) {
  ASSERT_TRUE(store_->Quarantine(MakeKey("k"), 1, "why", "").ok());
  ASSERT_TRUE(store_->Record(Row("k", v1::OUT_OF_MEMORY), {}).ok());
  EXPECT_EQ(store_->ListQuarantine()->size(), 1);
  ASSERT_TRUE(store_->Record(MakeMeasured("k"), {}).ok());
  EXPECT_TRUE(store_->ListQuarantine()->empty());
}

TEST_P(ProfileStoreConformance, ATeamSeesItsRowsAndTheSharedPool) {
  ASSERT_TRUE(store_->Record(Row("a", v1::MEASURED, "shared"), {}).ok());
  ASSERT_TRUE(
      store_->Record(Row("a", v1::MEASURED, "red"), {.team = "red"}).ok());
  ASSERT_TRUE(
      store_->Record(Row("b", v1::MEASURED, "red"), {.team = "red"}).ok());
  ASSERT_TRUE(
      store_->Record(Row("c", v1::CRASHED, "red"), {.team = "red"}).ok());
  ASSERT_TRUE(store_->Record(Row("c", v1::MEASURED, "shared"), {}).ok());
  EXPECT_EQ(FindReason(*store_, "a", {.team = "red"}), "red");
  EXPECT_EQ(FindReason(*store_, "a", {.team = "blue"}), "shared");
  EXPECT_EQ(FindReason(*store_, "b", {.team = "blue"}), "");
  EXPECT_EQ(FindReason(*store_, "b"), "");
  EXPECT_EQ(FindReason(*store_, "c", {.team = "red"}), "shared");
}

TEST_P(ProfileStoreConformance, KeepsProgramsOnce) {
  std::string hlo(100'000, 'h');
  hlo[500] = '\0';
  ASSERT_TRUE(store_->RecordProgram(MakeKey("p"), hlo).ok());
  ASSERT_TRUE(store_->RecordProgram(MakeKey("p"), "another").ok());
  ASSERT_TRUE(store_->RecordProgram(MakeKey("empty"), "").ok());
  EXPECT_EQ(*store_->LookupProgram(MakeKey("p")), hlo);
  EXPECT_EQ(*store_->LookupProgram(MakeKey("empty")), "");
  EXPECT_EQ(*store_->FindProgramBytes(MakeKey("p")), hlo.size());
  EXPECT_EQ(*store_->FindProgramBytes(MakeKey("empty")), 0);
  EXPECT_EQ(*store_->FindProgramBytes(MakeKey("q")), std::nullopt);
  EXPECT_EQ(store_->LookupProgram(MakeKey("q")).status().code(),
            absl::StatusCode::kNotFound);
  const auto statistics = store_->Count();
  ASSERT_TRUE(statistics.ok());
  EXPECT_EQ(statistics->programs, 2);
  EXPECT_EQ(statistics->program_bytes, 100'000);
  EXPECT_LE(statistics->compressed_program_bytes, 100'000);
}

TEST_P(ProfileStoreConformance, VisitsEveryRowWithItsOrigin) {
  const Origin origin{
      .team = "red",
      .host = "h1",
      .worker = "w1",
      .recorded = std::chrono::sys_time<std::chrono::nanoseconds>(
          std::chrono::nanoseconds(1'700'000'000'123'456'789))};
  // SHA-256: a is ca97..., b is 3e23...
  ASSERT_TRUE(store_->Record(Row("a", v1::CRASHED, "a"), {}).ok());
  ASSERT_TRUE(store_->Record(Row("b", v1::MEASURED, "b"), {}).ok());
  ASSERT_TRUE(store_->Record(Row("c", v1::MEASURED, "c"), origin).ok());
  std::string visited;
  const auto visit = [&](const v1::ProfileResult& row, const Origin& from) {
    absl::StrAppend(&visited, from.team, ":", row.reason(), " ");
    if (row.key() == MakeKey("c")) {
      EXPECT_EQ(from.host, "h1");
      EXPECT_EQ(from.worker, "w1");
      EXPECT_EQ(from.recorded, origin.recorded);
    }
    return row.key() != MakeKey("a");
  };
  ASSERT_TRUE(store_->ForEach(visit).ok());
  EXPECT_EQ(visited, "red:c shared:b shared:a ");
  const auto statistics = store_->Count();
  EXPECT_EQ(statistics->profiles.at(v1::MEASURED), 2);
  EXPECT_EQ(statistics->profiles.at(v1::CRASHED), 1);
  EXPECT_FALSE(statistics->profiles.contains(v1::PRUNED));
}

TEST_P(ProfileStoreConformance, CountsMeasuredRowsByQuality) {
  ASSERT_TRUE(store_->Record(MakeMeasured("good"), From(1)).ok());
  ASSERT_TRUE(store_->Record(MakeMeasured("fine"), From(1)).ok());
  ASSERT_TRUE(
      store_->Record(MakeMeasured("bad", 1'000'000, v1::NOISY), From(1)).ok());
  ASSERT_TRUE(store_->Record(Row("crashed", v1::CRASHED), From(1)).ok());
  const auto statistics = store_->Count();
  ASSERT_TRUE(statistics.ok()) << statistics.status();
  ASSERT_EQ(statistics->measured.size(), 2);
  const store::RowCount& good = statistics->measured.at(v1::GOOD);
  const store::RowCount& noisy = statistics->measured.at(v1::NOISY);
  EXPECT_EQ(good.rows, 2);
  EXPECT_EQ(noisy.rows, 1);
  EXPECT_GT(noisy.bytes, 0);
  EXPECT_GT(good.bytes, noisy.bytes);
}

TEST_P(ProfileStoreConformance, RefusesRowsThatAreNone) {
  v1::ProfileResult without_key = MakeMeasured("k");
  without_key.clear_key();
  v1::ProfileResult forged = MakeMeasured("k");
  forged.mutable_measurement()->set_minimum_ns(-1);
  for (const v1::ProfileResult& row :
       {without_key, forged, MakeMeasured("k", 1),
        Row("k", v1::OUTCOME_UNSPECIFIED), Row("k", v1::TRANSIENT),
        Row("k", v1::PRUNED)}) {
    EXPECT_EQ(store_->Record(row, {}).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(store_->RecordProgram("", "hlo").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(store_->Count()->profiles.empty());
}

TEST_P(ProfileStoreConformance, OneCallKeepsAnAnswerWithItsProgramAndCrash) {
  const store::Entry entries[] = {
      {.result = Row("crashed", v1::CRASHED, "why"),
       .origin = From(1),
       .program = "module",
       .crash = store::Crash{.reason = "label: why", .log = "the log"}},
      {.result = MakeMeasured("k"), .origin = From(2), .program = "other"}};
  ASSERT_TRUE(store_->Record(entries).ok());
  EXPECT_EQ(FindReason(*store_, "crashed"), "why");
  EXPECT_EQ(*store_->LookupProgram(MakeKey("crashed")), "module");
  EXPECT_EQ(*store_->LookupProgram(MakeKey("k")), "other");
  const auto entry = store_->ListQuarantine();
  ASSERT_EQ(entry->size(), 1);
  EXPECT_EQ(entry->front().state, store::QuarantineState::kQuarantined);
  EXPECT_EQ(entry->front().reason, "label: why");
  EXPECT_EQ(entry->front().log, "the log");
}

TEST_P(ProfileStoreConformance, ARefusedEntryRefusesThemAll) {
  v1::ProfileResult forged = MakeMeasured("forged");
  forged.mutable_measurement()->set_minimum_ns(-1);
  const store::Entry entries[] = {
      {.result = MakeMeasured("k"), .program = "module"}, {.result = forged}};
  EXPECT_EQ(store_->Record(entries).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(store_->Lookup({MakeKey("k")})->empty());
  EXPECT_EQ(store_->LookupProgram(MakeKey("k")).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_P(ProfileStoreConformance, RefusesOriginsThatNoDatabaseCouldHold) {
  const Origin origins[] = {{.team = ""},
                            {.host = std::string("a\0b", 3)},
                            {.worker = "\xff"},
                            {.machine = std::string(2000, 'm')}};
  for (const Origin& origin : origins) {
    EXPECT_EQ(store_->Record(MakeMeasured("k"), origin).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(store_->Count()->profiles.empty());
}

// Whatever a dying program printed.
TEST_P(ProfileStoreConformance, KeepsAnyBytesOfACrash) {
  const std::string bytes("\xff\0\xc3(", 4);
  v1::ProfileResult row = MakeMeasured("k");
  row.set_log(bytes);
  ASSERT_TRUE(store_->Record(row, {.host = "g\xc3\xbcnther"}).ok());
  ASSERT_TRUE(store_->Quarantine(MakeKey("k"), 1, bytes, bytes).ok());
  EXPECT_EQ(store_->ListQuarantine()->front().reason, bytes);
  EXPECT_EQ(store_->ListQuarantine()->front().log, bytes);
  EXPECT_EQ(store_->Lookup({MakeKey("k")})->at(MakeKey("k")).log(), bytes);
}

TEST_P(ProfileStoreConformance, AMeasurementThatComesTwiceCountsOnce) {
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(store_->Record(MakeMeasured("k", 1000), From(1)).ok());
    ASSERT_TRUE(store_->Record(MakeMeasured("k", 1000), From(2)).ok());
    ASSERT_TRUE(store_->Record(MakeMeasured("k", 2000), From(2)).ok());
  }
  EXPECT_EQ(store_->LookupKept(MakeKey("k"), store::kSharedPool)->size(), 3);
}

TEST_P(ProfileStoreConformance, AScanReadsEverything) {
  // SHA-256: a is ca97..., b is 3e23...
  ASSERT_TRUE(store_->Record(MakeMeasured("b", 1000), From(1)).ok());
  ASSERT_TRUE(store_->Record(MakeMeasured("b", 5000), From(2)).ok());
  ASSERT_TRUE(store_->Record(MakeMeasured("a", 1000), From(3)).ok());
  ASSERT_TRUE(
      store_->Record(Row("c", v1::CRASHED, "why"), {.team = "red"}).ok());
  ASSERT_TRUE(store_->RecordProgram(MakeKey("b"), std::string(1000, 'h')).ok());
  ASSERT_TRUE(store_->Quarantine(MakeKey("q"), 1, "why", "log").ok());
  std::vector<std::string> read;
  int64_t bytes_of_a = 0;
  const store::Scan scan{
      .row =
          [&](const store::WholeRow& row) {
            read.push_back(absl::StrCat(row.team, ":", row.key.substr(0, 4),
                                        ":", row.kept.size()));
            EXPECT_GT(row.last_used_day, 20'000);  // after 2024
            EXPECT_GT(row.bytes, 0);
            if (row.key == MakeKey("a")) bytes_of_a = row.bytes;
            for (const store::KeptRow& kept : row.kept) {
              EXPECT_EQ(kept.result.key(), row.key);
              EXPECT_EQ(kept.origin.team, row.team);
            }
            if (row.key == MakeKey("b")) {
              EXPECT_EQ(row.kept[0].origin.host, "host2");
              EXPECT_EQ(row.kept[1].origin.host, "host1");
            }
            return absl::OkStatus();
          },
      .program =
          [&](const std::string& key, std::string_view hlo) {
            read.push_back(absl::StrCat(key.substr(0, 4), ":", hlo.size()));
            return absl::OkStatus();
          },
      .quarantined =
          [&](const store::QuarantineEntry& entry) {
            read.push_back(entry.log);
            return absl::OkStatus();
          }};
  ASSERT_TRUE(store_->ForEachWhole(scan).ok());
  EXPECT_EQ(read, (std::vector<std::string>{
                      absl::StrCat("red:", MakeKey("c").substr(0, 4), ":1"),
                      "shared:3e23:2", "shared:ca97:1", "3e23:1000", "log"}));
  // A program counts with the row of its key.
  ASSERT_TRUE(store_->RecordProgram(MakeKey("a"), "h").ok());
  int64_t with_program = 0;
  EXPECT_EQ(store_
                ->ForEachWhole({.row =
                                    [&](const store::WholeRow& row) {
                                      with_program = row.bytes;
                                      return row.key == MakeKey("a")
                                                 ? absl::CancelledError("")
                                                 : absl::OkStatus();
                                    }})
                .code(),
            absl::StatusCode::kCancelled);
  EXPECT_GT(with_program, bytes_of_a);
}

TEST_P(ProfileStoreConformance, AScanEndsAtTheFirstFailure) {
  ASSERT_TRUE(store_->Record(MakeMeasured("a"), {}).ok());
  ASSERT_TRUE(store_->Record(MakeMeasured("b"), {}).ok());
  int rows = 0;
  const auto stop = [&](const store::WholeRow&) {
    ++rows;
    return absl::CancelledError("enough");
  };
  EXPECT_EQ(store_->ForEachWhole({.row = stop}).message(), "enough");
  EXPECT_EQ(rows, 1);
  EXPECT_TRUE(store_->Record(MakeMeasured("c"), {}).ok());
}

TEST_P(ProfileStoreConformance, RemovesRowsWithTheProgramsThatNobodyNames) {
  for (const char* const name : {"gone", "shared", "crashing", "used"}) {
    const store::Entry entry{.result = MakeMeasured(name),
                             .program = "module",
                             .last_used_day = 100};
    ASSERT_TRUE(store_->Record({&entry, 1}).ok());
  }
  ASSERT_TRUE(store_->Record(MakeMeasured("shared"), {.team = "red"}).ok());
  ASSERT_TRUE(store_->Quarantine(MakeKey("crashing"), 1, "why", "").ok());
  ASSERT_EQ(store_->Lookup({MakeKey("used")})->size(), 1);
  std::vector<store::UnusedRow> rows;
  for (const char* const name :
       {"gone", "shared", "crashing", "used", "none"}) {
    rows.push_back({store::kSharedPool, MakeKey(name), 100});
  }
  const auto removed = store_->Remove(rows);
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_EQ(*removed, 3);
  EXPECT_TRUE(
      store_->Lookup({MakeKey("gone"), MakeKey("shared"), MakeKey("crashing")})
          ->empty());
  EXPECT_TRUE(store_->LookupKept(MakeKey("gone"), store::kSharedPool)->empty());
  EXPECT_EQ(store_->Lookup({MakeKey("used")})->size(), 1);
  EXPECT_EQ(store_->Lookup({MakeKey("shared")}, {.team = "red"})->size(), 1);
  EXPECT_EQ(store_->LookupProgram(MakeKey("gone")).status().code(),
            absl::StatusCode::kNotFound);
  for (const char* const name : {"shared", "crashing", "used"}) {
    EXPECT_TRUE(store_->LookupProgram(MakeKey(name)).ok()) << name;
  }
}

TEST_P(ProfileStoreConformance, KnowsTheLastUsesOfManyRows) {
  constexpr int kRows = 300;
  std::vector<store::Entry> entries;
  std::vector<std::string> keys;
  for (int i = 0; i < kRows; ++i) {
    entries.push_back(
        {.result = MakeMeasured(absl::StrCat(i)), .last_used_day = 100});
    keys.push_back(MakeKey(absl::StrCat(i)));
  }
  ASSERT_TRUE(store_->Record(entries).ok());
  keys.pop_back();
  ASSERT_EQ(store_->Lookup(keys)->size(), keys.size());
  int used = 0;
  const auto visit = [&](const store::WholeRow& row) -> absl::Status {
    if (row.last_used_day > 100) ++used;
    return {};
  };
  ASSERT_TRUE(store_->ForEachWhole({.row = visit}).ok());
  EXPECT_EQ(used, kRows - 1);
}

TEST_P(ProfileStoreConformance, RemovesProgramsThatNobodyNames) {
  ASSERT_TRUE(store_->RecordProgram(MakeKey("model"), "module").ok());
  ASSERT_TRUE(store_->RecordProgram(MakeKey("row"), "module").ok());
  ASSERT_TRUE(store_->Record(MakeMeasured("row"), {}).ok());
  const auto removed = store_->RemovePrograms(
      {{MakeKey("model")}, {MakeKey("row")}, {MakeKey("none")}});
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_EQ(*removed, 1);
  EXPECT_FALSE(store_->FindProgramBytes(MakeKey("model"))->has_value());
  EXPECT_TRUE(store_->FindProgramBytes(MakeKey("row"))->has_value());
}

// Those that were put again, read or asked for are used.
TEST_P(ProfileStoreConformance, ListsAndRemovesProgramsThatNobodyUses) {
  std::vector<std::string> keys;
  for (const char* const name : {"old", "row", "crashing", "young", "put again",
                                 "looked up", "asked for"}) {
    const store::Program program = {.key = MakeKey(name),
                                    .hlo = "module",
                                    .last_used_day = *name == 'y' ? 200 : 100};
    ASSERT_TRUE(store_->RecordPrograms({&program, 1}).ok());
    keys.push_back(program.key);
  }
  ASSERT_TRUE(store_->Record(MakeMeasured("row"), {}).ok());
  ASSERT_TRUE(store_->Quarantine(MakeKey("crashing"), 1, "why", "").ok());
  ASSERT_TRUE(store_->RecordProgram(MakeKey("put again"), "module").ok());
  ASSERT_TRUE(store_->LookupProgram(MakeKey("looked up")).ok());
  ASSERT_TRUE(store_->FindProgramBytes(MakeKey("asked for"))->has_value());
  ASSERT_FALSE(store_->FindProgramBytes(MakeKey("none"))->has_value());
  const auto unused = store_->ListUnusedPrograms(200);
  ASSERT_TRUE(unused.ok()) << unused.status();
  ASSERT_EQ(unused->size(), 1u);
  EXPECT_EQ(unused->front().key, MakeKey("old"));
  EXPECT_GT(unused->front().bytes, 0);
  EXPECT_EQ(unused->front().last_used_day, 100);
  EXPECT_EQ(store_->ListUnusedPrograms(201)->size(), 2u);
  EXPECT_EQ(store_->ListUnusedPrograms(100)->size(), 0u);

  // An earlier use than the last one changes nothing.
  const store::Program earlier = {
      .key = MakeKey("young"), .hlo = "module", .last_used_day = 50};
  ASSERT_TRUE(store_->RecordPrograms({&earlier, 1}).ok());
  std::vector<store::UnusedProgram> going;
  for (const std::string& key : keys) {
    going.push_back({.key = key, .last_used_day = 100});
  }
  const auto removed = store_->RemovePrograms(going);
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_EQ(*removed, 1);
  EXPECT_FALSE(store_->FindProgramBytes(MakeKey("old"))->has_value());
  // A program that comes again has no use of before.
  const store::Program again = {
      .key = MakeKey("old"), .hlo = "module", .last_used_day = 10};
  ASSERT_TRUE(store_->RecordPrograms({&again, 1}).ok());
  EXPECT_EQ(store_->ListUnusedPrograms(11)->size(), 1u);
}

// On the day of the list, which is the day of both uses.
TEST_P(ProfileStoreConformance, AProgramThatIsUsedSinceTheListStays) {
  ASSERT_TRUE(store_->RecordProgram(MakeKey("model"), "module").ok());
  const auto unused =
      store_->ListUnusedPrograms(std::numeric_limits<int64_t>::max());
  ASSERT_TRUE(unused.ok()) << unused.status();
  ASSERT_EQ(unused->size(), 1u);
  const store::UnusedProgram going = {
      .key = MakeKey("model"), .last_used_day = unused->front().last_used_day};
  ASSERT_TRUE(store_->FindProgramBytes(going.key)->has_value());
  // A quota lists programs, too, and removes none.
  ASSERT_TRUE(
      store_->ListUnusedPrograms(std::numeric_limits<int64_t>::max()).ok());
  EXPECT_EQ(*store_->RemovePrograms({&going, 1}), 0);
  ASSERT_TRUE(
      store_->ListUnusedPrograms(std::numeric_limits<int64_t>::max()).ok());
  EXPECT_EQ(*store_->RemovePrograms({&going, 1}), 1);
}

TEST_P(ProfileStoreConformance, ASoundStoreIsVerified) {
  ASSERT_TRUE(store_->Record(MakeMeasured("k"), {}).ok());
  ASSERT_TRUE(store_->RecordProgram(MakeKey("k"), "module").ok());
  const auto damaged = store_->Verify();
  ASSERT_TRUE(damaged.ok()) << damaged.status();
  EXPECT_TRUE(damaged->empty());
  EXPECT_EQ(store_->Lookup({MakeKey("k")})->size(), 1);
}

TEST_P(ProfileStoreConformance, ManyThreadsMayWriteAndRead) {
  constexpr int kThreads = 8;
  constexpr int kRows = 20;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (int r = 0; r < kRows; ++r) {
        const std::string key = absl::StrCat(t, "/", r);
        EXPECT_TRUE(store_->Record(Row(key, v1::MEASURED, "mine"), {}).ok());
        EXPECT_EQ(FindReason(*store_, key), "mine");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store_->Count()->profiles.at(v1::MEASURED), kThreads * kRows);
}

}  // namespace
}  // namespace meshwright::conformance
