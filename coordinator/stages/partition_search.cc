#include "coordinator/stages/partition_search.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/pipeline/choose_stages.h"
#include "planner/pipeline/partition.h"

namespace meshwright::stages {
namespace {

using pipeline::Picoseconds;
using pipeline::Schedule;
using pipeline::Stage;
using pipeline::StageOnMesh;

constexpr int kMaxRounds = 8;

// A cut of which the memory of a schedule was asked.
using Seen = std::tuple<int, int, int, int>;  // first, end, mesh, held

class PartitionSearcher {
 public:
  PartitionSearcher(const v1::PlanRequest& request, MeasuredMeshes& step,
                    const planning::PlanDependencies& dependencies,
                    const jobs::ProgressFunction& progress,
                    v1::PlanPrograms& counts)
      : request_(request),
        step_(step),
        terms_(step.terms),
        dependencies_(dependencies),
        progress_(progress),
        counts_(counts),
        boundaries_(terms_.cluster, terms_.bandwidths, step.cuts) {}

  absl::StatusOr<PartitionSearchAnswer> Run() {
    MakeProblem();
    UpdateCosts();
    PartitionSearchAnswer answer;
    for (bool is_new = true; is_new && answer.rounds < kMaxRounds;) {
      ++answer.rounds;
      is_new = false;
      for (const Schedule kind :
           pipeline::ListMemoryKinds(problem_, terms_.schedule)) {
        const absl::StatusOr<pipeline::PartitionAnswer> cut =
            pipeline::PartitionStages(
                problem_, kind, {.stop = dependencies_.measurer->StopToken()});
        RETURN_IF_ERROR(failure_);
        RETURN_IF_ERROR(planning::CheckWanted(dependencies_));
        RETURN_IF_ERROR(cut.status());
        if (!cut->partition.has_value()) {
          if (cut->min_bytes.has_value()) {
            answer.min_bytes = std::min(
                answer.min_bytes.value_or(*cut->min_bytes), *cut->min_bytes);
          }
          continue;
        }
        if (!seen_.insert(HeldBy(*cut->partition, kind)).second) continue;
        is_new = true;
        ASSIGN_OR_RETURN(std::optional<ChosenPartition> made,
                         Build(*cut->partition, kind));
        if (made.has_value() &&
            (!answer.chosen.has_value() ||
             made->chosen.step < answer.chosen->chosen.step)) {
          answer.chosen = std::move(made);
        }
      }
    }
    return answer;
  }

 private:
  void MakeProblem() {
    std::vector<space::Mesh> meshes;
    for (const auto& mesh : step_.meshes) {
      meshes.push_back(mesh->step.space.context.mesh);
    }
    problem_ = OutlinePartition(terms_, meshes, step_.cuts.size());
    closed_.resize(step_.cuts.size());
    for (size_t cut = 0; cut < step_.cuts.size(); ++cut) {
      SetBoundary(cut,
                  boundaries_.Bound(step_.analysis(), static_cast<int>(cut)));
    }
    problem_.stage_costs = [this](const StageOnMesh& stage, int held) {
      return GetCost(stage, held);
    };
  }

  // No cut is where so much travels that a step of such boundaries would be
  // beyond what times can say.
  void SetBoundary(size_t cut, const pipeline::Transfer& transfer) {
    const Picoseconds longest = problem::kMaxTime /
                                (int64_t{8} * terms_.micro_batches) /
                                step_.Segments();
    closed_[cut] = !step_.cuts[cut].possible ||
                   std::max(transfer.forward, transfer.backward) > longest;
    if (!closed_[cut]) problem_.boundaries[cut] = transfer;
  }

  bool MayCut(int end) const {
    return end == 0 || end == step_.Segments() || !closed_[end - 1];
  }

  std::optional<Stage> GetCost(const StageOnMesh& stage, int held) {
    if (failure_.ok()) failure_ = planning::CheckWanted(dependencies_);
    if (!failure_.ok() || !MayCut(stage.first) || !MayCut(stage.end)) {
      return std::nullopt;
    }
    const auto run = step_.meshes[stage.mesh]->search->Plan(
        segmenter::SegmentIndex(stage.first),
        segmenter::SegmentIndex(stage.end), held);
    if (!run.ok()) {
      failure_ = run.status();
      return std::nullopt;
    }
    if (!(*run)->fits) {
      if ((*run)->persistent_bytes == 0) return std::nullopt;
      Stage too_large;
      too_large.persistent_bytes = (*run)->persistent_bytes;
      return too_large;
    }
    const auto [known, added] = costs_.try_emplace(*run);
    if (added) {
      known->second = SpreadUpdate(ComputeStageWork(step_, stage.mesh, **run),
                                   terms_.micro_batches);
    }
    return known->second;
  }

  std::vector<Seen> HeldBy(const pipeline::Partition& partition,
                           Schedule kind) const {
    std::vector<Seen> seen;
    int from_here = static_cast<int>(partition.size());
    for (const StageOnMesh& stage : partition) {
      seen.emplace_back(stage.first, stage.end, stage.mesh,
                        pipeline::CountHeld(problem_, kind, from_here--));
    }
    return seen;
  }

  // The costs of the stages, measured as far as possible. How a configuration's
  // time splits may make another one better, whose split is measured then.
  absl::StatusOr<std::vector<ChosenStage>> Fill(
      const pipeline::Partition& partition, Schedule kind) {
    std::vector<ChosenStage> stages;
    for (int round = 0; round < kMaxRounds; ++round) {
      ASSIGN_OR_RETURN(stages, BreakTiesOfPlans(partition, kind));
      ASSIGN_OR_RETURN(const bool any, MeasureSplits(stages));
      if (!any) break;
      UpdateCosts();
    }
    // Ties were broken and splits measured.
    costs_.clear();
    std::vector<space::Mesh> meshes;
    for (const ChosenStage& stage : stages) {
      meshes.push_back(step_.meshes[stage.place.mesh]->step.space.context.mesh);
    }
    const auto devices = Place(terms_.cluster, meshes);
    for (size_t i = 0; i < stages.size(); ++i) {
      stages[i].work =
          ComputeStageWork(step_, stages[i].place.mesh, stages[i].run);
      stages[i].devices = devices[i];
    }
    return stages;
  }

  absl::StatusOr<std::vector<ChosenStage>> BreakTiesOfPlans(
      const pipeline::Partition& partition, Schedule kind) {
    std::vector<ChosenStage> stages;
    for (const Seen& it : HeldBy(partition, kind)) {
      const auto [first, end, mesh, held] = it;
      ChosenStage stage;
      stage.place = {first, end, mesh};
      ASSIGN_OR_RETURN(const RunPlan* run,
                       step_.meshes[mesh]->search->PlanBreakingTies(
                           stage.first(), stage.end(), held));
      stage.run = *run;
      stages.push_back(std::move(stage));
    }
    return stages;
  }

  void UpdateCosts() {
    ApplyPassTimes(step_);
    costs_.clear();  // of plans that may be gone
  }

  // Whether anything is known now that was not.
  absl::StatusOr<bool> MeasureSplits(const std::vector<ChosenStage>& stages) {
    // Without a pipeline nobody asks how a stage's time splits.
    if (stages.size() < 2 && terms_.micro_batches == 1) return false;
    bool any = false;
    for (size_t mesh = 0; mesh < step_.meshes.size(); ++mesh) {
      std::set<PassTimeSplit::Choice> choices;
      for (const ChosenStage& stage : stages) {
        if (stage.place.mesh != static_cast<int>(mesh)) continue;
        for (const auto& [use, count] : stage.run.uses) choices.insert(use);
      }
      if (choices.empty()) continue;
      MeasuredMesh& measured = *step_.meshes[mesh];
      ASSIGN_OR_RETURN(
          const bool more,
          measured.splits->Measure(
              choices,
              planning::MakeDeviceSpec(request_,
                                       measured.step.space.context.mesh),
              dependencies_, progress_, !request_.no_wait(), counts_));
      any = any || more;
    }
    return any;
  }

  absl::Status PlanBoundaries(ChosenPartition& made) {
    for (size_t i = 0; i + 1 < made.stages.size(); ++i) {
      RETURN_IF_ERROR(planning::CheckWanted(dependencies_));
      const auto side = [&](const ChosenStage& stage) {
        return StageSide{&step_.meshes[stage.place.mesh]->step, stage.first(),
                         stage.end(), &stage.run.choice, &stage.devices};
      };
      ASSIGN_OR_RETURN(
          BoundaryPlan boundary,
          boundaries_.Plan(side(made.stages[i]), side(made.stages[i + 1])));
      const pipeline::Transfer transfer = {boundary.forward.Time(),
                                           boundary.backward.Time()};
      SetBoundary(made.stages[i].place.end - 1, transfer);
      made.problem.transfers.push_back(transfer);
      made.boundaries.push_back(std::move(boundary));
    }
    return {};
  }

  // None: no schedule fits its memory.
  absl::StatusOr<std::optional<ChosenPartition>> Build(
      const pipeline::Partition& partition, Schedule kind) {
    ChosenPartition made;
    ASSIGN_OR_RETURN(made.stages, Fill(partition, kind));
    RETURN_IF_ERROR(PlanBoundaries(made));
    ASSIGN_OR_RETURN(const bool fits, ScheduleStages(step_, made));
    if (!fits) return std::optional<ChosenPartition>();
    return std::optional<ChosenPartition>(std::move(made));
  }

  const v1::PlanRequest& request_;
  MeasuredMeshes& step_;
  const StageTerms& terms_;
  const planning::PlanDependencies& dependencies_;
  const jobs::ProgressFunction& progress_;
  v1::PlanPrograms& counts_;
  BoundaryPlanner boundaries_;
  pipeline::PartitionProblem problem_;
  std::vector<bool> closed_;  // cuts
  std::unordered_map<const RunPlan*, Stage> costs_;
  std::set<std::vector<Seen>> seen_;
  absl::Status failure_;
};

}  // namespace

absl::StatusOr<PartitionSearchAnswer> SearchPartition(
    const v1::PlanRequest& request, MeasuredMeshes& step,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress, v1::PlanPrograms& counts) {
  return PartitionSearcher(request, step, dependencies, progress, counts).Run();
}

}  // namespace meshwright::stages
