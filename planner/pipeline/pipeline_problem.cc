#include "planner/pipeline/pipeline_problem.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace meshwright::pipeline {

std::string_view Name(Schedule schedule) {
  switch (schedule) {
    case Schedule::kGpipe:
      return "gpipe";
    case Schedule::k1F1B:
      return "1f1b";
    case Schedule::kEager1F1B:
      return "eager-1f1b";
    case Schedule::kEager1F1BDelay:
      return "eager-1f1b-delay";
  }
  return "";
}

absl::StatusOr<Schedule> ParseSchedule(std::string_view name) {
  std::string names;
  for (const Schedule schedule : kSchedules) {
    if (Name(schedule) == name) return schedule;
    absl::StrAppend(&names, names.empty() ? "" : ", ",
                    std::string(Name(schedule)));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the schedule is \"", std::string(name), "\"; there are ", names));
}

Picoseconds FindMinBackward(const Stage& stage) {
  return std::min(stage.backward_input + stage.backward_weight,
                  stage.Backward());
}

Picoseconds FindMaxBackward(const Stage& stage) {
  return std::max(stage.backward_input + stage.backward_weight,
                  stage.Backward());
}

Picoseconds ComputeBackward(Schedule schedule, const Stage& stage) {
  return schedule == Schedule::kEager1F1BDelay
             ? stage.backward_input + stage.backward_weight
             : stage.Backward();
}

}  // namespace meshwright::pipeline
