#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/status_macros.h"
#include "cli/context.h"
#include "planner/search/search_json.h"

namespace meshwright::cli {

void AddSearchVerb(CLI::App& app, Context& context) {
  const auto path = std::make_shared<std::string>();
  const auto wishes = std::make_shared<search::SearchWishes>();
  CLI::App* const verb = AddVerb(
      app, context, "search", "solve a PlanProblem from a file",
      [&context, path, wishes]() -> absl::Status {
        ASSIGN_OR_RETURN(const std::string problem, base::ReadFile(*path));
        ASSIGN_OR_RETURN(const std::string answer,
                         search::SearchJson(problem, *wishes));
        *context.out << answer;
        if (answer.empty() || answer.back() != '\n') {
          *context.out << "\n";
        }
        return absl::OkStatus();
      });
  verb->add_option("file", *path, "the problem as JSON")->required();
  verb->add_option("--front", wishes->front_points,
                   "print up to N plans of time against memory");
  verb->add_option("--deadline", wishes->deadline_seconds,
                   "print the best plan after so many seconds");
  verb->add_option("--headroom", wishes->headroom_percent,
                   "percent of the memory limit left to the allocator");
}

}  // namespace meshwright::cli
