#include "coordinator/metrics/exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "coordinator/http/testing/ask_http.h"
#include "coordinator/metrics/testing/read_metrics.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::metrics {
namespace {

using testing::HasSubstr;
using testing::Not;

class DeadPlanStore : public store::MemoryPlanStore {
 public:
  absl::StatusOr<std::map<v1::PlanState, int64_t>> CountByState() override {
    return absl::UnavailableError("the server is gone");
  }
};

// Answers when the test says so.
class SilentPlanStore : public store::MemoryPlanStore {
 public:
  absl::StatusOr<std::map<v1::PlanState, int64_t>> CountByState() override {
    answers_.WaitForNotification();
    return MemoryPlanStore::CountByState();
  }
  void Answer() { answers_.Notify(); }

 private:
  absl::Notification answers_;
};

class ExporterTest : public testing::Test {
 protected:
  void Start(store::PlanStore* plans,
             absl::Duration patience = absl::InfiniteDuration()) {
    auto started = Exporter::Start(
        "127.0.0.1:0", {&clock_, &figures_, &queue_, plans, &profiles_,
                        [this] { return workers_; },
                        [] { return absl::Minutes(90); }, patience});
    ASSERT_TRUE(started.ok()) << started.status();
    exporter_ = *std::move(started);
  }
  std::string Read() { return ReadMetrics(exporter_->address()); }

  base::FakeClock clock_;
  Figures figures_;
  jobs::JobQueue queue_{&clock_, {.observer = &figures_}};
  store::MemoryPlanStore plans_;
  store::FakeProfileStore profiles_;
  std::vector<v1::WorkerSummary> workers_;
  std::unique_ptr<Exporter> exporter_;
};

TEST_F(ExporterTest, CountsThatAreKnownBeforehandBeginAtZero) {
  Start(&plans_);
  const std::string text = Read();
  for (const char* line :
       {"meshwright_lookups_total{result=\"hit\"} 0",
        "meshwright_lookups_total{result=\"miss\"} 0",
        "meshwright_results_total{outcome=\"transient\"} 0",
        "meshwright_compile_seconds_count 0",
        "meshwright_measure_seconds_count 0",
        "meshwright_plans{state=\"waiting\"} 0",
        "meshwright_workers{state=\"idle\"} 0", "meshwright_programs_waiting 0",
        "meshwright_programs_leased 0", "meshwright_store_up 1"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("\n", line, "\n")));
  }
}

TEST_F(ExporterTest, ReportsWhatHappened) {
  Start(&plans_);
  v1::ProfileResult result = store::MakeMeasured("a");
  result.mutable_measurement()->set_compile_ns(2'000'000'000);
  result.mutable_measurement()->clear_samples_ns();
  result.mutable_measurement()->add_samples_ns(1'000'000);
  result.mutable_measurement()->add_samples_ns(3'000'000);
  result.mutable_measurement()->set_executions_per_sample(100);
  figures_.AddResult(result);
  figures_.AddResult(store::MakeRow("b", v1::CRASHED));
  figures_.AddLookups(5, 2);
  figures_.AddPrediction("TPU v9", 1.1, 1.0);
  figures_.AddPrediction("TPU v9", std::numeric_limits<double>::infinity(), 1);
  figures_.EndRpc({"P/Get", false}, absl::StatusCode::kNotFound,
                  absl::Milliseconds(2));
  figures_.BeginRpc({"P/Watch", true});
  figures_.BeginRpc({"P/Watch", true});
  figures_.EndRpc({"P/Watch", true}, absl::StatusCode::kOk, absl::Hours(1));
  const std::string text = Read();
  for (const char* line :
       {"meshwright_lookups_total{result=\"hit\"} 5",
        "meshwright_lookups_total{result=\"miss\"} 2",
        "meshwright_results_total{outcome=\"measured\"} 1",
        "meshwright_results_total{outcome=\"crashed\"} 1",
        "meshwright_compile_seconds_sum 2",
        "meshwright_compile_seconds_count 1",
        "meshwright_measure_seconds_bucket{le=\"0.3\"} 0",
        "meshwright_measure_seconds_bucket{le=\"1\"} 1",
        "meshwright_prediction_error_ratio_bucket{device_kind=\"TPU "
        "v9\",le=\"0.05\"} 0",
        "meshwright_prediction_error_ratio_bucket{device_kind=\"TPU "
        "v9\",le=\"+Inf\"} 1",
        "meshwright_rpc_seconds_bucket{method=\"P/"
        "Get\",status=\"NOT_FOUND\",le=\"0.003\"} 1",
        "meshwright_rpc_streams{method=\"P/Watch\"} 1",
        "meshwright_rpc_streams_ended_total{method=\"P/Watch\",status=\"OK\"} "
        "1"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("\n", line, "\n")));
  }
  EXPECT_THAT(text,
              Not(HasSubstr("meshwright_rpc_seconds_count{method=\"P/W")));
}

TEST_F(ExporterTest, AsksForWhatThereIsAtEachReading) {
  Start(&plans_);
  EXPECT_THAT(Read(), HasSubstr("\nmeshwright_plans{state=\"queued\"} 0\n"));
  ASSERT_TRUE(plans_.Add(v1::PlanRecord()).ok());
  jobs::JobRequest request;
  request.request.add_programs()->set_key("a");
  queue_.Submit(request);
  const std::string text = Read();
  EXPECT_THAT(text, HasSubstr("\nmeshwright_plans{state=\"queued\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nmeshwright_programs_waiting 1\n"));
  EXPECT_THAT(text,
              HasSubstr("\nmeshwright_plans_longest_wait_seconds 5400\n"));
}

TEST_F(ExporterTest, WorkersThatAreToComeBackAreAway) {
  workers_.resize(3);
  workers_[0].set_state(v1::WorkerSummary::BUSY);
  workers_[1].set_state(v1::WorkerSummary::AWAY);
  workers_[2].set_state(v1::WorkerSummary::AWAY);
  Start(&plans_);
  const std::string text = Read();
  EXPECT_THAT(text, HasSubstr("\nmeshwright_workers{state=\"busy\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nmeshwright_workers{state=\"away\"} 2\n"));
}

TEST_F(ExporterTest, HasTheNewestCensusOfTheStore) {
  ASSERT_TRUE(profiles_.Record(store::MakeMeasured("a"), {}).ok());
  ASSERT_TRUE(
      profiles_.Record(store::MakeMeasured("b", 1000, v1::NOISY), {}).ok());
  ASSERT_TRUE(profiles_.Record(store::MakeRow("c", v1::CRASHED), {}).ok());
  ASSERT_TRUE(profiles_.RecordProgram(store::MakeKey("a"), "hlo").ok());
  Start(&plans_);
  EXPECT_THAT(Read(), Not(HasSubstr("meshwright_store_rows")));
  exporter_->AwaitCensus();
  const std::string text = Read();
  for (const char* line :
       {"meshwright_store_rows{outcome=\"measured\"} 2",
        "meshwright_store_rows{outcome=\"crashed\"} 1",
        "meshwright_store_measured_rows{quality=\"good\"} 1",
        "meshwright_store_measured_rows{quality=\"noisy\"} 1",
        "meshwright_store_programs 1", "meshwright_store_program_bytes 3"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("\n", line, "\n")));
  }
}

TEST_F(ExporterTest, AStoreThatDoesNotAnswerIsAFigure) {
  DeadPlanStore dead;
  Start(&dead);
  const std::string text = Read();
  EXPECT_THAT(text, HasSubstr("\nmeshwright_store_up 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("meshwright_plans{")));
  EXPECT_THAT(text, HasSubstr("\nmeshwright_programs_waiting 0\n"));
  exporter_.reset();  // before the store
}

TEST_F(ExporterTest, AStoreThatSaysNothingIsNotWaitedFor) {
  SilentPlanStore silent;
  Start(&silent, absl::Milliseconds(1));
  for (int reading = 0; reading < 2; ++reading) {
    const std::string text = Read();
    EXPECT_THAT(text, HasSubstr("\nmeshwright_store_up 0\n"));
    EXPECT_THAT(text, HasSubstr("\nmeshwright_workers{state=\"idle\"} 0\n"));
  }
  silent.Answer();
  exporter_.reset();  // before the store
}

TEST_F(ExporterTest, HasNothingElse) {
  Start(&plans_);
  for (const char* path : {"/", "/metrics/", "/metrics/../x"}) {
    EXPECT_THAT(http::AskHttp(exporter_->address(),
                              absl::StrCat("GET ", path, " HTTP/1.1\r\n\r\n")),
                testing::StartsWith("HTTP/1.1 404"));
  }
}

}  // namespace
}  // namespace meshwright::metrics
