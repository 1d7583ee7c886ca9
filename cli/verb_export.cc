#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/plan_file.h"
#include "cli/planning.h"

namespace meshwright::cli {
namespace {

struct ExportFlags {
  std::string model;
  std::string plan;
  std::string output;
};

absl::Status Export(const Context& context, const ExportFlags& flags) {
  ASSIGN_OR_RETURN(const v1::Plan plan,
                   LoadPlanOnOneMesh(flags.plan, "export"));
  ASSIGN_OR_RETURN(const std::string model, LoadModel(flags.model));
  // The plan may come from anyone: its mesh is checked like one that is typed.
  RETURN_IF_ERROR(ParseMesh(absl::StrJoin(plan.mesh(), "x")).status());
  RETURN_IF_ERROR(CheckWritable(flags.output));
  const auto annotated = AnnotatedModel(model, plan);
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
  const auto flags = std::make_shared<ExportFlags>();
  CLI::App* const verb =
      AddVerb(app, context, "export",
              "write a model with the sharding a plan gives every instruction",
              [&context, flags] { return Export(context, *flags); });
  verb->add_option("model", flags->model, "MODEL.hlo.pb or HLO text")
      ->required();
  verb->add_option("plan", flags->plan, "a plan written by plan -o")
      ->required();
  verb->add_option("-o,--output", flags->output, "the annotated HloModuleProto")
      ->required();
}

}  // namespace meshwright::cli
