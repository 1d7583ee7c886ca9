// An explanation as text for people: what each choice of a plan saves.
#ifndef MESHWRIGHT_CLI_EXPLANATION_H_
#define MESHWRIGHT_CLI_EXPLANATION_H_

#include <string>

#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

std::string DescribeExplanation(const v1::PlanExplanation& explanation);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_EXPLANATION_H_
