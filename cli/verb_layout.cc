#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/status_macros.h"
#include "cli/context.h"
#include "planner/layout/layout_json.h"

namespace meshwright::cli {

void AddLayoutVerb(CLI::App& app, Context& context) {
  const auto path = std::make_shared<std::string>();
  CLI::App* const verb = AddVerb(
      app, context, "layout",
      "find the cheapest conversions between shardings of a tensor",
      [&context, path]() -> absl::Status {
        ASSIGN_OR_RETURN(const std::string cases, base::ReadFile(*path));
        ASSIGN_OR_RETURN(const std::string answer, layout::LayoutJson(cases));
        *context.out << answer << "\n";
        return absl::OkStatus();
      });
  verb->add_option("--cases", *path, "the cases as JSON")->required();
}

}  // namespace meshwright::cli
