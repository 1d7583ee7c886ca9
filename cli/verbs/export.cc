#include <CLI/CLI.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/plan_file.h"
#include "cli/text/plan_text.h"
#include "cli/verbs/verbs.h"
#include "coordinator/launch/export_plan.h"
#include "coordinator/validation/staged_validation.h"

namespace meshwright::cli {
namespace {

struct ExportFlags {
  std::string model;
  std::string plan;
  std::string output;
};

absl::Status Export(const Context& context, const ExportFlags& flags) {
  ASSIGN_OR_RETURN(const v1::Plan plan, LoadPlan(flags.plan));
  ASSIGN_OR_RETURN(const std::string model, LoadModel(flags.model));
  // The plan may come from anyone: its mesh is checked like one that is typed.
  RETURN_IF_ERROR(plan.has_pipeline()
                      ? validation::CheckMeshes(plan)
                      : ParseMesh(absl::StrJoin(plan.mesh(), "x")).status());
  if (!plan.has_pipeline()) RETURN_IF_ERROR(CheckWritable(flags.output));
  const auto files = launch::ExportPlan(model, plan);
  if (!files.ok()) return NameModel(files.status(), flags.model);
  RETURN_IF_ERROR(WriteModules(flags.output, *files));
  *context.out << FormatModules(flags.output, *files, context.json);
  return absl::OkStatus();
}

}  // namespace

void AddExportVerb(CLI::App& app, Context& context) {
  const auto [verb, flags] =
      AddVerb(app, context, "export",
              "write a model annotated with the shardings of a plan", Export);
  verb->add_option("model", flags->model, "MODEL.hlo.pb, HLO text or StableHLO")
      ->required();
  verb->add_option("plan", flags->plan, "a plan written by plan -o")
      ->required();
  verb->add_option(
          "-o,--output", flags->output,
          "file for the annotated HloModuleProto; for a plan with stages, "
          "a folder of modules")
      ->required();
}

}  // namespace meshwright::cli
