#include "planner/pipeline/partition_table.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/pipeline/orders.h"
#include "planner/pipeline/validate.h"

namespace meshwright::pipeline {
namespace {

// Room for one more stage without overflow.
constexpr int64_t kNever = int64_t{4'000'000'000'000'000'000};

int64_t SumPicoseconds(const Transfer& transfer) {
  return (transfer.forward + transfer.backward).count();
}

}  // namespace

PartitionTable::PartitionTable(const PartitionProblem& problem,
                               Schedule schedule)
    : problem_(problem), schedule_(schedule) {
  int64_t unit = 0;
  for (const MeshShape& mesh : problem.meshes) {
    unit = std::gcd(unit, mesh.devices);
  }
  int64_t smallest = std::numeric_limits<int64_t>::max();
  for (const MeshShape& mesh : problem.meshes) {
    // Every mesh has devices: Validate.
    mesh_devices_.push_back(mesh.devices / unit);  // NOLINT
    smallest = std::min(smallest, mesh_devices_.back());
  }
  const int segments = problem.Segments();
  // More devices than every segment on the largest mesh takes are no use.
  const int64_t largest =
      *std::max_element(mesh_devices_.begin(), mesh_devices_.end());
  devices_ = std::min(problem.devices / unit, largest * segments);
  if (problem.memory_limit_bytes.has_value()) {
    const auto max_count =
        static_cast<int>(std::min<int64_t>(segments, devices_ / smallest));
    // As far as the schedule tells counts apart.
    while (counts_ < max_count &&
           WarmUpForwards(schedule, counts_, problem.micro_batches) <
               problem.micro_batches) {
      ++counts_;
    }
  }
}

absl::Status PartitionTable::Fill() {
  if (!problem_.stage_costs) {
    SumUp();
    return {};
  }
  const int segments = problem_.Segments();
  costs_.resize(Place(segments, segments + 1, 0, 0));
  for (int first = 0; first < segments; ++first) {
    for (int end = first + 1; end <= segments; ++end) {
      for (int mesh = 0; mesh < static_cast<int>(mesh_devices_.size());
           ++mesh) {
        if (mesh_devices_[mesh] > devices_) continue;
        for (int after = 0; after < counts_; ++after) {
          const std::optional<Stage> cost =
              problem_.stage_costs({first, end, mesh}, Held(after));
          if (!cost.has_value()) continue;
          RETURN_IF_ERROR(ValidateStage(
              *cost,
              absl::StrCat("the stage of segments ", first, " to ", end - 1)));
          costs_[Place(first, end, mesh, after)] = {
              (cost->forward + cost->Backward()).count(),
              cost->persistent_bytes, cost->activation_bytes};
        }
      }
    }
  }
  return CheckLongest();
}

void PartitionTable::SumUp() {
  const int segments = problem_.Segments();
  for (size_t mesh = 0; mesh < problem_.meshes.size(); ++mesh) {
    std::vector<Costs>& sums = before_.emplace_back(segments + 1);
    std::vector<int>& lacking = lacking_.emplace_back(segments + 1, 0);
    for (int i = 0; i < segments; ++i) {
      const auto& cost = problem_.segments[i][mesh];
      sums[i + 1] = sums[i];
      lacking[i + 1] = lacking[i] + !cost.has_value();
      if (!cost.has_value()) continue;
      sums[i + 1].time += (cost->forward + cost->Backward()).count();
      sums[i + 1].persistent_bytes += cost->persistent_bytes;
      sums[i + 1].activation_bytes += cost->activation_bytes;
    }
  }
}

// The partition that takes longest, and the bytes of the largest stage.
absl::Status PartitionTable::CheckLongest() const {
  const int segments = problem_.Segments();
  std::vector<int64_t> longest(segments + 1, 0);
  for (int first = segments - 1; first >= 0; --first) {
    Stages(first, [&](const StageOnMesh& stage) {
      for (int after = 0; after < counts_; ++after) {
        const std::optional<Costs> costs = At(stage, after);
        if (!costs.has_value()) continue;
        longest[first] = std::max(
            longest[first], problem::SaturatingAdd(
                                problem::SaturatingAdd(
                                    costs->time, FindTransferTime(stage.end)),
                                longest[stage.end]));
      }
    });
  }
  if (problem::SaturatingMultiply(longest[0], problem_.micro_batches) >
      problem::kMaxTime.count()) {
    return absl::InvalidArgumentError(
        "micro_batches times all stages and boundaries is more than the "
        "planner "
        "can add up; give shorter times");
  }
  return {};
}

int64_t PartitionTable::Size() const {
  const int segments = problem_.Segments();
  const int64_t rows = (segments + int64_t{1}) * counts_;
  if (!problem_.stage_costs) return rows * (devices_ + 1);
  return rows * (devices_ + 1) +
         static_cast<int64_t>(Place(segments, segments + 1, 0, 0)) * 4;
}

double PartitionTable::Work() const {
  return static_cast<double>(problem_.Segments() + 1) * counts_ *
         static_cast<double>(devices_ + 1) * problem_.Segments() *
         static_cast<double>(mesh_devices_.size());
}

// Stages by first segment, end, mesh and how many follow.
size_t PartitionTable::Place(int first, int end, int mesh, int after) const {
  const auto segments = static_cast<size_t>(problem_.Segments());
  const auto from = static_cast<size_t>(first);
  const size_t before =
      from * segments - from * (from + 1) / 2 + static_cast<size_t>(end);
  return ((before - 1) * mesh_devices_.size() + mesh) * counts_ + after;
}

std::optional<PartitionTable::Costs> PartitionTable::Sum(
    const StageOnMesh& stage) const {
  const auto& lacking = lacking_[stage.mesh];
  if (lacking[stage.end] != lacking[stage.first]) return std::nullopt;
  const Costs& high = before_[stage.mesh][stage.end];
  const Costs& low = before_[stage.mesh][stage.first];
  return Costs{high.time - low.time,
               high.persistent_bytes - low.persistent_bytes,
               high.activation_bytes - low.activation_bytes};
}

std::optional<PartitionTable::Costs> PartitionTable::At(
    const StageOnMesh& stage, int after) const {
  if (costs_.empty()) return Sum(stage);
  return costs_[Place(stage.first, stage.end, stage.mesh, after)];
}

std::optional<PartitionTable::Costs> PartitionTable::Fitting(
    const StageOnMesh& stage, int after, Picoseconds bound) const {
  const std::optional<Costs> costs = At(stage, after);
  if (!costs.has_value() || Part(stage, costs->time) > bound.count()) {
    return std::nullopt;
  }
  if (problem_.memory_limit_bytes.has_value() &&
      BytesAt(*costs, after) > *problem_.memory_limit_bytes) {
    return std::nullopt;
  }
  return costs;
}

int64_t PartitionTable::FindTransferTime(int end) const {
  if (end == 0 || end == problem_.Segments()) return 0;
  return SumPicoseconds(problem_.boundaries[end - 1]);
}

int64_t PartitionTable::Part(const StageOnMesh& stage, int64_t time) const {
  if (!problem_.overlap)
    return time + FindTransferTime(stage.first) + FindTransferTime(stage.end);
  if (stage.end == problem_.Segments()) return time;
  const Transfer& boundary = problem_.boundaries[stage.end - 1];
  return std::max({time, boundary.forward.count(), boundary.backward.count()});
}

template <typename From>
void PartitionTable::CountsBehind(int after, const From& from) const {
  if (after > 0) from(after - 1);
  if (after == counts_ - 1) from(after);
}

template <typename Visit>
void PartitionTable::Stages(int first, const Visit& visit) const {
  for (int end = first + 1; end <= problem_.Segments(); ++end) {
    for (int mesh = 0; mesh < static_cast<int>(mesh_devices_.size()); ++mesh) {
      if (mesh_devices_[mesh] <= devices_) visit(StageOnMesh{first, end, mesh});
    }
  }
}

template <typename Of, typename With>
absl::Status PartitionTable::RunProgram(const Of& of, const With& with,
                                        const base::Deadline& deadline) {
  const int segments = problem_.Segments();
  min_sums_.assign(Row(segments + 1, 0), kNever);
  const int64_t max_count = devices_;  // no entry of a row may be it
  bool stopped = false;
  for (int first = segments - 1; first >= 0; --first) {
    Stages(first, [&](const StageOnMesh& stage) {
      stopped = stopped || deadline.HasPassed();
      if (stopped) return;
      const int64_t devices = mesh_devices_[stage.mesh];
      // The last stage has none after it.
      const int counts = stage.end == segments ? 1 : counts_;
      for (int after = 0; after < counts; ++after) {
        const std::optional<int64_t> own = of(stage, after);
        // A stage that does not fit as a sum never fits with more after it:
        // those only make it hold more.
        if (!own.has_value() && costs_.empty()) break;
        if (!own.has_value()) continue;
        const int64_t worth = *own;
        int64_t* const row = &min_sums_[Row(first, after)];
        if (stage.end == segments) {
          for (int64_t d = devices; d <= max_count; ++d) {
            row[d] = std::min(row[d], worth);
          }
          continue;
        }
        CountsBehind(after, [&](int next) {
          const int64_t* const behind = &min_sums_[Row(stage.end, next)];
          for (int64_t d = devices; d <= max_count; ++d) {
            row[d] = std::min(row[d], with(worth, behind[d - devices]));
          }
        });
      }
    });
  }
  if (stopped) return absl::CancelledError("interrupted");
  return {};
}

absl::StatusOr<std::optional<PartitionTable::Solved>> PartitionTable::Solve(
    Picoseconds bound, const base::Deadline& deadline) {
  const auto time = [&](const StageOnMesh& stage, int after) {
    const std::optional<Costs> costs = Fitting(stage, after, bound);
    return costs.has_value() ? std::optional<int64_t>(
                                   costs->time + FindTransferTime(stage.end))
                             : std::nullopt;
  };
  RETURN_IF_ERROR(RunProgram(time, std::plus<int64_t>(), deadline));
  if (!BestCount().has_value()) return std::nullopt;
  return Follow(bound);
}

// How many stages follow the first one of the best partition, if there is one.
std::optional<int> PartitionTable::BestCount() const {
  std::optional<int> best;
  int64_t min_sum = kNever;
  for (int after = 0; after < counts_; ++after) {
    const int64_t sum = min_sums_[Row(0, after) + devices_];
    if (sum >= min_sum) continue;
    min_sum = sum;
    best = after;
  }
  return best;
}

// The first stage, by end and then mesh, that leads to the least sum; and so
// on.
PartitionTable::Solved PartitionTable::Follow(Picoseconds bound) const {
  const int segments = problem_.Segments();
  int after = *BestCount();
  Solved solved;
  solved.sum = Picoseconds(min_sums_[Row(0, after) + devices_]);
  int64_t left = devices_;
  for (int first = 0; first < segments;) {
    const int64_t wanted = min_sums_[Row(first, after) + left];
    std::optional<StageOnMesh> found;
    int next_after = 0;
    int64_t found_time = 0;
    Stages(first, [&](const StageOnMesh& stage) {
      if (found.has_value() || mesh_devices_[stage.mesh] > left) return;
      const std::optional<Costs> costs = Fitting(stage, after, bound);
      if (!costs.has_value()) return;
      const int64_t time = costs->time + FindTransferTime(stage.end);
      const auto take = [&](int next) {
        found = stage;
        next_after = next;
        found_time = costs->time;
      };
      if (stage.end == segments) {
        if (after == 0 && time == wanted) take(0);
        return;
      }
      CountsBehind(after, [&](int next) {
        if (found.has_value()) return;
        const int64_t behind =
            min_sums_[Row(stage.end, next) + left - mesh_devices_[stage.mesh]];
        if (time + behind == wanted) take(next);
      });
    });
    solved.partition.push_back(*found);
    solved.slowest =
        std::max(solved.slowest, Picoseconds(Part(*found, found_time)));
    left -= mesh_devices_[found->mesh];
    after = next_after;
    first = found->end;
  }
  return solved;
}

absl::StatusOr<std::optional<int64_t>> PartitionTable::FindMinBytes(
    const base::Deadline& deadline) {
  const auto bytes = [&](const StageOnMesh& stage, int after) {
    const std::optional<Costs> costs = At(stage, after);
    return costs.has_value() ? std::optional<int64_t>(BytesAt(*costs, after))
                             : std::nullopt;
  };
  const auto more = [](int64_t own, int64_t behind) {
    return std::max(own, behind);
  };
  RETURN_IF_ERROR(RunProgram(bytes, more, deadline));
  const std::optional<int> best = BestCount();
  if (!best.has_value()) return std::optional<int64_t>();
  return std::optional<int64_t>(min_sums_[Row(0, *best) + devices_]);
}

std::vector<Picoseconds> PartitionTable::SlowestParts() const {
  std::vector<Picoseconds> parts;
  for (int first = 0; first < problem_.Segments(); ++first) {
    Stages(first, [&](const StageOnMesh& stage) {
      const int counts = costs_.empty() ? 1 : counts_;
      for (int after = 0; after < counts; ++after) {
        const std::optional<Costs> costs = At(stage, after);
        if (costs.has_value()) parts.emplace_back(Part(stage, costs->time));
      }
    });
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

}  // namespace meshwright::pipeline
