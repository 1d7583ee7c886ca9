#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "cli/flags/plan_file.h"
#include "cli/local/store.h"
#include "cli/text/json.h"
#include "cli/verbs/verbs.h"
#include "coordinator/explain/explain_choices.h"
#include "coordinator/explain/explain_plan.h"
#include "coordinator/explain/recall.h"
#include "coordinator/report/report_data.h"
#include "coordinator/report/report_page.h"
#include "coordinator/report/trace.h"

namespace meshwright::cli {
namespace {

constexpr int kFrontPoints = 12;

struct ReportFlags {
  std::string plan;
  std::string validation;
  std::string store;
  std::string model;
  std::string output;
};

absl::Status ReadValidation(const std::string& path,
                            report::ReportInputs& inputs) {
  if (path.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  const std::string what =
      path + " is no result of `meshwright validate --json`";
  if (inputs.plan.has_pipeline()) {
    RETURN_IF_ERROR(FromJson(text, what, &inputs.staged_validation.emplace()));
  } else {
    RETURN_IF_ERROR(FromJson(text, what, &inputs.validation.emplace()));
  }
  return NamePath(report::CheckValidation(inputs), path);
}

// What the plan's own measurements say of it.
absl::Status ReadStore(const ReportFlags& flags, report::ReportInputs& inputs) {
  RETURN_IF_ERROR(explain::CheckMeasured(inputs.plan));
  ASSIGN_OR_RETURN(const std::unique_ptr<store::ProfileStore> store,
                   OpenExistingStore(flags.store));
  ASSIGN_OR_RETURN(std::string model,
                   FindModel(inputs.plan, flags.model, store.get()));
  const base::Interrupt interrupt;
  search::Options options;
  options.deadline =
      base::Deadline::After(explain::kExplanationTime, interrupt.token());
  if (inputs.plan.has_pipeline()) {
    ASSIGN_OR_RETURN(inputs.explanation,
                     explain::ExplainPlan(inputs.plan, std::move(model),
                                          store.get(), options));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(
      const explain::RecalledPlan recalled,
      explain::RecallChoice(inputs.plan, std::move(model), store.get()));
  ASSIGN_OR_RETURN(
      inputs.explanation,
      explain::ExplainChoices(recalled.step, recalled.choice, options));
  ASSIGN_OR_RETURN(inputs.basis,
                   explain::FindPlanBasis(recalled.step, recalled.choice,
                                          kFrontPoints, options));
  return absl::OkStatus();
}

// The plan alone, with a line on `err`, if no store is named and the plan was
// not measured, or the default store lacks its measurements.
absl::StatusOr<report::ReportInputs> ReadInputs(const Context& context,
                                                const ReportFlags& flags) {
  report::ReportInputs inputs;
  ASSIGN_OR_RETURN(inputs.plan, LoadPlan(flags.plan));
  RETURN_IF_ERROR(ReadValidation(flags.validation, inputs));
  if (!inputs.plan.feasible()) return inputs;
  const bool named = !flags.store.empty() || !flags.model.empty();
  std::error_code ignored;
  const auto path = FindStorePath(flags.store);
  const bool there = path.ok() && std::filesystem::exists(*path, ignored);
  if (!named && !there && explain::CheckMeasured(inputs.plan).ok()) {
    *context.err << "measurements are not shown: there is no profile store; "
                    "name one with --store\n";
    return inputs;
  }
  const absl::Status read = ReadStore(flags, inputs);
  if (read.ok()) return inputs;
  if (named) return read;
  *context.err << "measurements are not shown: " << read.message() << "\n";
  inputs.explanation.reset();
  inputs.basis.reset();
  return inputs;
}

absl::Status WriteResult(const Context& context, const std::string& path,
                         const std::string& content) {
  if (path == "-") {
    *context.out << content;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(base::WriteFile(path, content));
  if (context.json) {
    *context.out << nlohmann::ordered_json{{"file", path},
                                           {"bytes", content.size()}}
                        .dump(2)
                 << "\n";
  } else {
    *context.err << "wrote " << path << "\n";
  }
  return absl::OkStatus();
}

absl::Status Report(const Context& context, const ReportFlags& flags) {
  ASSIGN_OR_RETURN(report::ReportInputs inputs, ReadInputs(context, flags));
  ASSIGN_OR_RETURN(const report::ReportData data,
                   report::MakeReportData(std::move(inputs)));
  return WriteResult(context, flags.output, report::RenderReport(data));
}

absl::Status Trace(const Context& context, const ReportFlags& flags) {
  ASSIGN_OR_RETURN(const report::ReportInputs inputs,
                   ReadInputs(context, flags));
  if (!inputs.plan.feasible()) {
    return absl::InvalidArgumentError(
        flags.plan +
        " has no timeline: no plan was found that fits its memory limit");
  }
  ASSIGN_OR_RETURN(const std::vector<report::Timeline> timelines,
                   report::MakeTimelines(inputs));
  return WriteResult(context, flags.output, report::FormatTrace(timelines));
}

void AddPageVerb(CLI::App& app, Context& context, const std::string& name,
                 const std::string& description, const std::string& output,
                 absl::Status (*run)(const Context&, const ReportFlags&)) {
  const auto [verb, flags] = AddVerb(app, context, name, description, run);
  verb->add_option("plan", flags->plan, "a plan written by plan -o")
      ->required();
  verb->add_option("-o,--output", flags->output, output)->required();
  verb->add_option("--validate", flags->validation,
                   "what validate --json printed for this plan");
  verb->add_option("--store", flags->store,
                   "profile store (default: in the user's data folder)");
  verb->add_option("--model", flags->model,
                   "the plan's model, if the store does not hold it");
}

}  // namespace

void AddReportVerbs(CLI::App& app, Context& context) {
  AddPageVerb(app, context, "report",
              "write a page that shows a plan and why it was chosen",
              "file for the page, such as plan.html; - for stdout", Report);
  AddPageVerb(app, context, "trace",
              "write a plan's timeline as a trace for Perfetto",
              "file for the trace, such as plan.pftrace; - for stdout", Trace);
}

}  // namespace meshwright::cli
