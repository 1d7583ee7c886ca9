#include "tests/conformance/profile_store_conformance.h"

#include <thread>

#include "absl/strings/str_cat.h"

namespace meshwright::conformance {
namespace {

using store::Origin;

v1::ProfileResult Row(const std::string& key, v1::Outcome outcome,
                      const std::string& reason = "") {
  v1::ProfileResult result;
  result.set_key(key);
  result.set_outcome(outcome);
  result.set_reason(reason);
  return result;
}

// Empty where the key is unknown.
std::string ReasonOf(store::ProfileStore& store, const std::string& key,
                     const store::LookupOptions& options = {}) {
  const auto results = store.Lookup({key}, options);
  EXPECT_TRUE(results.ok()) << results.status();
  const auto found = results->find(key);
  return found == results->end() ? "" : found->second.reason();
}

TEST_P(ProfileStoreConformance, GivesBackWholeRows) {
  v1::ProfileResult row = Row("k", v1::MEASURED);
  row.mutable_measurement()->set_minimum_ns(123);
  row.mutable_measurement()->mutable_memory()->set_peak_bytes(456);
  row.mutable_measurement()->add_collectives()->set_kind("all-reduce");
  ASSERT_TRUE(store_->Record(row, {}).ok());
  const auto results = store_->Lookup({"k", "unknown", "k"});
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 1);
  EXPECT_EQ(results->at("k").SerializeAsString(), row.SerializeAsString());
  EXPECT_TRUE(store_->Lookup({})->empty());
}

// The table in profile_store.h.
TEST_P(ProfileStoreConformance, KeepsTheRowThatRanksHigher) {
  struct Case {
    v1::Outcome there, comes;
    bool replaces;
  };
  const Case cases[] = {
      {v1::MEASURED, v1::MEASURED, false},
      {v1::MEASURED, v1::CRASHED, false},
      {v1::MEASURED, v1::PRUNED, false},
      {v1::PRUNED, v1::MEASURED, true},
      {v1::PRUNED, v1::TIMED_OUT, false},
      {v1::PRUNED, v1::PRUNED, true},
      {v1::CRASHED, v1::MEASURED, true},
      {v1::CRASHED, v1::PRUNED, true},
      {v1::CRASHED, v1::OUT_OF_MEMORY, true},
  };
  for (const Case& c : cases) {
    const std::string key = absl::StrCat(c.there, "-", c.comes);
    ASSERT_TRUE(store_->Record(Row(key, c.there, "first"), {}).ok());
    ASSERT_TRUE(store_->Record(Row(key, c.comes, "second"), {}).ok());
    EXPECT_EQ(ReasonOf(*store_, key), c.replaces ? "second" : "first") << key;
  }
}

TEST_P(ProfileStoreConformance, FailuresAreLeftOutToBeTriedAgain) {
  for (const v1::Outcome outcome :
       {v1::MEASURED, v1::COMPILE_FAILED, v1::OUT_OF_MEMORY, v1::TIMED_OUT,
        v1::CRASHED, v1::PRUNED}) {
    ASSERT_TRUE(store_->Record(Row(absl::StrCat(outcome), outcome), {}).ok());
  }
  const std::vector<std::string> keys = {"1", "2", "3", "4", "5", "6"};
  EXPECT_EQ(store_->Lookup(keys)->size(), 6);
  const auto results = store_->Lookup(keys, {.retry_failures = true});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->size(), 2);
  EXPECT_TRUE(results->contains("1"));
  EXPECT_TRUE(results->contains("6"));
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
  EXPECT_EQ(ReasonOf(*store_, "a", {.team = "red"}), "red");
  EXPECT_EQ(ReasonOf(*store_, "a", {.team = "blue"}), "shared");
  EXPECT_EQ(ReasonOf(*store_, "b", {.team = "blue"}), "");
  EXPECT_EQ(ReasonOf(*store_, "b"), "");
  EXPECT_EQ(ReasonOf(*store_, "c", {.team = "red"}), "shared");
}

TEST_P(ProfileStoreConformance, KeepsProgramsOnce) {
  std::string hlo(100'000, 'h');
  hlo[500] = '\0';
  ASSERT_TRUE(store_->RecordProgram("p", hlo).ok());
  ASSERT_TRUE(store_->RecordProgram("p", "another").ok());
  ASSERT_TRUE(store_->RecordProgram("empty", "").ok());
  EXPECT_EQ(*store_->LookupProgram("p"), hlo);
  EXPECT_EQ(*store_->LookupProgram("empty"), "");
  EXPECT_EQ(store_->LookupProgram("q").status().code(),
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
  ASSERT_TRUE(store_->Record(Row("b", v1::MEASURED), {}).ok());
  ASSERT_TRUE(store_->Record(Row("a", v1::CRASHED), {}).ok());
  ASSERT_TRUE(store_->Record(Row("c", v1::MEASURED), origin).ok());
  std::string visited;
  const auto visit = [&](const v1::ProfileResult& row, const Origin& from) {
    absl::StrAppend(&visited, from.team, ":", row.key(), " ");
    if (row.key() == "c") {
      EXPECT_EQ(from.host, "h1");
      EXPECT_EQ(from.worker, "w1");
      EXPECT_EQ(from.recorded, origin.recorded);
    }
    return row.key() != "a";
  };
  ASSERT_TRUE(store_->ForEach(visit).ok());
  EXPECT_EQ(visited, "red:c shared:a ");
  const auto statistics = store_->Count();
  EXPECT_EQ(statistics->profiles.at(v1::MEASURED), 2);
  EXPECT_EQ(statistics->profiles.at(v1::CRASHED), 1);
  EXPECT_FALSE(statistics->profiles.contains(v1::PRUNED));
}

TEST_P(ProfileStoreConformance, RefusesRowsThatAreNone) {
  EXPECT_EQ(store_->Record(Row("", v1::MEASURED), {}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->Record(Row("k", v1::OUTCOME_UNSPECIFIED), {}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->RecordProgram("", "hlo").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(store_->Count()->profiles.empty());
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
        EXPECT_EQ(ReasonOf(*store_, key), "mine");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store_->Count()->profiles.at(v1::MEASURED), kThreads * kRows);
}

}  // namespace
}  // namespace meshwright::conformance
