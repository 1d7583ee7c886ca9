// The screen of a plan: what a person reads first.
//
// Concept: the step, its memory, how certain both are in words, the segments'
// choices and the commands to run next. Everything else is DescribePlan's
// (plan_text.h).
// Shapes: at most kSummaryLines lines of a terminal with kSummaryColumns
// columns, whatever the plan holds; segments and notes that have no room are
// counted. Only a command is longer than a line.
// Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_CLI_TEXT_PLAN_SUMMARY_H_
#define MESHWRIGHT_CLI_TEXT_PLAN_SUMMARY_H_

#include <string>
#include <vector>

#include "cli/text/next_steps.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

inline constexpr int kSummaryLines = 24;
inline constexpr int kSummaryColumns = 80;

// `remeasure` is the command that measures the plan's programs again; empty:
// planning again does.
std::string SummarizePlan(const v1::Plan& plan,
                          const std::vector<NextStep>& next,
                          const std::string& remeasure);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_PLAN_SUMMARY_H_
