// The metrics of a coordinator that works: over real gRPC and HTTP, in one
// process, with programs that FakeBatches runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "coordinator/daemon/coordinator.h"
#include "coordinator/metrics/figures.h"
#include "coordinator/metrics/testing/read_metrics.h"
#include "coordinator/service/planning_client.h"
#include "profiledb/store/observed_profile_store.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"
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
    daemon::Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.listen_address = "127.0.0.1:0";
    dependencies.profiles = &observed_;
    dependencies.figures = &figures_;
    dependencies.metrics_address = "127.0.0.1:0";
    dependencies.plan =
        [this](const v1::PlanRequest&, jobs::Measurer*,
               const jobs::ProgressFunction&) -> absl::StatusOr<v1::Plan> {
      const std::string keys[] = {store::MakeKey(kKnown),
                                  store::MakeKey(kUnknown)};
      const auto found = observed_.Lookup(keys);
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
    auto client = service::PlanningClient::Connect(coordinator_->address());
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
    while (true) {
      std::string text = metrics::ReadMetrics(coordinator_->metrics_address());
      if (text.empty() || text.find("\n" + line) != std::string::npos) {
        return text;
      }
      std::this_thread::yield();
    }
  }

  base::SystemClock clock_;
  metrics::Figures figures_;
  store::FakeProfileStore profiles_;
  store::ObservedProfileStore observed_{&profiles_, &figures_};
  FakeBatches batches_;
  std::unique_ptr<daemon::Coordinator> coordinator_;
  std::unique_ptr<worker::Worker> worker_;
  std::unique_ptr<service::PlanningClient> client_;
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
      "meshwright_rpc_streams_ended_total{method=\"meshwright.v1.Planning/"
      "MakePlan\",status=\"OK\"} 1\n");
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

}  // namespace
}  // namespace meshwright::integration
