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
#include "cli/verbs/context.h"
#include "coordinator/explain/explain_choices.h"
#include "coordinator/explain/pipeline_waits.h"
#include "coordinator/explain/recall.h"
#include "coordinator/explain/stage_choices.h"
#include "coordinator/export/plan_choice.h"

namespace meshwright::cli {
namespace {

struct ExplainFlags {
  std::string plan;
  std::string store;
  std::string model;
};

// All searches of an explanation together; then what is proved is shown.
constexpr std::chrono::seconds kLongest(10);

absl::StatusOr<v1::PlanExplanation> ExplainFrom(const ExplainFlags& flags,
                                                const v1::Plan& plan) {
  ASSIGN_OR_RETURN(const std::unique_ptr<store::ProfileStore> store,
                   OpenStore(flags.store));
  ASSIGN_OR_RETURN(std::string model,
                   PlansModel(plan, flags.model, store.get()));
  ASSIGN_OR_RETURN(const jobs::DeviceDescription device,
                   explain::DeviceOf(plan));
  const base::Interrupt interrupt;
  search::Options options;
  options.stop = interrupt.token();
  options.deadline = std::chrono::steady_clock::now() + kLongest;
  if (plan.has_pipeline()) {
    return explain::ExplainStageChoices(plan, std::move(model), device,
                                        store.get(), options);
  }
  ASSIGN_OR_RETURN(
      const planning::MeasuredStep step,
      explain::RecallStep(explain::RequestOf(plan, std::move(model)), device,
                          store.get()));
  ASSIGN_OR_RETURN(const space::SegmentChoice choice,
                   exporting::FindChoice(plan, step.analysis, step.space));
  return explain::ExplainChoices(step, choice, options);
}

// Nothing, with a line on `err`, where a store that nobody named knows nothing.
absl::StatusOr<std::optional<v1::PlanExplanation>> Explanation(
    const Context& context, const ExplainFlags& flags, const v1::Plan& plan) {
  if (!plan.feasible()) return std::nullopt;
  const bool named = !flags.store.empty() || !flags.model.empty();
  const auto path = StorePath(flags.store);
  std::error_code ignored;
  if (!named && (!path.ok() || !std::filesystem::exists(*path, ignored))) {
    *context.err << "what each choice saves is not shown: there is no profile "
                    "store; name one with --store\n";
    return std::nullopt;
  }
  absl::StatusOr<v1::PlanExplanation> explained = ExplainFrom(flags, plan);
  if (explained.ok()) return *std::move(explained);
  if (named) return explained.status();
  *context.err << "what each choice saves is not shown: "
               << explained.status().message() << "\n";
  return std::nullopt;
}

// What the pipeline waits for, which takes no store.
absl::StatusOr<std::optional<explain::StagesExplanation>> Waits(
    const v1::Plan& plan) {
  if (!plan.has_pipeline() || !plan.feasible()) return std::nullopt;
  return explain::ExplainStages(plan);
}

absl::Status Explain(const Context& context, const ExplainFlags& flags) {
  ASSIGN_OR_RETURN(const v1::Plan plan, LoadPlan(flags.plan));
  ASSIGN_OR_RETURN(const std::optional<explain::StagesExplanation> waits,
                   Waits(plan));
  ASSIGN_OR_RETURN(const std::optional<v1::PlanExplanation> explanation,
                   Explanation(context, flags, plan));
  if (!context.json) {
    *context.out << DescribePlan(plan);
    if (waits.has_value()) *context.out << DescribeWaits(*waits);
    if (explanation.has_value()) {
      *context.out << DescribeExplanation(*explanation);
    }
    return absl::OkStatus();
  }
  auto json = nlohmann::ordered_json::parse(PlanJson(plan));
  if (waits.has_value()) json["waits"] = WaitsJson(*waits);
  json["choices"] = nullptr;
  if (explanation.has_value()) {
    json["choices"] = ToJson(*explanation)["choices"];
  }
  *context.out << json.dump(2) << "\n";
  return absl::OkStatus();
}

}  // namespace

void AddExplainVerb(CLI::App& app, Context& context) {
  const auto flags = std::make_shared<ExplainFlags>();
  CLI::App* const verb =
      AddVerb(app, context, "explain",
              "say what a plan does, what it costs and what each choice saves",
              [&context, flags] { return Explain(context, *flags); });
  verb->add_option("plan", flags->plan, "a plan written by plan -o")
      ->required();
  verb->add_option("--store", flags->store,
                   "profile store (default: in the user's data folder)");
  verb->add_option("--model", flags->model,
                   "the plan's model, where the store does not hold it");
}

}  // namespace meshwright::cli
