#include "cli/text/next_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

auto Commands(auto... commands) {
  return ElementsAre(Field(&NextStep::command, commands)...);
}

v1::Plan PlanOf(const std::string& device) {
  v1::Plan plan;
  plan.set_feasible(true);
  plan.set_device(device);
  return plan;
}

TEST(NextStepsTest, CommandsNameTheFilesAndTheStore) {
  const PlanSource source{"my model.pb", "p.json", "s.db", " --platform cuda"};
  EXPECT_THAT(
      ListNextSteps(PlanOf("cuda"), source),
      Commands("meshwright validate 'my model.pb' p.json --store s.db "
               "--platform cuda",
               "meshwright report p.json --store s.db -o p.json.html",
               "meshwright export 'my model.pb' p.json -o ANNOTATED.hlo.pb",
               "repeat with --verbose"));
  EXPECT_EQ(
      RemeasureCommand(source),
      "meshwright profiles remeasure p.json --store s.db --platform cuda");
}

TEST(NextStepsTest, AStepThatCannotBeTakenIsNotNamed) {
  PlanSource source{"m.pb", "p.json"};
  EXPECT_THAT(ListNextSteps(PlanOf("symbolic"), source),
              Commands("meshwright export m.pb p.json -o ANNOTATED.hlo.pb",
                       "repeat with --verbose"));
  source.has_own_devices = false;
  EXPECT_EQ(ListNextSteps(PlanOf("cpu"), source).size(), 2);
  EXPECT_EQ(RemeasureCommand(source), "");
  source.plan.clear();
  EXPECT_THAT(ListNextSteps(PlanOf("symbolic"), source),
              Commands("repeat with -o FILE", "repeat with --verbose"));
  v1::Plan plan = PlanOf("cpu");
  plan.set_feasible(false);
  EXPECT_EQ(ListNextSteps(plan, source)[0].purpose, "make it fit");
}

TEST(NextStepsTest, WhatACoordinatorKeepsIsAskedThere) {
  PlanSource source{"m.pb", ""};
  source.has_own_devices = false;
  source.id = "plan-7";
  source.address_flags = " --coordinator a:1";
  EXPECT_THAT(
      ListNextSteps(PlanOf("cpu"), source),
      Commands("meshwright plans validate plan-7 --coordinator a:1",
               "meshwright plans explain plan-7 --coordinator a:1",
               "meshwright plans export plan-7 -o FILE --coordinator a:1",
               "meshwright plans get plan-7 --verbose --coordinator a:1"));
  source.plan = "p.json";
  EXPECT_EQ(ListNextSteps(PlanOf("cpu"), source)[2].command,
            "meshwright export m.pb p.json -o ANNOTATED.hlo.pb");
  v1::Plan plan = PlanOf("cpu");
  plan.set_feasible(false);
  EXPECT_EQ(ListNextSteps(plan, source)[0].purpose, "make it fit");
}

TEST(NextStepsTest, WordsAreQuotedForAShell) {
  EXPECT_EQ(QuoteWord("a/b-c.json"), "a/b-c.json");
  EXPECT_EQ(QuoteWord(""), "''");
  EXPECT_EQ(QuoteWord("it's"), "'it'\\''s'");
  EXPECT_EQ(QuoteWord("$x"), "'$x'");
}

}  // namespace
}  // namespace meshwright::cli
