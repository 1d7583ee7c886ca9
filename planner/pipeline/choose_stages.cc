#include "planner/pipeline/choose_stages.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace meshwright::pipeline {
namespace {

bool Faster(const StagesChoice::Chosen& a, const StagesChoice::Chosen& b) {
  if (!a.choice.chosen.has_value()) return false;
  return !b.choice.chosen.has_value() ||
         a.choice.chosen->figures.step < b.choice.chosen->figures.step;
}

}  // namespace

std::vector<Schedule> ListMemoryKinds(const PartitionProblem& problem,
                                      std::optional<Schedule> only) {
  if (only.has_value()) return {*only};
  if (!problem.memory_limit_bytes.has_value()) return {Schedule::k1F1B};
  return {Schedule::k1F1B, Schedule::kEager1F1B, Schedule::kGpipe};
}

absl::StatusOr<StagesChoice> ChooseStages(const PartitionProblem& problem,
                                          std::optional<Schedule> only,
                                          const base::Deadline& deadline) {
  StagesChoice answer;
  for (const Schedule kind : ListMemoryKinds(problem, only)) {
    StagesChoice::Chosen made;
    ASSIGN_OR_RETURN(made.partition, PartitionStages(problem, kind, deadline));
    if (!made.partition.partition.has_value()) {
      if (made.partition.min_bytes.has_value()) {
        answer.min_bytes =
            std::min(answer.min_bytes.value_or(*made.partition.min_bytes),
                     *made.partition.min_bytes);
      }
      continue;
    }
    made.stages = MakeStages(problem, *made.partition.partition, kind);
    ASSIGN_OR_RETURN(made.choice, Choose(made.stages, only, deadline));
    if (!answer.chosen.has_value() || Faster(made, *answer.chosen)) {
      answer.chosen = std::move(made);
    }
  }
  if (answer.chosen.has_value()) answer.min_bytes.reset();
  return answer;
}

}  // namespace meshwright::pipeline
