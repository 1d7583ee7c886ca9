#include <CLI/CLI.hpp>
#include <string>

#include "base/status_macros.h"
#include "cli/flags/plan_file.h"
#include "cli/text/difference_text.h"
#include "cli/verbs/verbs.h"

namespace meshwright::cli {
namespace {

struct DiffFlags {
  std::string first;
  std::string second;
};

absl::Status Diff(const Context& context, const DiffFlags& flags) {
  ASSIGN_OR_RETURN(const v1::Plan first, LoadPlan(flags.first));
  ASSIGN_OR_RETURN(const v1::Plan second, LoadPlan(flags.second));
  *context.out << (context.json ? DifferenceToJson(first, second).dump(2) + "\n"
                                : DescribeDifference(first, second));
  return absl::OkStatus();
}

}  // namespace

void AddDiffVerb(CLI::App& app, Context& context) {
  const auto [verb, flags] =
      AddVerb(app, context, "diff", "compare two plans", Diff);
  verb->add_option("first", flags->first, "a plan written by plan -o")
      ->required();
  verb->add_option("second", flags->second, "the plan to compare it with")
      ->required();
}

}  // namespace meshwright::cli
