#include "planner/pipeline/pipeline_problem.h"

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

std::optional<Schedule> ScheduleNamed(std::string_view name) {
  for (const Schedule schedule : kSchedules) {
    if (Name(schedule) == name) return schedule;
  }
  return std::nullopt;
}

}  // namespace meshwright::pipeline
