// A plan as JSON and as text for people.
#ifndef MESHWRIGHT_CLI_TEXT_PLAN_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_PLAN_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

// The JSON of `plan`; the figures of an infeasible plan, and of
// a baseline, are null.
nlohmann::ordered_json PlanToJson(const v1::Plan& plan);
// The same as the file of a plan has it.
std::string PlanToJsonText(const v1::Plan& plan);
// One line for a shell that launches by a plan, and reads no plan file: its
// `id` at the coordinator that keeps it, empty if none does; whether it is
// feasible; the baseline that stands in; its step, null without a prediction;
// and the `file` that holds it, empty if none does.
std::string PlanToJsonLine(const v1::Plan& plan, const std::string& id,
                           const std::string& file);

// A page: the predicted figures, then stages, segments and arguments.
std::string DescribePlan(const v1::Plan& plan);

// What was written to `output` for a plan: one module, or those of a launch.
std::string FormatModules(const std::string& output,
                          const std::vector<base::NamedFile>& files,
                          bool as_json);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_PLAN_TEXT_H_
