#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/status_macros.h"
#include "cli/context.h"
#include "cli/plan_file.h"

namespace meshwright::cli {

void AddExplainVerb(CLI::App& app, Context& context) {
  const auto path = std::make_shared<std::string>();
  CLI::App* const verb = AddVerb(
      app, context, "explain", "say what a plan does and what it costs",
      [&context, path]() -> absl::Status {
        ASSIGN_OR_RETURN(const v1::Plan plan, LoadPlan(*path));
        *context.out << (context.json ? PlanJson(plan) : DescribePlan(plan));
        return absl::OkStatus();
      });
  verb->add_option("plan", *path, "a plan written by plan -o")->required();
}

}  // namespace meshwright::cli
