#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/status_macros.h"
#include "cli/flags/plan_file.h"
#include "cli/text/difference_text.h"
#include "cli/verbs/context.h"
#include "coordinator/explain/difference.h"

namespace meshwright::cli {
namespace {

struct DiffFlags {
  std::string first;
  std::string second;
};

absl::Status Diff(const Context& context, const DiffFlags& flags) {
  ASSIGN_OR_RETURN(const v1::Plan first, LoadPlan(flags.first));
  ASSIGN_OR_RETURN(const v1::Plan second, LoadPlan(flags.second));
  const explain::PlanDifference difference = explain::Difference(first, second);
  if (context.json) {
    *context.out << DifferenceJson(first, second, difference).dump(2) << "\n";
  } else {
    *context.out << DescribeDifference(first, second, difference);
  }
  return absl::OkStatus();
}

}  // namespace

void AddDiffVerb(CLI::App& app, Context& context) {
  const auto flags = std::make_shared<DiffFlags>();
  CLI::App* const verb =
      AddVerb(app, context, "diff",
              "compare two plans: figures, stages, segments, arguments",
              [&context, flags] { return Diff(context, *flags); });
  verb->add_option("first", flags->first, "a plan written by plan -o")
      ->required();
  verb->add_option("second", flags->second, "another")->required();
}

}  // namespace meshwright::cli
