#include "planner/pipeline/validate.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::pipeline {
namespace {

absl::Status ValidateTime(Picoseconds time, const std::string& field) {
  if (time.count() < 0)
    return absl::InvalidArgumentError(absl::StrCat(field, " is negative"));
  if (time > problem::kMaxTime) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " is longer than the planner can add up"));
  }
  return {};
}

absl::Status ValidateBytes(int64_t bytes, const std::string& field) {
  if (bytes < 0)
    return absl::InvalidArgumentError(
        absl::StrCat(field, " is negative: ", bytes));
  if (bytes > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, " is ", bytes, " bytes; no device holds more than ", kMaxBytes));
  }
  return {};
}

absl::Status ValidateLimits(const PipelineProblem& problem) {
  const std::vector<int64_t>& limits = problem.memory_limit_bytes;
  if (limits.empty()) return {};
  if (limits.size() != problem.stages.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "memory_limit_bytes has ", limits.size(), " entries and stages ",
        problem.stages.size(), "; give one number, or one per stage"));
  }
  for (size_t i = 0; i < limits.size(); ++i) {
    if (limits[i] <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("memory_limit_bytes is ", limits[i],
                       "; give a positive number of bytes, or leave it "
                       "out"));
    }
  }
  return {};
}

absl::Status ValidateSums(const PipelineProblem& problem) {
  int64_t once = 0;
  for (const Stage& stage : problem.stages) {
    once = problem::SaturatingAdd(once, stage.forward.count());
    once = problem::SaturatingAdd(once, FindMaxBackward(stage).count());
  }
  for (const Transfer& transfer : problem.transfers) {
    once = problem::SaturatingAdd(once, transfer.forward.count());
    once = problem::SaturatingAdd(once, transfer.backward.count());
  }
  if (problem::SaturatingMultiply(once, problem.micro_batches) >
      problem::kMaxTime.count()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "micro_batches times all stages and transfers is more "
        "than the ",
        static_cast<int64_t>(problem::ToSeconds(problem::kMaxTime)),
        " seconds the planner can add up; give shorter times"));
  }
  for (size_t i = 0; i < problem.stages.size(); ++i) {
    const Stage& stage = problem.stages[i];
    if (problem::SaturatingAdd(
            stage.persistent_bytes,
            problem::SaturatingMultiply(
                std::max(stage.activation_bytes, stage.ComputeDelayedBytes()),
                problem.micro_batches)) > kMaxBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("stages[", i,
                       "] holds more bytes than can be added up with "
                       "the activations of all micro_batches"));
    }
  }
  return {};
}

}  // namespace

absl::Status ValidateStage(const Stage& stage, const std::string& field) {
  RETURN_IF_ERROR(ValidateTime(stage.forward, field + ".forward_seconds"));
  RETURN_IF_ERROR(
      ValidateTime(stage.backward_input, field + ".backward_input_seconds"));
  RETURN_IF_ERROR(
      ValidateTime(stage.backward_weight, field + ".backward_weight_seconds"));
  RETURN_IF_ERROR(ValidateTime(stage.Backward(), field + ".backward_seconds"));
  RETURN_IF_ERROR(
      ValidateBytes(stage.activation_bytes, field + ".activation_bytes"));
  RETURN_IF_ERROR(
      ValidateBytes(stage.persistent_bytes, field + ".persistent_bytes"));
  RETURN_IF_ERROR(
      ValidateBytes(stage.ComputeDelayedBytes(), field + ".delayed_bytes"));
  return {};
}

absl::Status ValidateMicroBatches(int64_t micro_batches) {
  if (micro_batches >= 1 && micro_batches <= kMaxForwards) return {};
  return absl::InvalidArgumentError(absl::StrCat(
      "micro_batches is ", micro_batches, "; give 1 to ", kMaxForwards));
}

absl::Status Validate(const PipelineProblem& problem) {
  const size_t stages = problem.stages.size();
  if (stages == 0)
    return absl::InvalidArgumentError("stages is empty; give at least one");
  if (stages > kMaxStages) {
    return absl::InvalidArgumentError(
        absl::StrCat("stages has ", stages, " entries; at most ", kMaxStages,
                     " are simulated"));
  }
  if (problem.transfers.size() != stages - 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("transfers has ", problem.transfers.size(), " entries; ",
                     stages, " stages have ", stages - 1, " between them"));
  }
  RETURN_IF_ERROR(ValidateMicroBatches(problem.micro_batches));
  if (static_cast<int64_t>(stages) * problem.micro_batches > kMaxForwards) {
    return absl::InvalidArgumentError(absl::StrCat(
        "micro_batches is ", problem.micro_batches, "; with ", stages,
        " stages at most ", kMaxForwards / static_cast<int64_t>(stages),
        " are simulated"));
  }
  for (size_t i = 0; i < stages; ++i) {
    RETURN_IF_ERROR(
        ValidateStage(problem.stages[i], absl::StrCat("stages[", i, "]")));
  }
  for (size_t i = 0; i + 1 < stages; ++i) {
    const std::string field = absl::StrCat("transfers[", i, "]");
    RETURN_IF_ERROR(
        ValidateTime(problem.transfers[i].forward, field + ".forward_seconds"));
    RETURN_IF_ERROR(ValidateTime(problem.transfers[i].backward,
                                 field + ".backward_seconds"));
  }
  RETURN_IF_ERROR(ValidateLimits(problem));
  return ValidateSums(problem);
}

}  // namespace meshwright::pipeline
