// A pipeline's answer for people: a table of schedules, one of stages, and a
// timeline of at most 100 columns.
//
//   1 |0123......00.4411552266773.....|
//   2 |..0..1..00.2.11.3.22..|
//
// Concept: a column is a stretch of time and shows what the stage does for most
// of it. A digit is the forward of that micro-batch, a letter (a for 0) its
// backward. Upper case is the gradient of the weights alone, ~ a transfer that
// holds the stage, . nothing. With more than ten micro-batches f, b, W stand
// for all of them.
#ifndef MESHWRIGHT_CLI_TEXT_PIPELINE_TEXT_H_
#define MESHWRIGHT_CLI_TEXT_PIPELINE_TEXT_H_

#include <string>

#include "planner/pipeline/pipeline_json.h"

namespace meshwright::cli {

std::string DescribePipelineAnswer(const pipeline::PipelineAnswer& answer);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_PIPELINE_TEXT_H_
