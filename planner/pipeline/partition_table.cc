#include "planner/pipeline/partition_table.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/status/statusor.h"
#include "planner/pipeline/orders.h"

namespace meshwright::pipeline {
namespace {

// Room for one more stage without overflow.
constexpr int64_t kNever = int64_t{4'000'000'000'000'000'000};

int64_t Both(const Transfer& transfer) {
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
    mesh_devices_.push_back(mesh.devices / unit);
    smallest = std::min(smallest, mesh_devices_.back());
  }
  const int segments = problem.Segments();
  // More devices than every segment on the largest mesh takes are no use.
  const int64_t largest =
      *std::max_element(mesh_devices_.begin(), mesh_devices_.end());
  devices_ = std::min(problem.devices / unit, largest * segments);
  if (problem.memory_limit_bytes.has_value()) {
    const auto most =
        static_cast<int>(std::min<int64_t>(segments, devices_ / smallest));
    // As far as the schedule tells counts apart.
    while (counts_ < most &&
           WarmUpForwards(schedule, counts_, problem.micro_batches) <
               problem.micro_batches) {
      ++counts_;
    }
  }
  for (size_t mesh = 0; mesh < problem.meshes.size(); ++mesh) {
    std::vector<Costs>& sums = before_.emplace_back(segments + 1);
    std::vector<int>& lacking = lacking_.emplace_back(segments + 1, 0);
    for (int i = 0; i < segments; ++i) {
      const auto& cost = problem.segments[i][mesh];
      sums[i + 1] = sums[i];
      lacking[i + 1] = lacking[i] + !cost.has_value();
      if (!cost.has_value()) continue;
      sums[i + 1].time += (cost->forward + cost->Backward()).count();
      sums[i + 1].persistent_bytes += cost->persistent_bytes;
      sums[i + 1].activation_bytes += cost->activation_bytes;
    }
  }
}

int64_t PartitionTable::Size() const {
  return (problem_.Segments() + int64_t{1}) * counts_ * (devices_ + 1);
}

double PartitionTable::Work() const {
  return static_cast<double>(Size()) * problem_.Segments() *
         static_cast<double>(mesh_devices_.size());
}

PartitionTable::Costs PartitionTable::Sum(int first, int end, int mesh) const {
  const Costs& high = before_[mesh][end];
  const Costs& low = before_[mesh][first];
  return {high.time - low.time, high.persistent_bytes - low.persistent_bytes,
          high.activation_bytes - low.activation_bytes};
}

int64_t PartitionTable::Border(int end) const {
  if (end == 0 || end == problem_.Segments()) return 0;
  return Both(problem_.borders[end - 1]);
}

int64_t PartitionTable::Part(int first, int end, int64_t time) const {
  if (!problem_.overlap) return time + Border(first) + Border(end);
  if (end == problem_.Segments()) return time;
  const Transfer& border = problem_.borders[end - 1];
  return std::max({time, border.forward.count(), border.backward.count()});
}

int64_t PartitionTable::BytesAt(const Costs& costs, int stages_after) const {
  return costs.persistent_bytes +
         costs.activation_bytes * WarmUpForwards(schedule_, stages_after + 1,
                                                 problem_.micro_batches);
}

template <typename From>
void PartitionTable::CountsBehind(int after, const From& from) const {
  if (after > 0) from(after - 1);
  if (after == counts_ - 1) from(after);
}

template <typename Visit>
void PartitionTable::Stages(int first, const Visit& visit) const {
  for (int end = first + 1; end <= problem_.Segments(); ++end) {
    for (size_t mesh = 0; mesh < mesh_devices_.size(); ++mesh) {
      if (mesh_devices_[mesh] > devices_) continue;
      if (!Runs(first, end, static_cast<int>(mesh))) continue;
      visit(end, static_cast<int>(mesh),
            Sum(first, end, static_cast<int>(mesh)));
    }
  }
}

absl::StatusOr<std::optional<PartitionTable::Solved>> PartitionTable::Solve(
    Picoseconds bound, const problem::Interrupt& interrupt) {
  const int segments = problem_.Segments();
  const int64_t limit =
      problem_.memory_limit_bytes.value_or(std::numeric_limits<int64_t>::max());
  least_.assign(static_cast<size_t>(Size()), kNever);
  bool stopped = false;
  for (int first = segments - 1; first >= 0; --first) {
    Stages(first, [&](int end, int mesh, const Costs& costs) {
      if (stopped || Part(first, end, costs.time) > bound.count()) return;
      stopped = interrupt.Possible() && interrupt.Requested();
      const int64_t devices = mesh_devices_[mesh];
      const int64_t time = costs.time + Border(end);
      for (int after = 0; after < counts_; ++after) {
        if (problem_.memory_limit_bytes.has_value() &&
            BytesAt(costs, after) > limit) {
          break;
        }
        int64_t* const row = &least_[Row(first, after)];
        if (end == segments) {
          for (int64_t d = devices; d <= devices_; ++d) {
            row[d] = std::min(row[d], time);
          }
          break;  // the last stage
        }
        CountsBehind(after, [&](int next) {
          const int64_t* const from = &least_[Row(end, next)];
          for (int64_t d = devices; d <= devices_; ++d) {
            row[d] = std::min(row[d], time + from[d - devices]);
          }
        });
      }
    });
  }
  if (stopped) return absl::CancelledError("interrupted");
  int64_t best = kNever;
  for (int after = 0; after < counts_; ++after) {
    best = std::min(best, least_[Row(0, after) + devices_]);
  }
  if (best >= kNever) return std::nullopt;
  Solved solved{Follow(bound), Picoseconds(best), Picoseconds(0)};
  for (const StageOnMesh& stage : solved.partition) {
    const int64_t time = Sum(stage.first, stage.end, stage.mesh).time;
    solved.slowest = std::max(solved.slowest,
                              Picoseconds(Part(stage.first, stage.end, time)));
  }
  return solved;
}

// The first stage, by end and then mesh, that leads to the least sum; and so
// on.
Partition PartitionTable::Follow(Picoseconds bound) const {
  const int segments = problem_.Segments();
  int after = 0;
  for (int other = 1; other < counts_; ++other) {
    if (least_[Row(0, other) + devices_] < least_[Row(0, after) + devices_]) {
      after = other;
    }
  }
  Partition partition;
  int64_t left = devices_;
  for (int first = 0; first < segments;) {
    const int64_t wanted = least_[Row(first, after) + left];
    bool found = false;
    int next_after = 0;
    StageOnMesh stage{first, 0, 0};
    Stages(first, [&](int end, int mesh, const Costs& costs) {
      if (found || mesh_devices_[mesh] > left) return;
      if (Part(first, end, costs.time) > bound.count()) return;
      if (problem_.memory_limit_bytes.has_value() &&
          BytesAt(costs, after) > *problem_.memory_limit_bytes) {
        return;
      }
      const int64_t time = costs.time + Border(end);
      const auto take = [&](int next) {
        found = true;
        stage.end = end;
        stage.mesh = mesh;
        next_after = next;
      };
      if (end == segments) {
        if (after == 0 && time == wanted) take(0);
        return;
      }
      CountsBehind(after, [&](int next) {
        if (found) return;
        const int64_t behind =
            least_[Row(end, next) + left - mesh_devices_[mesh]];
        if (time + behind == wanted) take(next);
      });
    });
    partition.push_back(stage);
    left -= mesh_devices_[stage.mesh];
    after = next_after;
    first = stage.end;
  }
  return partition;
}

absl::StatusOr<std::optional<int64_t>> PartitionTable::LeastBytes(
    const problem::Interrupt& interrupt) {
  const int segments = problem_.Segments();
  least_.assign(static_cast<size_t>(Size()), kNever);
  bool stopped = false;
  for (int first = segments - 1; first >= 0; --first) {
    Stages(first, [&](int end, int mesh, const Costs& costs) {
      if (stopped) return;
      stopped = interrupt.Possible() && interrupt.Requested();
      const int64_t devices = mesh_devices_[mesh];
      for (int after = 0; after < counts_; ++after) {
        const int64_t bytes = BytesAt(costs, after);
        int64_t* const row = &least_[Row(first, after)];
        if (end == segments) {
          for (int64_t d = devices; d <= devices_; ++d) {
            row[d] = std::min(row[d], bytes);
          }
          break;
        }
        CountsBehind(after, [&](int next) {
          const int64_t* const from = &least_[Row(end, next)];
          for (int64_t d = devices; d <= devices_; ++d) {
            row[d] = std::min(row[d], std::max(bytes, from[d - devices]));
          }
        });
      }
    });
  }
  if (stopped) return absl::CancelledError("interrupted");
  int64_t best = kNever;
  for (int after = 0; after < counts_; ++after) {
    best = std::min(best, least_[Row(0, after) + devices_]);
  }
  if (best >= kNever) return std::optional<int64_t>();
  return std::optional<int64_t>(best);
}

std::vector<Picoseconds> PartitionTable::SlowestParts() const {
  std::vector<Picoseconds> parts;
  for (int first = 0; first < problem_.Segments(); ++first) {
    Stages(first, [&](int end, int, const Costs& costs) {
      parts.emplace_back(Part(first, end, costs.time));
    });
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

}  // namespace meshwright::pipeline
