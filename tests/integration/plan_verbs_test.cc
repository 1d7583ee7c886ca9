// The verbs that work on plans, over a store of a made-up machine: explain,
// diff and what-if ask no device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/file.h"
#include "cli/flags/plan_file.h"
#include "cli/testing/outcome.h"
#include "cli/text/plan_text.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "profiledb/open.h"

namespace meshwright {
namespace {

using cli::Command;
using cli::CommandJson;
using cli::ExpectRefused;
using cli::Outcome;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kModel[] = "tests/testdata/gpt2_2l.hlo.pb";

class PlanVerbsTest : public testing::Test {
 protected:
  PlanVerbsTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    measurer_.machine = 7;
  }

  std::string Path(const std::string& name) const {
    return folder_ + "/" + name;
  }

  // Writes NAME.json, made as `plan` does.
  v1::Plan Plan(const std::string& name, int64_t limit = 0,
                bool no_wait = false, int64_t devices = 2,
                const char* model = kModel) {
    v1::PlanRequest request;
    request.set_hlo_module(*base::ReadFile(model));
    request.set_model_name(cli::ParseModelName(model));
    request.mutable_mesh()->add_shape(1);
    request.mutable_mesh()->add_shape(devices);
    request.set_device_memory_bytes(limit);
    request.set_no_wait(no_wait);
    const auto store = store::OpenProfileStore(Path("store"));
    EXPECT_TRUE(store.ok()) << store.status();
    const auto plan = planning::MakePlan(request, {store->get(), &measurer_},
                                         [](const v1::PlanProgress&) {});
    EXPECT_TRUE(plan.ok()) << plan.status();
    EXPECT_TRUE(
        base::WriteFile(Path(name + ".json"), cli::PlanToJsonText(*plan)).ok());
    return *plan;
  }

  const std::string folder_ = testing::TempDir() + "/plan_verbs";
  jobs::FakeMeasurer measurer_;
};

// What the blocks of all segments take.
std::set<std::string> ListStrategies(const json& plan) {
  std::set<std::string> names;
  for (const json& segment : plan["segments"]) {
    for (const json& name : segment["strategies"]) names.insert(name);
  }
  return names;
}

TEST_F(PlanVerbsTest, ABaselineNeedsNoDevice) {
  const std::string model = "tests/testdata/llama_tiny.hlo.pb";
  const auto plan = [&](const std::string& baseline) {
    return CommandJson(
        {"plan", model, "--mesh", "1x2", "--baseline", baseline});
  };
  const json dp = plan("dp"), tp = plan("tp");
  EXPECT_EQ(dp["feasible"], true);
  EXPECT_TRUE(dp["predicted"].is_null());
  EXPECT_EQ(dp["fallback"], "");  // it was asked for
  EXPECT_NE(ListStrategies(dp), ListStrategies(tp));
  for (const std::string& name : ListStrategies(dp)) {
    EXPECT_THAT(name, testing::Not(HasSubstr("columns")));
  }
  EXPECT_THAT(plan("fsdp")["strategies"].dump(), HasSubstr("fully-sharded"));
  ExpectRefused({"plan", model, "--mesh", "1x2", "--baseline", "ddp"},
                "\"ddp\" is no baseline of this step; there are dp, tp");
}

TEST_F(PlanVerbsTest, AFallbackStandsInForAServiceThatIsAway) {
  const std::string model = "tests/testdata/llama_tiny.hlo.pb";
  const std::vector<std::string> asked = {"plan",
                                          model,
                                          "--mesh",
                                          "1x2",
                                          "--coordinator",
                                          "unix:" + Path("nobody"),
                                          "--fallback",
                                          "tp",
                                          "-o",
                                          Path("stand-in.json")};
  const Outcome outcome = Command(asked);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("; the plan is the baseline tp\n"));
  const json plan = json::parse(*base::ReadFile(Path("stand-in.json")));
  EXPECT_THAT(plan["notes"].dump(), HasSubstr("it stands in for a better one"));
  EXPECT_EQ(plan["fallback"], "tp");
  // What is wrong with the step is no reason to take another plan.
  ExpectRefused({"plan", Path("stand-in.json"), "--mesh", "1x2",
                 "--coordinator", "unix:" + Path("nobody"), "--fallback", "tp"},
                "stand-in.json");
}

TEST_F(PlanVerbsTest, AFallbackStandsInForAMachineThatCannotMeasure) {
  const Outcome outcome =
      Command({"plan", "tests/testdata/llama_tiny.hlo.pb", "--mesh", "1x2",
               "--plugin", Path("none.so"), "--fallback", "tp"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("there is no PJRT plugin at"));
  EXPECT_THAT(outcome.err, HasSubstr("; the plan is the baseline tp\n"));
}

TEST_F(PlanVerbsTest, ExplainSaysWhatEachChoiceSaves) {
  const v1::Plan plan = Plan("a");
  const std::string store = Path("store");
  const json answer =
      CommandJson({"explain", Path("a.json"), "--store", store});
  EXPECT_EQ(answer["model"]["name"], "gpt2_2l");
  ASSERT_FALSE(answer["choices"].empty());
  size_t segments = 0;
  for (const json& choice : answer["choices"]) {
    segments += choice["segments"].size();
    if (choice["next_best"].is_null()) continue;
    EXPECT_GE(choice["next_best"]["more_seconds"], 0);
    EXPECT_FALSE(choice["next_best"]["changes"].empty());
  }
  EXPECT_EQ(segments, static_cast<size_t>(plan.segments_size()));
  const Outcome text = Command({"explain", Path("a.json"), "--store", store});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, StartsWith("gpt2_2l on mesh 1x2"));
  EXPECT_THAT(text.out, HasSubstr("time saved by each choice"));
  EXPECT_THAT(text.out, HasSubstr("next best plan"));
}

TEST_F(PlanVerbsTest, ExplainNeedsTheStoreOfThePlan) {
  Plan("a");
  ASSERT_TRUE(store::OpenProfileStore(Path("empty")).ok());
  ExpectRefused({"explain", Path("a.json"), "--store", Path("empty")},
                "does not hold the model of the plan, gpt2_2l");
  ExpectRefused(
      {"explain", Path("a.json"), "--store", Path("empty"), "--model", kModel},
      "lacks measurements of gpt2_2l on mesh 1x2");
  ExpectRefused({"explain", Path("a.json"), "--store", Path("store"), "--model",
                 "tests/testdata/moe_2l.hlo.pb"},
                "is another model than the plan's");
  // The model may be named where only its measurements are there.
  EXPECT_EQ(Command({"explain", Path("a.json"), "--store", Path("store"),
                     "--model", kModel})
                .status,
            0);
}

TEST_F(PlanVerbsTest, NoStoreIsNamedForAPlanThatWasNotMeasured) {
  const std::string model = "tests/testdata/llama_tiny.hlo.pb";
  const std::string plan = Path("unmeasured.json");
  for (const std::vector<std::string>& how :
       std::vector<std::vector<std::string>>{{"--baseline", "dp"},
                                             {"--symbolic"}}) {
    std::vector<std::string> words = {"plan", model, "--mesh",
                                      "1x2",  "-o",  plan};
    words.insert(words.end(), how.begin(), how.end());
    ASSERT_EQ(Command(words).status, 0) << how.front();
    for (const Outcome& outcome :
         {Command({"explain", plan}),
          Command({"report", plan, "-o", Path("unmeasured.html")})}) {
      EXPECT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr("not shown: this plan was not "
                                         "measured; to measure, plan without"));
      EXPECT_THAT(outcome.err, testing::Not(HasSubstr("--store")));
    }
    const std::string store = Path("unmeasured.db");
    ASSERT_TRUE(store::OpenProfileStore(store).ok());
    for (const char* const verb : {"explain", "what-if"}) {
      ExpectRefused({verb, plan, "--store", store}, "was not measured");
      ExpectRefused({verb, plan, "--store", store, "--model", model},
                    "was not measured");
    }
  }
}

TEST_F(PlanVerbsTest, AnotherMemoryLimitIsThePlanOfThatLimit) {
  const v1::Plan fastest = Plan("a");
  const int64_t limit = fastest.predicted().peak_bytes() * 9 / 10;
  Plan("small", limit);  // measures what saves memory
  const v1::Plan wanted = Plan("b", limit, /*no_wait=*/true);
  json answer =
      CommandJson({"what-if", Path("a.json"), "--store", Path("store"),
                   "--device-memory", std::to_string(limit)});
  json plan = json::parse(cli::PlanToJsonText(wanted));
  EXPECT_EQ(answer["difference"]["comparable"], true);
  EXPECT_FALSE(answer["difference"]["segments"].empty());
  answer.erase("difference");
  answer.erase("seconds");
  plan.erase("seconds");
  EXPECT_EQ(answer, plan);
  // No plan fits: an answer, not a failure.
  EXPECT_EQ(CommandJson({"what-if", Path("a.json"), "--store", Path("store"),
                         "--device-memory", "1000"})["feasible"],
            false);
}

TEST_F(PlanVerbsTest, MoreDevicesAreEstimatedAndWrittenAsAPlan) {
  Plan("a");
  const json answer =
      CommandJson({"what-if", Path("a.json"), "--store", Path("store"),
                   "--devices", "4", "-o", Path("four.json")});
  EXPECT_EQ(answer["mesh"], json::parse("[1,4]"));
  EXPECT_GT(answer["programs"]["estimated"], 0);
  EXPECT_EQ(answer["segments"][1]["estimated"], true);
  EXPECT_EQ(answer["difference"]["comparable"], false);
  const Outcome text = Command({"diff", Path("a.json"), Path("four.json")});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("different meshes, 1x2 and 1x4"));
  // Once measured, what was estimated is the plan itself.
  const v1::Plan measured = Plan("b", 0, false, 4);
  const json again = CommandJson(
      {"what-if", Path("a.json"), "--store", Path("store"), "--mesh", "1x4"});
  EXPECT_EQ(again["programs"]["estimated"], 0);
  EXPECT_EQ(again["predicted"]["step_seconds"],
            measured.predicted().step_seconds());
}

TEST_F(PlanVerbsTest, TakesOtherLinks) {
  const v1::Plan plan = Plan("a");
  ASSERT_TRUE(
      base::WriteFile(Path("links"), R"({"alpha":[0,1e-4],"beta":[0,1e-7]})")
          .ok());
  const json answer = CommandJson({"what-if", Path("a.json"), "--store",
                                   Path("store"), "--links", Path("links")});
  EXPECT_GT(answer["predicted"]["step_seconds"],
            plan.predicted().step_seconds());
  ExpectRefused({"what-if", Path("a.json"), "--store", Path("store"),
                 "--devices", "2", "--links", Path("a.json")},
                "alpha is missing");
}

TEST_F(PlanVerbsTest, WhatIfRefusesWhatNoRowEstimates) {
  Plan("a");
  const std::string store = Path("store");
  ASSERT_TRUE(store::OpenProfileStore(Path("empty")).ok());
  ExpectRefused({"what-if", Path("a.json"), "--store", store, "--mesh", "2x2"},
                "axis 0 has one device");
  ExpectRefused({"what-if", Path("a.json"), "--store", store, "--mesh", "two"},
                "\"two\"");
  ExpectRefused({"what-if", Path("a.json"), "--store", store, "--mesh", "1x4",
                 "--devices", "4"},
                "--devices");
  ExpectRefused({"what-if", Path("a.json"), "--store", Path("empty")},
                "does not hold the model");
  ExpectRefused({"what-if", kModel, "--store", store}, "add --mesh");
  ExpectRefused({"what-if", "/nonexistent", "--store", store}, "/nonexistent");
}

TEST_F(PlanVerbsTest, DiffShowsWhatEachChangeCosts) {
  const v1::Plan a = Plan("a");
  // So little memory that recomputing alone does not do.
  const int64_t min_bytes = Plan("none", 1000).least_memory_bytes();
  const v1::Plan b = Plan("b", min_bytes + min_bytes / 100);
  const json answer = CommandJson({"diff", Path("a.json"), Path("b.json")});
  EXPECT_EQ(answer["comparable"], true);
  double sum = 0;
  for (const json& change : answer["segments"]) {
    sum += change["seconds"].get<double>() +
           change["resharding_seconds"].get<double>();
  }
  EXPECT_NEAR(sum, answer["step_seconds"], 1e-11);
  EXPECT_FALSE(answer["arguments"].empty());
  Plan("c", 0, false, 2, "tests/testdata/moe_2l.hlo.pb");
  EXPECT_THAT(Command({"diff", Path("a.json"), Path("c.json")}).out,
              HasSubstr("different models, gpt2_2l and moe_2l"));
  ExpectRefused({"diff", Path("a.json"), kModel}, "is no plan");
}

// A line of source above the step moves, and the process counts its modules.
TEST_F(PlanVerbsTest, AnotherExportIsTheSameModel) {
  hlo::HloModuleProto module = *ir::ParseModule(*base::ReadFile(kModel));
  module.set_id(module.id() + 1);
  for (auto& computation : *module.mutable_computations()) {
    for (auto& it : *computation.mutable_instructions()) {
      it.mutable_metadata()->set_source_line(it.metadata().source_line() + 1);
    }
  }
  const std::string again = Path("again.hlo.pb");
  ASSERT_TRUE(base::WriteFile(again, module.SerializeAsString()).ok());
  Plan("a");
  Plan("b", 0, false, 2, again.c_str());
  EXPECT_EQ(CommandJson({"diff", Path("a.json"), Path("b.json")})["comparable"],
            true);
  for (const char* const plan : {"a.json", "b.json"}) {
    for (const std::string& model : {std::string(kModel), again}) {
      EXPECT_EQ(Command({"explain", Path(plan), "--store", Path("store"),
                         "--model", model})
                    .status,
                0);
    }
  }
}

// Its fingerprint is the SHA-256 of the bytes, by which the store has them.
TEST_F(PlanVerbsTest, APlanOfBeforeIsRecalledAndCompared) {
  Plan("a");
  json plan = json::parse(*base::ReadFile(Path("a.json")));
  plan["model"]["fingerprint"] = plan["model"]["module_sha256"];
  plan["model"].erase("module_sha256");
  ASSERT_TRUE(base::WriteFile(Path("before.json"), plan.dump()).ok());
  const std::string store = Path("store");
  EXPECT_FALSE(
      CommandJson({"explain", Path("before.json"), "--store", store})["choices"]
          .empty());
  EXPECT_EQ(Command({"explain", Path("before.json"), "--store", store,
                     "--model", kModel})
                .status,
            0);
  EXPECT_EQ(
      CommandJson({"diff", Path("before.json"), Path("a.json")})["comparable"],
      true);
}

}  // namespace
}  // namespace meshwright
