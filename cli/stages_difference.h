// What two plans differ by in their stages, from their files alone.
//
// Either may be of one mesh: that is one stage on all of it, as far as segments
// and arguments are compared.
#ifndef MESHWRIGHT_CLI_STAGES_DIFFERENCE_H_
#define MESHWRIGHT_CLI_STAGES_DIFFERENCE_H_

#include <nlohmann/json.hpp>
#include <string>

#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

// The segments, arguments and outputs of the stages in order, as those of the
// plan; the mesh and the stage stand behind what each of them does. An argument
// of several stages is there as the first of them has it.
v1::Plan StagesInLine(const v1::Plan& plan);

// Schedules, and what every stage holds; nothing if neither has stages.
void AppendStagesDifference(const v1::Plan& a, const v1::Plan& b,
                            std::string* text);

// `pipeline` and `stages` of one of the plans, if it has any.
void AddStagesJson(const v1::Plan& plan, nlohmann::ordered_json* figures);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_STAGES_DIFFERENCE_H_
