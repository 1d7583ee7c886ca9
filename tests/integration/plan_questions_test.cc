// Questions to a coordinator about its plans are answered as the verbs answer
// them from files: the same plans, over the store of a made-up machine. A
// worker with that machine measures for the answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "cli/testing/outcome.h"
#include "cli/text/plan_text.h"
#include "coordinator/answers/answers.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/daemon/coordinator.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/stages/staged_plan.h"
#include "profiledb/open.h"
#include "tests/integration/comes_true.h"
#include "worker/service/worker.h"

namespace meshwright {
namespace {

using cli::CommandJson;
using cli::ExpectRefused;
using nlohmann::json;
using testing::HasSubstr;
using worker::Worker;

class PlanQuestionsTest : public testing::Test {
 protected:
  PlanQuestionsTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    measurer_.machine = 7;
    store_ = *store::OpenProfileStore(Path("store"));
  }

  std::string Path(const std::string& name) const {
    return folder_ + "/" + name;
  }

  void Start(plans::PlanQuestions questions) {
    daemon::Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.listen_address = "unix:" + Path("socket");
    dependencies.profiles = store_.get();
    dependencies.questions = std::move(questions);
    dependencies.plan = [this](const v1::PlanRequest& request,
                               jobs::Measurer* measurer,
                               const jobs::ProgressFunction& progress)
        -> absl::StatusOr<v1::Plan> {
      if (pins_devices_) {
        const auto pinned = measurer->Describe(v1::DeviceSpec());
        if (!pinned.ok()) return pinned.status();
      }
      return request.has_stages()
                 ? stages::MakeStagedPlan(request, {store_.get(), &measurer_},
                                          progress)
                 : planning::MakePlan(request, {store_.get(), &measurer_},
                                      progress);
    };
    coordinator_ =
        std::make_unique<daemon::Coordinator>(std::move(dependencies));
    ASSERT_TRUE(coordinator_->Start().ok());
    client_ = *client::PlanningClient::Connect(coordinator_->address());
  }

  // Submits one and waits for its end; writes NAME.json. Its id.
  std::string Plan(const std::string& name, int64_t limit = 0,
                   int micro_batches = 0) {
    v1::SubmitPlanRequest request;
    v1::PlanRequest& plan = *request.mutable_request();
    plan.set_hlo_module(*base::ReadFile("tests/testdata/gpt2_2l.hlo.pb"));
    plan.set_model_name("gpt2_2l");
    plan.mutable_mesh()->add_shape(1);
    plan.mutable_mesh()->add_shape(2);
    plan.set_device_memory_bytes(limit);
    if (micro_batches > 0) {
      plan.mutable_stages()->set_micro_batches(micro_batches);
      plan.mutable_stages()->set_host_bytes_per_second(1e12);
    }
    std::string id = client_->SubmitPlan(request)->id();
    v1::WatchPlanRequest watch;
    watch.set_id(id);
    EXPECT_TRUE(
        client_->WatchPlan(watch, [](const v1::PlanUpdate&) {}, {}).ok());
    const v1::PlanRecord record = *client_->GetPlan(id);
    EXPECT_TRUE(record.has_plan()) << record.reason();
    peak_bytes_ = record.plan().predicted().peak_bytes();
    step_seconds_ = record.plan().predicted().step_seconds();
    EXPECT_TRUE(
        base::WriteFile(Path(name), cli::PlanToJsonText(record.plan())).ok());
    return id;
  }

  // Until it is there, or has left.
  void AwaitWorker(const std::string& name, bool is_there) {
    const auto has_it = [&] {
      const auto workers = coordinator_->queue().Workers();
      return std::any_of(workers.begin(), workers.end(), [&](const auto& it) {
        return it.id() == name && it.state() == v1::WorkerSummary::IDLE;
      });
    };
    ASSERT_TRUE(integration::ComesTrue([&] { return has_it() == is_there; }))
        << name;
  }

  // One with the machine, or with other devices.
  std::unique_ptr<Worker> StartWorker(const std::string& device_kind = "cpu") {
    Worker::Dependencies dependencies;
    dependencies.coordinator_address = coordinator_->address();
    dependencies.name = device_kind;
    dependencies.host = "here";
    dependencies.devices.set_platform("cpu");
    dependencies.devices.set_device_count(2);
    dependencies.run_batch = [this, device_kind](
                                 const v1::RunnerRequest& request,
                                 const worker::OnRunnerEvent& on_event,
                                 const std::stop_token&) {
      v1::RunnerEvent event;
      v1::RunnerEvent::Ready& ready = *event.mutable_ready();
      ready.set_platform_name("cpu");
      ready.set_platform_version("1");
      ready.set_device_kind(device_kind);
      ready.set_device_count(2);
      on_event(event);
      if (request.has_sequence()) {
        auto& all = *event.mutable_compared()->mutable_relative_differences();
        all.Resize(request.sequence().results_size(), difference_);
        on_event(event);
      }
      return measurer_.Measure(
          request,
          [&](const v1::ProfileResult& result) {
            *event.mutable_result() = result;
            on_event(event);
            return absl::OkStatus();
          },
          nullptr);
    };
    auto worker = std::make_unique<Worker>(std::move(dependencies));
    EXPECT_TRUE(worker->Start().ok());
    AwaitWorker(device_kind, true);
    return worker;
  }

  absl::StatusOr<v1::ValidationReport> Validate(
      const v1::ValidatePlanRequest& request,
      const std::stop_token& stop = {}) {
    absl::StatusOr<v1::ValidationReport> report =
        absl::InternalError("there was no report");
    const absl::Status status = client_->ValidatePlan(
        request,
        [&](const v1::ValidatePlanEvent& event) {
          if (event.has_report()) report = event.report();
          if (event.has_staged_report()) staged_ = event.staged_report();
          progress_ += event.has_progress() ? 1 : 0;
        },
        stop);
    if (!status.ok()) return status;
    return report;
  }
  absl::Status ValidateStatus(const std::string& id, int random_plans = 0) {
    v1::ValidatePlanRequest request;
    request.set_id(id);
    request.set_random_plans(random_plans);
    return Validate(request).status();
  }

  json Ask(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "plans");
    arguments.push_back("--coordinator");
    arguments.push_back(coordinator_->address());
    return CommandJson(std::move(arguments));
  }

  const std::string folder_ = testing::TempDir() + "/plan_questions";
  base::SystemClock clock_;
  jobs::FakeMeasurer measurer_;
  bool pins_devices_ = false;  // plans are for those of the worker attached
  int64_t peak_bytes_ = 0;
  double step_seconds_ = 0;
  double difference_ = 0;              // of all results of sequences
  v1::StagedValidationReport staged_;  // of a validation
  int progress_ = 0;                   // of a validation, how often it was said
  std::unique_ptr<store::ProfileStore> store_;
  std::unique_ptr<daemon::Coordinator> coordinator_;
  std::unique_ptr<client::PlanningClient> client_;
};

TEST_F(PlanQuestionsTest, AnswersAreThoseOfTheVerbs) {
  Start(answers::MakePlanQuestions(store_.get()));
  const std::string a = Plan("a.json");
  const std::string limit = std::to_string(peak_bytes_ * 9 / 10);
  const std::string b = Plan("b.json", peak_bytes_ * 9 / 10);

  EXPECT_EQ(Ask({"explain", a})["choices"],
            CommandJson({"explain", Path("a.json"), "--store",
                         Path("store")})["choices"]);

  const json difference = CommandJson({"diff", Path("a.json"), Path("b.json")});
  EXPECT_EQ(Ask({"diff", a, b}), difference);
  const auto differs = client_->DiffPlans(a, b);
  ASSERT_TRUE(differs.ok()) << differs.status();
  EXPECT_EQ(differs->segments_size(),
            static_cast<int>(difference["segments"].size()));
  EXPECT_FALSE(differs->segments().empty());

  json wanted = CommandJson({"what-if", Path("a.json"), "--store",
                             Path("store"), "--device-memory", limit});
  json answer = Ask({"what-if", a, "--device-memory", limit});
  wanted.erase("difference");
  wanted.erase("seconds");
  answer.erase("seconds");
  EXPECT_EQ(answer, wanted);
  EXPECT_EQ(Ask({"what-if", a, "--devices", "4"})["mesh"],
            json::parse("[1,4]"));
}

TEST_F(PlanQuestionsTest, ModulesAreThoseOfTheVerb) {
  Start(answers::MakePlanQuestions(store_.get()));
  const std::string id = Plan("a.json");
  CommandJson({"export", "tests/testdata/gpt2_2l.hlo.pb", Path("a.json"), "-o",
               Path("verb.hlo.pb")});
  const json said = Ask({"modules", id, "-o", Path("service.hlo.pb")});
  EXPECT_EQ(said["bytes"], std::filesystem::file_size(Path("verb.hlo.pb")));
  const auto module = base::ReadFile(Path("service.hlo.pb"));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(*module == *base::ReadFile(Path("verb.hlo.pb")));
  EXPECT_EQ(client_->ExportPlan("plan-99", {}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(PlanQuestionsTest, AListSaysWhetherThereAreOlderPlans) {
  Start(answers::MakePlanQuestions(store_.get()));
  const std::string a = Plan("a.json");
  const std::string b = Plan("b.json", peak_bytes_ * 9 / 10);
  const json newest = Ask({"list", "--limit", "1"});
  ASSERT_EQ(newest["plans"].size(), 1);
  EXPECT_EQ(newest["plans"][0]["id"], b);
  EXPECT_EQ(newest["more"], true);
  const json all = Ask({"list", "--limit", "2"});
  ASSERT_EQ(all["plans"].size(), 2);
  EXPECT_EQ(all["plans"][1]["id"], a);
  EXPECT_EQ(all["more"], false);
}

TEST_F(PlanQuestionsTest, WhatCannotBeAnsweredIsOneSentence) {
  Start(answers::MakePlanQuestions(store_.get()));
  const std::string a = Plan("a.json");
  const std::string at = coordinator_->address();
  ExpectRefused({"plans", "explain", "plan-99", "--coordinator", at},
                "plan-99");
  ExpectRefused({"plans", "what-if", a, "--mesh", "2x2", "--coordinator", at},
                "axis 0 has one device");
  v1::WhatIfChange change;
  change.set_devices(-4);
  EXPECT_EQ(client_->AskWhatIf(a, change).status().code(),
            absl::StatusCode::kInvalidArgument);
  change.set_devices(0);
  change.mutable_mesh()->add_shape(0);
  EXPECT_EQ(client_->AskWhatIf(a, change).status().code(),
            absl::StatusCode::kInvalidArgument);
  change.clear_mesh();
  change.set_device_memory_bytes(-1);
  EXPECT_EQ(client_->AskWhatIf(a, change).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(PlanQuestionsTest, AValidationRunsOnAWorkerAndReports) {
  Start(answers::MakePlanQuestions(store_.get()));
  const std::string a = Plan("a.json");
  const auto worker = StartWorker();
  v1::ValidatePlanRequest request;
  request.set_id(a);
  request.set_random_plans(1);
  const auto report = Validate(request);
  ASSERT_TRUE(report.ok()) << report.status();
  const v1::ValidatedPlan& chosen = report->plans(0);
  EXPECT_EQ(chosen.name(), "chosen");
  EXPECT_EQ(chosen.predicted_seconds(), step_seconds_);
  EXPECT_GT(chosen.measured_seconds(), 0);
  EXPECT_TRUE(chosen.has_error_as_planned());
  EXPECT_TRUE(chosen.has_error_now());
  EXPECT_EQ(report->plans().rbegin()->name(), "random 1");
  EXPECT_GT(progress_, report->plans_size());

  const json shown = Ask({"validate", a, "--random", "1"});
  EXPECT_EQ(shown["chosen"], "chosen");
  EXPECT_EQ(shown["plans"].size(), report->plans_size());
  EXPECT_FALSE(shown["plans"][0].contains("failure"));
}

TEST_F(PlanQuestionsTest, AValidationOfStagesRunsOnAWorkerToo) {
  Start(answers::MakePlanQuestions(store_.get()));
  const std::string a = Plan("a.json", 0, 8);
  const auto worker = StartWorker();
  const absl::Status without_report = ValidateStatus(a);
  EXPECT_EQ(without_report.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(staged_.micro_batches(), 8);
  EXPECT_FALSE(staged_.has_failure()) << staged_.failure();
  EXPECT_GT(staged_.step().simulated_seconds(), 0);
  EXPECT_GT(staged_.machine_drift(), 0);
  EXPECT_EQ(staged_.max_relative_difference(), 0);
  EXPECT_GT(progress_, 0);
  EXPECT_EQ(Ask({"validate", a})["micro_batches"], 8);
  EXPECT_EQ(ValidateStatus(a, 1).code(), absl::StatusCode::kInvalidArgument);

  difference_ = 0.5;
  const cli::Outcome wrong = cli::Command(
      {"plans", "validate", a, "--coordinator", coordinator_->address()});
  EXPECT_NE(wrong.status, 0);
  EXPECT_THAT(wrong.err, HasSubstr("differs from that of one device"));
}

TEST_F(PlanQuestionsTest, AValidationRunsOnThePlansDevicesAlone) {
  pins_devices_ = true;
  Start(answers::MakePlanQuestions(store_.get()));
  std::string a;
  {
    const auto worker = StartWorker();
    a = Plan("a.json");
  }
  AwaitWorker("cpu", false);
  const auto other = StartWorker("another kind");
  const absl::Status status = ValidateStatus(a);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("other devices"));
  const auto worker = StartWorker();
  EXPECT_TRUE(ValidateStatus(a).ok());
}

TEST_F(PlanQuestionsTest, AValidationThatCannotRunIsOneSentence) {
  Start(answers::MakePlanQuestions(store_.get()));
  const std::string a = Plan("a.json");
  EXPECT_EQ(ValidateStatus("plan-99").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ValidateStatus("x").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ValidateStatus(a, -1).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ValidateStatus(a, 1001).code(), absl::StatusCode::kInvalidArgument);
  v1::ValidatePlanRequest request;
  request.set_id(a);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(Validate(request, stop.get_token()).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_F(PlanQuestionsTest, RowsAreMeasuredAgainOnAWorker) {
  Start(answers::MakePlanQuestions(store_.get()));
  const std::string a = Plan("a.json");
  const auto worker = StartWorker();
  const auto remeasure = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"profiles", "remeasure", a});
    words.insert(words.end(), {"--coordinator", coordinator_->address()});
    return CommandJson(std::move(words));
  };
  const json good = remeasure({});
  EXPECT_TRUE(good["rows"].empty());
  EXPECT_GT(good["left"], 0);
  const json all = remeasure({"--all"});
  EXPECT_EQ(all["rows"].size(), good["left"]);
  EXPECT_EQ(all["left"], 0);
  const std::string key = all["rows"][0]["key"];
  EXPECT_EQ(store_->LookupKept(key, store::kSharedPool)->size(),
            all["rows"][0]["measurements"]);
  EXPECT_GT(all["rows"][0]["seconds_after"], 0);
  const json one = remeasure({"--row", key});
  ASSERT_EQ(one["rows"].size(), 1);
  EXPECT_EQ(one["rows"][0]["key"], key);
  EXPECT_EQ(one["rows"][0]["measurements"],
            all["rows"][0]["measurements"].get<int>() + 1);
  EXPECT_EQ(one["left"], good["left"].get<int>() - 1);
  const std::string at = coordinator_->address();
  ExpectRefused(
      {"profiles", "remeasure", a, "--row", "0123", "--coordinator", at},
      "0123");
  ExpectRefused({"profiles", "remeasure", "plan-99", "--coordinator", at},
                "plan-99");
  ExpectRefused(
      {"profiles", "remeasure", a, "--coordinator", at, "--model", "model"},
      "--model");
}

TEST_F(PlanQuestionsTest, RowsOfEveryMeshOfAStageAreMeasuredAgain) {
  Start(answers::MakePlanQuestions(store_.get()));
  const std::string a = Plan("a.json", 0, 8);
  const auto worker = StartWorker();
  const v1::Plan plan = client_->GetPlan(a)->plan();
  ASSERT_TRUE(plan.has_pipeline());
  ASSERT_GT(plan.stages_size(), 0);
  const auto ignore = [](const v1::PlanProgress&) {};
  v1::RemeasureRequest request;
  request.set_id(a);
  request.set_all(true);
  const auto all = client_->RemeasurePlan(request, ignore, {});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->left(), 0);
  // Of every type of segment one, at least; each program once.
  std::set<std::string> keys;
  for (const v1::RemeasuredRow& row : all->rows()) {
    EXPECT_GT(row.seconds_before(), 0) << row.label();
    EXPECT_GT(row.seconds_after(), 0) << row.label();
    EXPECT_TRUE(keys.insert(row.key()).second) << row.label();
  }
  EXPECT_GE(keys.size(), 3);
  request.set_all(false);
  const auto noisy = client_->RemeasurePlan(request, ignore, {});
  ASSERT_TRUE(noisy.ok()) << noisy.status();
  EXPECT_EQ(noisy->rows_size(), 0);
  EXPECT_EQ(noisy->left(), all->rows_size());
}

TEST_F(PlanQuestionsTest, ACoordinatorWithoutAnswersSaysSo) {
  Start({});
  EXPECT_EQ(client_->ExplainPlan("plan-1").status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ValidateStatus("plan-1").code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(client_->RemeasurePlan(v1::RemeasureRequest(), nullptr, {})
                .status()
                .code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace meshwright
