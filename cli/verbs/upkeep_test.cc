#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "cli/local/store.h"
#include "cli/testing/lone_coordinator.h"
#include "cli/testing/outcome.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::cli {
namespace {

using store::MakeFounded;
using store::MakeKey;
using testing::HasSubstr;

constexpr std::filesystem::perms kOwnersAlone =
    std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;

class UpkeepTest : public testing::Test {
 protected:
  UpkeepTest()
      : folder_(absl::StrCat(testing::TempDir(), "/upkeep_", getpid())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    const auto store = OpenStore(store_);
    EXPECT_TRUE(store.ok()) << store.status();
    for (const char* const name : {"a", "b"}) {
      const store::Entry entry{.result = MakeFounded(name),
                               .program = "module",
                               .last_used_day = 100};
      EXPECT_TRUE((*store)->Record({&entry, 1}).ok());
    }
  }
  ~UpkeepTest() override { std::filesystem::remove_all(folder_); }

  static nlohmann::json Json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const Outcome outcome = Command(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  }

  static std::filesystem::perms ModeOf(const std::string& file) {
    return std::filesystem::status(file).permissions();
  }

  const std::string folder_;
  const std::string store_ = folder_ + "/profiles.db";
  const std::string other_ = folder_ + "/other.db";
  const std::string file_ = folder_ + "/measurements";
};

TEST_F(UpkeepTest, MeasurementsGoFromStoreToStore) {
  const auto exported = Json({"profiles", "export", file_, "--store", store_});
  EXPECT_EQ(exported["measurements"], 2);
  const auto imported = Json({"profiles", "import", file_, "--store", other_});
  EXPECT_EQ(imported["recorded"], 2);
  EXPECT_EQ(imported["refused"], 0);
  EXPECT_THAT(Command({"profiles", "stats", "--store", other_}).out,
              HasSubstr("2 measured"));
  EXPECT_THAT(Command({"profiles", "import", file_, "--store", other_}).out,
              HasSubstr("imported 2 of 2 measurements"));
}

// With the same words as locally.
TEST_F(UpkeepTest, MeasurementsGoOutOfACoordinatorAndIntoAnother) {
  const auto from = OpenStore(store_), to = OpenStore(other_);
  const auto sender = StartLoneCoordinator(from->get()),
             taker = StartLoneCoordinator(to->get());
  const std::vector<std::string> words = {"profiles", "export", file_,
                                          "--coordinator", sender->address()};
  const Outcome exported = Command(words);
  const std::string bytes = *base::ReadFile(file_);
  EXPECT_EQ(exported.out,
            Command({"profiles", "export", file_, "--store", store_}).out)
      << exported.err;
  EXPECT_EQ(bytes, *base::ReadFile(file_));
  const auto imported =
      Json({"profiles", "import", file_, "--coordinator", taker->address()});
  EXPECT_EQ(imported["file"], file_);
  EXPECT_EQ(imported["recorded"], 2);
  EXPECT_EQ(imported["refused"], 0);
  EXPECT_EQ((*to)->Lookup({MakeKey("a"), MakeKey("b")})->size(), 2);

  ASSERT_TRUE(base::WriteFile(file_, "not measurements").ok());
  ExpectRefused(
      {"profiles", "import", file_, "--coordinator", taker->address()},
      "is no file of measurements");
  ExpectRefused({"profiles", "export", file_, "--coordinator",
                 sender->address(), "--store", store_},
                "--store");
  // A device is written to, not replaced.
  const std::string device = folder_ + "/device";
  std::filesystem::create_symlink("/dev/null", device);
  const Outcome written = Command(
      {"profiles", "export", device, "--coordinator", sender->address()});
  EXPECT_EQ(written.status, 0) << written.err;
  EXPECT_TRUE(std::filesystem::is_symlink(device));
  const Outcome nowhere = Command({"profiles", "export", folder_ + "/no/file",
                                   "--coordinator", sender->address()});
  EXPECT_NE(nowhere.status, 0);
  EXPECT_THAT(nowhere.err, HasSubstr("cannot write"));
}

TEST_F(UpkeepTest, GarbageIsSaidAndThenRemoved) {
  const std::string keep = folder_ + "/keep";
  ASSERT_TRUE(
      base::WriteFile(keep, absl::StrCat("# a plan\n\n ", MakeKey("a"), "\n"))
          .ok());
  const std::vector<std::string> words = {
      "profiles", "gc", "--max-unused-days", "30",
      "--keep",   keep, "--store",           store_};
  std::vector<std::string> dry = words;
  dry.emplace_back("--dry-run");
  EXPECT_EQ(Json(dry)["rows"], 1);
  EXPECT_THAT(Command(dry).out, HasSubstr("would remove 1 rows"));
  const auto report = Json(words);
  EXPECT_EQ(report["rows"], 1);
  EXPECT_EQ(report["kept"], 1);
  EXPECT_EQ(report["rows_left"], 1);
  EXPECT_EQ((*OpenStore(store_))->Lookup({MakeKey("a")})->size(), 1);
}

TEST_F(UpkeepTest, PlansKeepTheirRowsAndMigrate) {
  const auto plans = OpenPlans(store_);
  ASSERT_TRUE(plans.ok()) << plans.status();
  ASSERT_TRUE((*plans)->Add(v1::PlanRecord()).ok());
  v1::PlanUpdate done;
  done.set_state(v1::DONE);
  done.set_row_keys(store::PackKeys({MakeKey("b")}));
  ASSERT_TRUE(
      (*plans)
          ->Append(*(*plans)->BeginEpoch("test"), store::PlanId{1}, done)
          .ok());
  const auto report =
      Json({"profiles", "gc", "--max-unused-days", "30", "--store", store_});
  EXPECT_EQ(report["rows"], 1);
  EXPECT_EQ(report["kept"], 1);
  EXPECT_EQ((*OpenStore(store_))->Lookup({MakeKey("b")})->size(), 1);
  EXPECT_EQ(Json({"store", "migrate", store_, other_})["plans"], 1);
  EXPECT_EQ((*OpenPlans(other_))->Get(store::PlanId{1})->state(), v1::DONE);
}

TEST_F(UpkeepTest, ASoundStoreIsVerifiedAndCopied) {
  EXPECT_TRUE(
      Json({"profiles", "verify", "--store", store_})["damaged"].empty());
  const auto backup = Json({"store", "backup", file_, "--store", store_});
  EXPECT_EQ(backup["bytes"], std::filesystem::file_size(file_));
  EXPECT_EQ(ModeOf(file_), kOwnersAlone);
  EXPECT_TRUE(
      Json({"profiles", "verify", "--store", file_})["damaged"].empty());
  const auto migrated = Json({"store", "migrate", store_, other_});
  EXPECT_EQ(migrated["rows"], 2);
  EXPECT_EQ(migrated["programs"], 2);
  EXPECT_EQ(migrated["left"], 0);
  EXPECT_EQ(*(*OpenStore(other_))->LookupProgram(MakeKey("b")), "module");
}

// With the same words as locally.
TEST_F(UpkeepTest, ACoordinatorsStoreIsLookedAfter) {
  const auto store = OpenStore(store_);
  const auto plans = OpenPlans(store_);
  ASSERT_TRUE((*store)->Quarantine(MakeKey("q"), 3, "it crashes", "").ok());
  const auto coordinator =
      StartLoneCoordinator(store->get(), plans->get(), store_);
  const auto here = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--store", store_});
    return Command(words);
  };
  const auto there = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--coordinator", coordinator->address()});
    return Command(words);
  };
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{
           {"profiles", "stats"},
           {"profiles", "quarantine", "list"},
           {"profiles", "gc", "--max-unused-days", "30", "--dry-run"}}) {
    const Outcome asked = there(words);
    EXPECT_EQ(asked.status, 0) << asked.err;
    EXPECT_EQ(asked.out, here(words).out);
  }
  EXPECT_EQ(there({"profiles", "quarantine", "retry", MakeKey("q")}).status, 0);
  EXPECT_THAT(there({"profiles", "quarantine", "retry", MakeKey("q")}).err,
              HasSubstr(MakeKey("q")));
  EXPECT_THAT(there({"profiles", "gc"}).err, HasSubstr("gc needs a limit"));

  EXPECT_EQ(there({"store", "backup", file_}).status, 0);
  EXPECT_EQ(ModeOf(file_), kOwnersAlone);
  EXPECT_THAT(there({"store", "backup", file_}).err,
              HasSubstr("is there already"));
  EXPECT_EQ((*OpenStore(file_))->Lookup({MakeKey("a")})->size(), 1);

  // Summaries alone: who measured is an administrator's to know.
  const Outcome shown = there({"profiles", "show", MakeKey("a")});
  EXPECT_THAT(shown.out, HasSubstr(MakeKey("a") + ": measured, good"));
  EXPECT_THAT(here({"profiles", "show", MakeKey("a")}).out,
              testing::StartsWith(shown.out));
  EXPECT_EQ(there({"profiles", "show", MakeKey("a"), MakeKey("a")}).out,
            shown.out + "\n" + shown.out);
  const Outcome unknown = there({"profiles", "show", MakeKey("x")});
  EXPECT_EQ(unknown.out, MakeKey("x") + ": no row\n");
  EXPECT_THAT(unknown.err, HasSubstr("there is no row of key"));

  EXPECT_EQ(there({"plans", "quotas"}).out,
            "no namespace has a quota or a plan\n");
  EXPECT_EQ(there({"profiles", "gc", "--max-size", "1B"}).status, 0);
  EXPECT_TRUE((*store)->Lookup({MakeKey("a")})->empty());
}

TEST_F(UpkeepTest, DamageIsNamedAndFails) {
  std::string bytes = *base::ReadFile(store_);
  // The compressed module, which is too short to be compressed.
  const size_t at = bytes.find("module");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'M';
  ASSERT_TRUE(base::WriteFile(store_, bytes).ok());
  const Outcome outcome =
      Command({"profiles", "verify", "--store", store_, "--json"});
  EXPECT_EQ(outcome.status, 1);
  const auto report = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(report["damaged"].size(), 1);
  EXPECT_EQ(report["damaged"][0]["team"], "");
  EXPECT_THAT(report["damaged"][0]["damage"].get<std::string>(),
              HasSubstr("program is damaged"));
  EXPECT_THAT(outcome.err, HasSubstr("1 damaged rows were set aside"));
  EXPECT_EQ(Command({"profiles", "verify", "--store", store_}).out,
            "no row is damaged\n");
}

TEST_F(UpkeepTest, TheAuditLogIsRead) {
  EXPECT_EQ(Command({"store", "audit", "--store", store_}).out,
            "nothing was done or refused so far\n");
  const auto plans = OpenPlans(store_);
  ASSERT_TRUE(plans.ok()) << plans.status();
  std::vector<store::AuditRow> rows(3);
  for (int i = 0; i < 3; ++i) {
    rows[i].when = absl::FromUnixSeconds(1'000'000 + i);
    rows[i].coordinator = "a:1";
    rows[i].who = "token:1a";
    rows[i].what = "/meshwright.v1.Plans/Cancel";
    rows[i].object = absl::StrCat("plan-", i);
    rows[i].outcome = "admitted";
  }
  rows[2].outcome = "NOT_FOUND";
  rows[2].reason = "there is no plan-2";
  ASSERT_TRUE((*plans)->RecordAudit(rows).ok());
  const auto json = Json({"store", "audit", "--store", store_});
  ASSERT_EQ(json["entries"].size(), 3u);
  EXPECT_EQ(json["entries"][0]["object"], "plan-0");
  EXPECT_EQ(json["entries"][0]["time"], "1970-01-12T13:46:40.000000Z");
  EXPECT_EQ(json["entries"][2]["reason"], "there is no plan-2");
  const Outcome newest =
      Command({"store", "audit", "--limit", "1", "--store", store_});
  EXPECT_EQ(newest.status, 0) << newest.err;
  EXPECT_THAT(newest.out,
              HasSubstr("1970-01-12 13:46:42  a:1          token:1a  Cancel  "
                        "plan-2  NOT_FOUND: there is no plan-2\n"));
  EXPECT_THAT(newest.out, testing::Not(HasSubstr("plan-1")));
}

// A mistyped path is no new store, whose answers would all be empty.
TEST_F(UpkeepTest, VerbsThatReadMakeNoStore) {
  const std::string none = folder_ + "/none.db";
  const std::string plan = folder_ + "/plan.json";
  const std::string model = "tests/testdata/llama_tiny.hlo.pb";
  ASSERT_TRUE(
      base::WriteFile(plan, R"({"schema_version": 1, "feasible": true})").ok());
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{
           {"explain", plan},
           {"report", plan, "-o", folder_ + "/plan.html"},
           {"trace", plan, "-o", folder_ + "/plan.pftrace"},
           {"what-if", plan, "--device-memory", "1GiB"},
           {"profiles", "stats"},
           {"profiles", "show", MakeKey("a")},
           {"profiles", "coverage", model, "--mesh", "1x2"},
           {"profiles", "quarantine", "list"},
           {"profiles", "quarantine", "retry", MakeKey("a")}}) {
    std::vector<std::string> asked = words;
    asked.insert(asked.end(), {"--store", none});
    ExpectRefused(asked, "there is no store " + none + "; check the path");
    EXPECT_FALSE(std::filesystem::exists(none)) << words.front();
  }
}

TEST_F(UpkeepTest, BadInputIsOneSentence) {
  const std::string none = folder_ + "/none.db";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{
           {"profiles", "export", file_, "--store", none},
           {"profiles", "gc", "--max-age-days", "1", "--store", none},
           {"profiles", "verify", "--store", none},
           {"store", "audit", "--store", none},
           {"store", "backup", file_, "--store", none},
           {"store", "migrate", none, other_}}) {
    ExpectRefused(words, "there is no store " + none);
    EXPECT_FALSE(std::filesystem::exists(none));
  }
  ExpectRefused({"profiles", "gc", "--store", store_}, "--max-unused-days");
  ExpectRefused({"profiles", "gc", "--max-age-days", "-1"}, "--max-age-days");
  ExpectRefused({"profiles", "gc", "--max-size", "much"}, "\"much\"");
  ASSERT_TRUE(base::WriteFile(file_, "not a key\n").ok());
  ExpectRefused({"profiles", "gc", "--max-size", "1GiB", "--keep", file_,
                 "--store", store_},
                "line 1 of " + file_);
  ExpectRefused({"profiles", "import", file_, "--store", other_},
                "is no file of measurements");
  ExpectRefused({"store", "backup", file_, "--store", store_},
                "is there already");
  ExpectRefused({"store", "migrate", store_, store_}, "both stores are");
  ExpectRefused({"store", "migrate", store_, "postgres://u@h/d?colour=red"},
                "postgres://USER@HOST:PORT/DATABASE");
  ExpectRefused({"store", "migrate", store_, "postgres://u:secret@h/d"},
                "a password on the command line");
  ExpectRefused({"store"}, "store --help");
}

}  // namespace
}  // namespace meshwright::cli
