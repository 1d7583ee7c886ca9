#include "coordinator/stages/partition_within_memory.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/planning/memory_pressure.h"
#include "coordinator/stages/remeasure_stages.h"

namespace meshwright::stages {
namespace {

// The programs counted in the first look are looked up again in the second.
void AddLook(const PartitionedStep& first, PartitionedStep& second) {
  planning::AddWork(first.programs, first.seconds, second.programs,
                    second.seconds);
  AddPrograms(first.split_programs, second.split_programs);
}

class Cutter {
 public:
  Cutter(const planning::PlanDependencies& dependencies,
         const jobs::ProgressFunction& progress)
      : dependencies_(dependencies), progress_(progress) {}

  absl::StatusOr<PartitionedStep> Look(const v1::PlanRequest& request) const {
    PartitionedStep made;
    made.request = request;
    ASSIGN_OR_RETURN(made.step,
                     MeasureMeshes(request, dependencies_, progress_));
    v1::PlanProgress phase;
    phase.set_phase("search");
    phase.set_total(1);
    progress_(phase);
    for (const auto& mesh : made.step->meshes) {
      AddPrograms(mesh->step.programs, made.programs);
      planning::AddSeconds(mesh->step.seconds, made.seconds);
    }
    ASSIGN_OR_RETURN(made.cuts, Choose(made));
    if (!made.cuts.chosen.has_value()) return made;
    // Once: the step of a made-up 1x2 machine is within 0.4 % of a quiet one's
    // then. Rows that are still noisy are in the plan's quality.
    ASSIGN_OR_RETURN(const bool is_changed,
                     RemeasureStages(request, *made.cuts.chosen, dependencies_,
                                     progress_, *made.step));
    if (!is_changed) return made;
    made.programs.Clear();
    made.seconds.Clear();
    for (const auto& mesh : made.step->meshes) {
      AddPrograms(mesh->step.programs, made.programs);
      planning::AddSeconds(mesh->step.seconds, made.seconds);
    }
    const v1::PlanPrograms before = std::exchange(made.split_programs, {});
    ASSIGN_OR_RETURN(made.cuts, Choose(made));
    // Programs that were measured before are looked up again.
    v1::PlanPrograms& counts = made.split_programs;
    counts.set_profiled(counts.profiled() + before.profiled());
    counts.set_remeasured(counts.remeasured() + before.remeasured());
    counts.set_cached(std::max(0, counts.cached() - before.profiled()));
    return made;
  }

  // Whether a step within the limit could be shorter without it.
  absl::StatusOr<bool> IsMemoryShort(PartitionedStep& made) const {
    const std::optional<int64_t> limit = made.step->terms.memory_limit_bytes;
    if (!limit.has_value()) return false;
    if (!made.cuts.chosen.has_value()) return true;
    RETURN_IF_ERROR(SetLimit(*made.step, std::nullopt));
    ASSIGN_OR_RETURN(const PartitionSearchAnswer free, Choose(made));
    RETURN_IF_ERROR(SetLimit(*made.step, limit));
    return free.chosen.has_value() &&
           free.chosen->chosen.step < made.cuts.chosen->chosen.step;
  }

 private:
  absl::StatusOr<PartitionSearchAnswer> Choose(PartitionedStep& made) const {
    return SearchPartition(made.request, *made.step, dependencies_, progress_,
                           made.split_programs);
  }

  const planning::PlanDependencies& dependencies_;
  const jobs::ProgressFunction& progress_;
};

// Stages where there were none, a shorter step, or a smaller minimum memory.
bool IsBetter(const PartitionSearchAnswer& second,
              const PartitionSearchAnswer& first) {
  if (second.chosen.has_value() != first.chosen.has_value()) {
    return second.chosen.has_value();
  }
  if (second.chosen.has_value()) {
    return second.chosen->chosen.step < first.chosen->chosen.step;
  }
  return second.min_bytes.has_value() &&
         (!first.min_bytes.has_value() || *second.min_bytes < *first.min_bytes);
}

}  // namespace

void AddPrograms(const v1::PlanPrograms& more, v1::PlanPrograms& sum) {
  sum.set_total(sum.total() + more.total());
  sum.set_distinct(sum.distinct() + more.distinct());
  sum.set_profiled(sum.profiled() + more.profiled());
  sum.set_remeasured(sum.remeasured() + more.remeasured());
  sum.set_cached(sum.cached() + more.cached());
  sum.set_excluded(sum.excluded() + more.excluded());
  sum.set_not_reached(sum.not_reached() + more.not_reached());
  sum.set_failed(sum.failed() + more.failed());
  sum.set_halves(sum.halves() + more.halves());
}

absl::StatusOr<PartitionedStep> PartitionWithinMemory(
    const v1::PlanRequest& request,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress) {
  const Cutter cutter(dependencies, progress);
  ASSIGN_OR_RETURN(PartitionedStep first, cutter.Look(request));
  if (planning::OpensSwitches(request)) return first;
  ASSIGN_OR_RETURN(const bool is_short, cutter.IsMemoryShort(first));
  if (!is_short) return first;
  ASSIGN_OR_RETURN(PartitionedStep second,
                   cutter.Look(planning::OpenRecompute(request)));
  AddLook(first, second);
  if (IsBetter(second.cuts, first.cuts)) return second;
  // The work of the look was spent all the same.
  first.programs = std::move(second.programs);
  first.split_programs = std::move(second.split_programs);
  first.seconds = std::move(second.seconds);
  return first;
}

}  // namespace meshwright::stages
