// Questions to a coordinator about its plans are answered as the verbs answer
// them from files: the same plans, over the store of a made-up machine.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "cli/local/cluster.h"
#include "cli/testing/outcome.h"
#include "cli/text/plan_text.h"
#include "coordinator/daemon/coordinator.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/service/planning_client.h"
#include "profiledb/open.h"

namespace meshwright {
namespace {

using cli::CommandJson;
using cli::ExpectRefused;
using nlohmann::json;

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
    dependencies.plan = [this](const v1::PlanRequest& request, jobs::Measurer*,
                               const jobs::ProgressFunction& progress) {
      return planning::MakePlan(request, {store_.get(), &measurer_}, progress);
    };
    coordinator_ =
        std::make_unique<daemon::Coordinator>(std::move(dependencies));
    ASSERT_TRUE(coordinator_->Start().ok());
    client_ = *service::PlanningClient::Connect(coordinator_->address());
  }

  // Submits one and waits for its end; writes NAME.json. Its id.
  std::string Plan(const std::string& name, int64_t limit = 0) {
    v1::SubmitPlanRequest request;
    v1::PlanRequest& plan = *request.mutable_request();
    plan.set_hlo_module(*base::ReadFile("tests/testdata/gpt2_2l.hlo.pb"));
    plan.set_model_name("gpt2_2l");
    plan.mutable_mesh()->add_shape(1);
    plan.mutable_mesh()->add_shape(2);
    plan.set_device_memory_bytes(limit);
    std::string id = client_->SubmitPlan(request)->id();
    v1::WatchPlanRequest watch;
    watch.set_id(id);
    EXPECT_TRUE(
        client_->WatchPlan(watch, [](const v1::PlanUpdate&) {}, {}).ok());
    const v1::PlanRecord record = *client_->GetPlan(id);
    EXPECT_TRUE(record.has_plan()) << record.reason();
    peak_bytes_ = record.plan().predicted().peak_bytes();
    EXPECT_TRUE(
        base::WriteFile(Path(name), cli::PlanToJson(record.plan())).ok());
    return id;
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
  int64_t peak_bytes_ = 0;
  std::unique_ptr<store::ProfileStore> store_;
  std::unique_ptr<daemon::Coordinator> coordinator_;
  std::unique_ptr<service::PlanningClient> client_;
};

TEST_F(PlanQuestionsTest, AnswersAreThoseOfTheVerbs) {
  Start(cli::MakePlanQuestions(store_.get()));
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

TEST_F(PlanQuestionsTest, WhatCannotBeAnsweredIsOneSentence) {
  Start(cli::MakePlanQuestions(store_.get()));
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

TEST_F(PlanQuestionsTest, ACoordinatorWithoutAnswersSaysSo) {
  Start({});
  EXPECT_EQ(client_->ExplainPlan("plan-1").status().code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace meshwright
