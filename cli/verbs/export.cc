#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/plan_file.h"
#include "cli/verbs/verbs.h"
#include "coordinator/launch/make_launch.h"
#include "coordinator/launch/manifest.h"
#include "coordinator/validation/staged_validation.h"

namespace meshwright::cli {
namespace {

struct ExportFlags {
  std::string model;
  std::string plan;
  std::string output;
};

// A folder with a module per stage and pass, and what joins them.
absl::Status ExportStages(const Context& context, const ExportFlags& flags,
                          const std::string& model, const v1::Plan& plan) {
  RETURN_IF_ERROR(validation::CheckMeshes(plan));
  const auto launch = launch::MakeLaunch(model, plan);
  if (!launch.ok()) return NameModel(launch.status(), flags.model);
  std::vector<std::pair<std::string, std::string>> files;
  for (const launch::LaunchModule& module : launch->modules) {
    files.emplace_back(launch::NameFile(module.place),
                       module.program.hlo_module());
  }
  files.emplace_back("manifest.json", launch::WriteManifest(*launch, plan));
  size_t bytes = 0;
  for (const auto& [name, content] : files) {
    const std::filesystem::path path =
        std::filesystem::path(flags.output) / name;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot make the folder ", path.parent_path().string(),
                       ": ", error.message()));
    }
    RETURN_IF_ERROR(base::WriteFile(path.string(), content));
    bytes += content.size();
  }
  if (context.json) {
    *context.out << nlohmann::ordered_json{{"output", flags.output},
                                           {"modules", files.size() - 1},
                                           {"bytes", bytes}}
                        .dump(2)
                 << "\n";
  } else {
    *context.out << "wrote " << files.size() - 1 << " modules and "
                 << flags.output << "/manifest.json\n";
  }
  return absl::OkStatus();
}

absl::Status Export(const Context& context, const ExportFlags& flags) {
  ASSIGN_OR_RETURN(const v1::Plan plan, LoadPlan(flags.plan));
  ASSIGN_OR_RETURN(const std::string model, LoadModel(flags.model));
  if (plan.has_pipeline()) return ExportStages(context, flags, model, plan);
  // The plan may come from anyone: its mesh is checked like one that is typed.
  RETURN_IF_ERROR(ParseMesh(absl::StrJoin(plan.mesh(), "x")).status());
  RETURN_IF_ERROR(CheckWritable(flags.output));
  const auto annotated = launch::AnnotateModel(model, plan);
  if (!annotated.ok()) return NameModel(annotated.status(), flags.model);
  RETURN_IF_ERROR(base::WriteFile(flags.output, *annotated));
  if (context.json) {
    *context.out << nlohmann::ordered_json{{"output", flags.output},
                                           {"bytes", annotated->size()}}
                        .dump(2)
                 << "\n";
  } else {
    *context.out << "wrote " << flags.output << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

void AddExportVerb(CLI::App& app, Context& context) {
  const auto [verb, flags] =
      AddVerb(app, context, "export",
              "write a model annotated with the shardings of a plan", Export);
  verb->add_option("model", flags->model, "MODEL.hlo.pb or HLO text")
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
