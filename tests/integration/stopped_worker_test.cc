// A worker process that is stopped (SIGSTOP) in mid-batch, under the default
// settings: its programs run elsewhere, and what it says later is not heard.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/file.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/sqlite/sqlite_profile_store.h"
#include "tests/bench/figure.h"
#include "tests/integration/comes_true.h"
#include "tests/integration/process.h"

namespace meshwright::integration {
namespace {

using client::PlanningClient;
using testing::Contains;
using testing::Not;

// From the stop to the end of the plan.
constexpr absl::Duration kElsewhere = absl::Seconds(20);

class StoppedWorkerTest : public testing::Test {
 protected:
  StoppedWorkerTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~StoppedWorkerTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> Worker(const std::string& name) const {
    return {"made-up-worker", address_, name, folder_ + "/" + name};
  }
  // The keys that it measured, as they came.
  std::vector<std::string> ReadMeasured(const std::string& name) const {
    const auto text = base::ReadFile(folder_ + "/" + name);
    EXPECT_TRUE(text.ok()) << text.status();
    return absl::StrSplit(text.value_or(""), '\n', absl::SkipEmpty());
  }
  // Who measured the row of each key.
  std::map<std::string, std::string> ReadRows() const {
    std::map<std::string, std::string> workers;
    const auto store = sqlite::SqliteProfileStore::Open(folder_ + "/store");
    EXPECT_TRUE(store.ok()) << store.status();
    if (!store.ok()) return workers;
    const absl::Status read = (*store)->ForEach(
        [&](const v1::ProfileResult& row, const store::Origin&) {
          EXPECT_TRUE(workers.emplace(row.key(), row.worker()).second);
          return true;
        });
    EXPECT_TRUE(read.ok()) << read;
    return workers;
  }

  const std::string folder_ =
      absl::StrCat(testing::TempDir(), "/stopped.", getpid());
  const std::string address_ = absl::StrCat("unix:", folder_, "/socket");
};

bool HasWorker(PlanningClient& client, const std::string& name) {
  const auto listed = client.ListWorkers();
  return listed.ok() &&
         std::any_of(listed->workers().begin(), listed->workers().end(),
                     [&](const v1::WorkerSummary& worker) {
                       return worker.id() == name &&
                              worker.state() == v1::WorkerSummary::IDLE;
                     });
}

TEST_F(StoppedWorkerTest, ItsProgramsRunElsewhereAndItsLateWordsAreNotHeard) {
  Process coordinator({"meshwright-coordinator", "--json", "--listen", address_,
                       "--store", folder_ + "/store"});
  ASSERT_NE(coordinator.ReadLine(), "");
  // It measures its third program and stops before it hands it in.
  Process sleeper(Worker("sleeper"),
                  {"MESHWRIGHT_FAILPOINT=worker.measured:3:stop"});
  const auto client = PlanningClient::Connect(address_);
  ASSERT_TRUE(client.ok()) << client.status();
  v1::SubmitPlanRequest request;
  v1::PlanRequest& plan = *request.mutable_request();
  plan.set_model_name("gpt2_tiny");
  plan.set_hlo_module(segmenter::ReadSample("gpt2_tiny"));
  plan.mutable_mesh()->add_shape(1);
  plan.mutable_mesh()->add_shape(2);
  const auto submitted = (*client)->SubmitPlan(request);
  ASSERT_TRUE(submitted.ok()) << submitted.status();

  ASSERT_TRUE(sleeper.AwaitStopped());
  const absl::Time stopped = absl::Now();
  const Process other(Worker("other"));
  v1::WatchPlanRequest watch;
  watch.set_id(submitted->id());
  v1::PlanUpdate last;
  const absl::Status watched = (*client)->WatchPlan(
      watch, [&](const v1::PlanUpdate& update) { last = update; }, {});
  EXPECT_TRUE(watched.ok()) << watched;
  EXPECT_EQ(last.state(), v1::DONE) << last.reason();
  EXPECT_EQ(last.plan().programs().failed(), 0);
  const absl::Duration took = absl::Now() - stopped;
  EXPECT_LE(took, kElsewhere);
  PrintFigure(
      "a worker stopped (SIGSTOP) in mid-batch: until its plan is done "
      "elsewhere",
      "≤ 20 s", absl::StrFormat("%.1f s", absl::ToDoubleSeconds(took)));

  sleeper.Signal(SIGCONT);
  ASSERT_TRUE(ComesTrue([&] { return HasWorker(**client, "sleeper"); }));
  sleeper.Signal(SIGTERM);
  EXPECT_EQ(sleeper.Wait(), 0) << sleeper.Errors();
  coordinator.Signal(SIGTERM);
  EXPECT_EQ(coordinator.Wait(), 0) << coordinator.Errors();

  const std::vector<std::string> slept = ReadMeasured("sleeper");
  const std::vector<std::string> measured = ReadMeasured("other");
  auto rows = ReadRows();
  ASSERT_GE(slept.size(), 3u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(rows[slept[i]], "sleeper");
    EXPECT_THAT(measured, Not(Contains(slept[i])));
  }
  for (const std::string& key : measured) {
    EXPECT_EQ(rows[key], "other");
    EXPECT_THAT(measured, Contains(key).Times(1));
  }
  EXPECT_THAT(measured, Contains(slept[2]).Times(1));
  EXPECT_EQ(rows.size(), measured.size() + 2);
}

}  // namespace
}  // namespace meshwright::integration
