// PartitionTable: the dynamic program of PartitionStages for one bound on the
// slowest part.
//
// Concept: least[j][q][d] is the minimum sum of times of the segments from j
// on, cut into q + 1 stages on at most d devices. No part is slower than the
// bound, and every stage is within the memory limit. The last q stands for that
// many and more, where the schedule counts no further.
// Units: devices in units of what all meshes have in common.
// Errors: Fill gives kInvalidArgument for a cost that is no valid stage's, and
// for costs that add up to more than the planner can hold. Solve and
// FindMinBytes give kCancelled where the deadline passes first.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_PARTITION_TABLE_H_
#define MESHWRIGHT_PLANNER_PIPELINE_PARTITION_TABLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "planner/pipeline/partition_problem.h"

namespace meshwright::pipeline {

class PartitionTable {
 public:
  // Of a valid problem; keeps a reference to it.
  PartitionTable(const PartitionProblem& problem, Schedule schedule);

  // Before anything else: asks for the costs of all stages, where they are no
  // sums.
  absl::Status Fill();

  // Entries of all tables, and about how many steps one program takes.
  int64_t Size() const;
  // As a double, because the product may not fit 64 bits.
  double Work() const;

  struct Solved {
    Partition partition;
    Picoseconds sum{0};      // of stages and boundaries
    Picoseconds slowest{0};  // part of the partition
  };
  // Empty: no partition.
  absl::StatusOr<std::optional<Solved>> Solve(
      Picoseconds bound, const base::Deadline& deadline = {});

  // The least limit for which there is a partition; empty: for none.
  absl::StatusOr<std::optional<int64_t>> FindMinBytes(
      const base::Deadline& deadline = {});

  // Every time that the slowest part of a partition may take, rising.
  std::vector<Picoseconds> SlowestParts() const;

 private:
  // One stage.
  struct Costs {
    int64_t time = 0;
    int64_t persistent_bytes = 0;
    int64_t activation_bytes = 0;
  };

  // Of a stage that so many follow; none: it cannot run.
  std::optional<Costs> At(const StageOnMesh& stage, int after) const;
  std::optional<Costs> Sum(const StageOnMesh& stage) const;
  // The same where the part is within the bound and the bytes within the limit.
  std::optional<Costs> Fitting(const StageOnMesh& stage, int after,
                               Picoseconds bound) const;
  size_t Place(int first, int end, int mesh, int after) const;
  void SumUp();
  absl::Status CheckLongest() const;
  // The time of the slowest part that this stage and the link behind it are.
  int64_t Part(const StageOnMesh& stage, int64_t time) const;
  int64_t FindTransferTime(int end) const;  // both transfers; 0 at the ends
  int Held(int stages_after) const {
    return CountHeld(problem_, schedule_, stages_after + 1);
  }
  int64_t BytesAt(const Costs& costs, int stages_after) const {
    return costs.persistent_bytes + costs.activation_bytes * Held(stages_after);
  }
  size_t Row(int segment, int after) const {
    return (static_cast<size_t>(segment) * counts_ + after) * (devices_ + 1);
  }
  // Calls from(next) with every count that one more stage makes `after`.
  template <typename From>
  void CountsBehind(int after, const From& from) const;
  // Goes through every stage that starts at `first`, by end and then mesh.
  template <typename Visit>
  void Stages(int first, const Visit& visit) const;
  // The dynamic program, into `min_sums_`. of(stage, after) is what a stage is
  // worth, none where it may not be. with(worth, behind) is what it makes of
  // the best behind it.
  template <typename Of, typename With>
  absl::Status RunProgram(const Of& of, const With& with,
                          const base::Deadline& deadline);
  std::optional<int> BestCount() const;
  Solved Follow(Picoseconds bound) const;

  const PartitionProblem& problem_;
  const Schedule schedule_;
  int64_t devices_ = 0;  // in units
  std::vector<int64_t> mesh_devices_;
  int counts_ = 1;  // of stages that are distinguished
  // Sums over the segments before, per mesh.
  std::vector<std::vector<Costs>> before_;
  std::vector<std::vector<int>> lacking_;
  // In place of sums, by Place.
  std::vector<std::optional<Costs>> costs_;
  std::vector<int64_t> min_sums_;
};

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_PARTITION_TABLE_H_
