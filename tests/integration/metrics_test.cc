// The metrics of a coordinator that works: over real gRPC and HTTP, in one
// process, with programs that FakeBatches runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/daemon/coordinator.h"
#include "coordinator/metrics/figures.h"
#include "coordinator/metrics/testing/read_metrics.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"
#include "tests/integration/comes_true.h"
#include "tests/integration/fake_batches.h"
#include "worker/service/worker.h"

namespace meshwright::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kKnown[] = "known";
constexpr char kUnknown[] = "unknown";

v1::DeviceSpec Two() {
  v1::DeviceSpec device;
  device.set_platform("cpu");
  device.set_device_count(2);
  return device;
}

// A coordinator that makes plans by looking two keys up, and a worker.
class MetricsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(profiles_.Record(store::MakeMeasured(kKnown), {}).ok());
    profiles_.Observe(&figures_);
    daemon::Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.listen_address = "127.0.0.1:0";
    dependencies.profiles = &profiles_;
    dependencies.figures = &figures_;
    dependencies.metrics_address = "127.0.0.1:0";
    dependencies.plan =
        [this](const v1::PlanRequest&, jobs::Measurer*,
               const jobs::ProgressFunction&) -> absl::StatusOr<v1::Plan> {
      const std::string keys[] = {store::MakeKey(kKnown),
                                  store::MakeKey(kUnknown)};
      const auto found = profiles_.Lookup(keys);
      if (!found.ok()) return found.status();
      return v1::Plan();
    };
    coordinator_ = std::make_unique<daemon::Coordinator>(dependencies);
    ASSERT_TRUE(coordinator_->Start().ok());
    worker::Worker::Dependencies worker;
    worker.coordinator_address = coordinator_->address();
    worker.name = "a";
    worker.host = "farm";
    worker.devices = Two();
    worker.run_batch = batches_.function();
    worker_ = std::make_unique<worker::Worker>(std::move(worker));
    ASSERT_TRUE(worker_->Start().ok());
    ASSERT_TRUE(coordinator_->queue().FindWorker(Two(), {}).ok());
    auto client = client::PlanningClient::Connect(coordinator_->address());
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  // A step of 1 us that was predicted to take 1.03 us.
  void Compare() {
    v1::CompareRequest request;
    *request.mutable_device() = Two();
    request.mutable_reference()->set_key("reference");
    request.add_programs()->set_key("step");
    request.add_programs()->set_key("crashed");
    request.mutable_programs(1)->set_label("crash");
    (*request.mutable_predicted_seconds())["step"] = 1.03e-6;
    (*request.mutable_predicted_seconds())["crashed"] = 1;
    (*request.mutable_predicted_seconds())["another"] = 1;
    const absl::Status compared =
        client_->Compare(request, nullptr, std::stop_token());
    ASSERT_TRUE(compared.ok()) << compared;
  }

  void MakePlan() {
    v1::PlanRequest request;
    request.set_hlo_module("a module");
    const auto plan = client_->MakePlan(request, nullptr, {});
    ASSERT_TRUE(plan.ok()) << plan.status();
  }

  // Until a line is there: a call ends for its client before its figures.
  std::string AwaitLine(const std::string& line) {
    std::string text;
    EXPECT_TRUE(ComesTrue([&] {
      text = metrics::ReadMetrics(coordinator_->metrics_address());
      return text.empty() || text.find("\n" + line) != std::string::npos;
    })) << line;
    return text;
  }

  base::SystemClock clock_;
  metrics::Figures figures_;
  store::FakeProfileStore profiles_;
  FakeBatches batches_;
  std::unique_ptr<daemon::Coordinator> coordinator_;
  std::unique_ptr<worker::Worker> worker_;
  std::unique_ptr<client::PlanningClient> client_;
};

TEST_F(MetricsTest, CallsAreCountedByMethodAndStatus) {
  EXPECT_TRUE(client_->ListJobs().ok());
  EXPECT_TRUE(client_->ListJobs().ok());
  EXPECT_TRUE(absl::IsNotFound(client_->GetPlan("plan-7").status()));
  MakePlan();
  AwaitLine(
      "meshwright_rpc_seconds_count{method=\"meshwright.v1.Planning/"
      "ListJobs\",status=\"OK\"} 2\n");
  AwaitLine(
      "meshwright_rpc_seconds_count{method=\"meshwright.v1.Plans/"
      "Get\",status=\"NOT_FOUND\"} 1\n");
  const std::string text = AwaitLine(
      "meshwright_rpc_streams_ended_total{method=\"meshwright.v1.Plans/"
      "Watch\",status=\"OK\"} 1\n");
  EXPECT_THAT(text, HasSubstr("\nmeshwright_rpc_streams{method=\"meshwright.v1."
                              "Workers/Attach\"} 1\n"));
}

TEST_F(MetricsTest, PlansWorkersLookupsAndResultsAreCounted) {
  MakePlan();
  Compare();
  const std::string text = AwaitLine("meshwright_plans{state=\"done\"} 1\n");
  for (const char* line : {"meshwright_lookups_total{result=\"hit\"} 1",
                           "meshwright_lookups_total{result=\"miss\"} 1",
                           "meshwright_results_total{outcome=\"measured\"} 1",
                           "meshwright_results_total{outcome=\"crashed\"} 1"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("\n", line, "\n")));
  }
  AwaitLine("meshwright_workers{state=\"idle\"} 1\n");
}

// Attached to a coordinator of before.
TEST_F(MetricsTest, AWorkerThatIsToComeBackIsAway) {
  store::MemoryPlanStore plans;
  const auto epoch = plans.BeginEpoch("before");
  ASSERT_TRUE(epoch.ok()) << epoch.status();
  store::WorkerChanges changes;
  changes.written.resize(1);
  changes.written[0].worker = "b";
  changes.written[0].seen = clock_.Now();
  ASSERT_TRUE(plans.SetWorkers(*epoch, changes).ok());
  daemon::Coordinator::Dependencies dependencies;
  dependencies.clock = &clock_;
  dependencies.listen_address = "127.0.0.1:0";
  dependencies.plans = &plans;
  dependencies.profiles = &profiles_;
  dependencies.figures = &figures_;
  dependencies.metrics_address = "127.0.0.1:0";
  daemon::Coordinator next(std::move(dependencies));
  ASSERT_TRUE(next.Start().ok());
  EXPECT_THAT(metrics::ReadMetrics(next.metrics_address()),
              HasSubstr("\nmeshwright_workers{state=\"away\"} 1\n"));
}

TEST_F(MetricsTest, ErrorsOfPredictionsAreCountedByKindOfDevice) {
  Compare();
  const std::string text =
      metrics::ReadMetrics(coordinator_->metrics_address());
  for (const char* bucket : {"0.02\"} 0", "0.05\"} 1", "+Inf\"} 1"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat(
                          "\nmeshwright_prediction_error_ratio_bucket{device_"
                          "kind=\"fake\",le=\"",
                          bucket, "\n")));
  }
}

TEST_F(MetricsTest, NamesNoPlanModelWorkerOrProgram) {
  MakePlan();
  Compare();
  const std::string text =
      metrics::ReadMetrics(coordinator_->metrics_address());
  for (const char* name : {"plan-1", "farm", "\"a\"", "step\""}) {
    EXPECT_THAT(text, Not(HasSubstr(name)));
  }
}

TEST_F(MetricsTest, TheyAreGoneWithTheCoordinator) {
  const std::string address = coordinator_->metrics_address();
  coordinator_->Stop();
  EXPECT_EQ(coordinator_->metrics_address(), "");
  EXPECT_NE(address, "");
}

// ---- deploy/prometheus and the page about it

std::string FileText(const std::string& path) {
  const auto text = base::ReadFile(path);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

// The names in `text` that `pattern` has in its first group.
std::set<std::string> FindNames(const std::string& text,
                                const std::string& pattern) {
  const std::regex names(pattern);
  std::set<std::string> found;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), names);
       it != std::sregex_iterator(); ++it) {
    found.insert((*it)[1]);
  }
  return found;
}

// Runs promtool in deploy/prometheus. Empty: it found nothing wrong.
std::string RunPromtool(const std::string& arguments) {
  FILE* const pipe = popen(
      ("cd deploy/prometheus && promtool " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "promtool could not be started";
  std::string said;
  char buffer[4096];
  for (size_t got = 0; (got = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    said.append(buffer, got);
  }
  return pclose(pipe) == 0 ? "" : absl::StrCat("promtool failed: ", said);
}

bool HasPromtool() {
  return std::system("command -v promtool > /dev/null") == 0;
}

class MetricsFilesTest : public MetricsTest {
 protected:
  // A reading with every figure that there is.
  std::string ReadAll() {
    MakePlan();
    Compare();
    EXPECT_TRUE(client_->ListJobs().ok());
    AwaitLine("meshwright_rpc_seconds_count");
    AwaitLine("meshwright_rpc_streams_ended_total");
    return AwaitLine("meshwright_store_rows");
  }
};

TEST_F(MetricsFilesTest, RulesAndDashboardNameFiguresThatThereAre) {
  const std::string text = ReadAll();
  const auto there = FindNames(text, "\n(meshwright_[a-z_]+)[ {]");
  for (const char* file : {"alerts.yml", "alerts_test.yml", "dashboard.json"}) {
    const auto named =
        FindNames(FileText(absl::StrCat("deploy/prometheus/", file)),
                  "\\b(meshwright_[a-z_]+)");
    EXPECT_GT(named.size(), 5) << file;
    for (const std::string& name : named) {
      EXPECT_TRUE(there.contains(name)) << file << " names " << name;
    }
  }
}

TEST_F(MetricsFilesTest, ThePageHasEveryFigure) {
  const auto there = FindNames(ReadAll(), "# TYPE (meshwright_[a-z_]+) ");
  const auto listed =
      FindNames(FileText("docs/operating/metrics.md"), "`(meshwright_[a-z_]+)");
  EXPECT_EQ(there, listed);
}

TEST_F(MetricsFilesTest, PromtoolAcceptsThem) {
  if (!HasPromtool()) {
    GTEST_SKIP()
        << "promtool, of Debian's package prometheus, is not installed";
  }
  EXPECT_EQ(RunPromtool("check rules alerts.yml"), "");
  EXPECT_EQ(RunPromtool("check config prometheus.yml"), "");
  EXPECT_EQ(RunPromtool("test rules alerts_test.yml"), "");
  const std::string path = testing::TempDir() + "/metrics_test.txt";
  ASSERT_TRUE(base::WriteFile(path, ReadAll()).ok());
  EXPECT_EQ(RunPromtool("check metrics < " + path), "");
  ASSERT_TRUE(base::WriteFile(path, "meshwright_x 1\nmeshwright_x 2\n").ok());
  EXPECT_THAT(RunPromtool("check metrics < " + path), HasSubstr("failed"));
}

TEST_F(MetricsFilesTest, PrometheusUnderstandsThePanelsOfTheDashboard) {
  const auto board = nlohmann::json::parse(
      FileText("deploy/prometheus/dashboard.json"), nullptr, false);
  ASSERT_TRUE(board.is_object());
  // Each as a rule, which promtool can check.
  std::string rules = "groups:\n- name: panels\n  rules:\n";
  std::set<int> ids;
  for (const auto& panel : board["panels"]) {
    EXPECT_TRUE(ids.insert(panel["id"].get<int>()).second);
    EXPECT_FALSE(panel["targets"].empty()) << panel["title"];
    for (const auto& target : panel["targets"]) {
      absl::StrAppend(&rules, "  - record: panel_", panel["id"].get<int>(),
                      target["refId"].get<std::string>(),
                      "\n    expr: ", target["expr"].dump(), "\n");
    }
  }
  EXPECT_GE(ids.size(), 10);
  if (!HasPromtool()) {
    GTEST_SKIP()
        << "promtool, of Debian's package prometheus, is not installed";
  }
  const std::string path = testing::TempDir() + "/metrics_test_panels.yml";
  ASSERT_TRUE(base::WriteFile(path, rules).ok());
  EXPECT_EQ(RunPromtool("check rules " + path), "");
}

}  // namespace
}  // namespace meshwright::integration
