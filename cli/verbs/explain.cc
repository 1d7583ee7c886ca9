#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/interrupt.h"
#include "base/status_macros.h"
#include "cli/flags/plan_file.h"
#include "cli/local/store.h"
#include "cli/text/explanation_text.h"
#include "cli/text/json.h"
#include "cli/text/plan_text.h"
#include "cli/verbs/verbs.h"
#include "coordinator/explain/explain_plan.h"
#include "coordinator/explain/pipeline_waits.h"
#include "coordinator/explain/recall.h"

namespace meshwright::cli {
namespace {

struct ExplainFlags {
  std::string plan;
  std::string store;
  std::string model;
};

absl::StatusOr<v1::PlanExplanation> ExplainChoices(const ExplainFlags& flags,
                                                   const v1::Plan& plan) {
  RETURN_IF_ERROR(explain::CheckMeasured(plan));
  ASSIGN_OR_RETURN(const std::unique_ptr<store::ProfileStore> store,
                   OpenExistingStore(flags.store));
  ASSIGN_OR_RETURN(std::string model,
                   FindModel(plan, flags.model, store.get()));
  const base::Interrupt interrupt;
  search::Options options;
  options.deadline =
      base::Deadline::After(explain::kExplanationTime, interrupt.token());
  return explain::ExplainPlan(plan, std::move(model), store.get(), options);
}

// None, with a line on `err`, if no store is named and the plan was not
// measured, or the default store lacks its model or measurements.
absl::StatusOr<std::optional<v1::PlanExplanation>> ExplainIfKnown(
    const Context& context, const ExplainFlags& flags, const v1::Plan& plan) {
  if (!plan.feasible()) return std::nullopt;
  const bool named = !flags.store.empty() || !flags.model.empty();
  const auto path = FindStorePath(flags.store);
  std::error_code ignored;
  if (!named && explain::CheckMeasured(plan).ok() &&
      (!path.ok() || !std::filesystem::exists(*path, ignored))) {
    *context.err << "the time that each choice saves is not shown: there is no "
                    "profile store; name one with --store\n";
    return std::nullopt;
  }
  absl::StatusOr<v1::PlanExplanation> explained = ExplainChoices(flags, plan);
  if (explained.ok()) return *std::move(explained);
  if (named) return explained.status();
  *context.err << "the time that each choice saves is not shown: "
               << explained.status().message() << "\n";
  return std::nullopt;
}

// Needs no store.
absl::StatusOr<std::optional<v1::PipelineWaits>> FindWaits(
    const v1::Plan& plan) {
  if (!plan.has_pipeline() || !plan.feasible()) return std::nullopt;
  return explain::FindPipelineWaits(plan);
}

absl::Status Explain(const Context& context, const ExplainFlags& flags) {
  ASSIGN_OR_RETURN(const v1::Plan plan, LoadPlan(flags.plan));
  ASSIGN_OR_RETURN(const std::optional<v1::PipelineWaits> waits,
                   FindWaits(plan));
  ASSIGN_OR_RETURN(const std::optional<v1::PlanExplanation> explanation,
                   ExplainIfKnown(context, flags, plan));
  if (!context.json) {
    *context.out << DescribePlan(plan);
    if (waits.has_value()) *context.out << DescribeWaits(*waits);
    if (explanation.has_value()) {
      *context.out << DescribeExplanation(*explanation);
    }
    return absl::OkStatus();
  }
  nlohmann::ordered_json json = PlanToJson(plan);
  if (waits.has_value()) json["waits"] = ToJson(*waits);
  json["choices"] = nullptr;
  if (explanation.has_value()) {
    json["choices"] = ToJson(*explanation)["choices"];
  }
  *context.out << json.dump(2) << "\n";
  return absl::OkStatus();
}

}  // namespace

void AddExplainVerb(CLI::App& app, Context& context) {
  const auto [verb, flags] = AddVerb(
      app, context, "explain",
      "describe a plan, its cost and the time that each choice saves", Explain);
  verb->add_option("plan", flags->plan, "a plan written by plan -o")
      ->required();
  verb->add_option("--store", flags->store,
                   "profile store (default: in the user's data folder)");
  verb->add_option("--model", flags->model,
                   "the plan's model, if the store does not hold it");
}

}  // namespace meshwright::cli
