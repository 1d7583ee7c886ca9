// The pipeline format: `meshwright pipeline` without the command line.
//
// In → Out: stages, or segments to be cut into stages, as JSON → the fastest
// schedule that fits as JSON (docs/formats/pipeline.md). That nothing fits is
// an answer: "feasible": false.
// Errors: kInvalidArgument, one sentence that names the field; those of Choose
// and ChooseStages.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_PIPELINE_JSON_H_
#define MESHWRIGHT_PLANNER_PIPELINE_PIPELINE_JSON_H_

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/pipeline/choose.h"
#include "planner/pipeline/choose_stages.h"
#include "planner/pipeline/partition_problem.h"
#include "planner/pipeline/pipeline_problem.h"

namespace meshwright::pipeline {

struct PipelineFile {
  std::variant<PipelineProblem, PartitionProblem> problem;
  std::optional<Schedule> schedule;
  bool one_limit = true;  // for all stages
};

struct PipelineAnswer {
  PipelineProblem problem;  // of no stages where no partition fits
  Choice choice;
  std::optional<PartitionAnswer> partition;  // where segments were given
  std::vector<MeshShape> meshes;
  std::vector<int64_t> limit_bytes;
  std::vector<int64_t> min_bytes;  // one for all, or per stage as the limits
};

absl::StatusOr<PipelineFile> ParseFile(std::string_view json);

absl::StatusOr<PipelineAnswer> Answer(const PipelineFile& file,
                                      const base::Deadline& deadline = {});

std::string AnswerToJson(const PipelineAnswer& answer);

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_PIPELINE_JSON_H_
