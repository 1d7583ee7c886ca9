// A plan as JSON and as text for people.
#ifndef MESHWRIGHT_CLI_TEXT_PLAN_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_PLAN_TEXT_H_

#include <string>

#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

// The JSON of `plan`; the figures of an infeasible plan are null.
std::string PlanToJson(const v1::Plan& plan);

// A page: the predicted figures, then stages, segments and arguments.
std::string DescribePlan(const v1::Plan& plan);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_PLAN_TEXT_H_
