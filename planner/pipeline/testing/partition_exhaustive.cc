#include "planner/pipeline/testing/partition_exhaustive.h"

#include <algorithm>
#include <random>

namespace meshwright::pipeline {
namespace {

class Enumeration {
 public:
  Enumeration(const PartitionProblem& problem, Schedule schedule)
      : problem_(problem), schedule_(schedule) {}

  ExhaustivePartition Run() {
    Extend(0, problem_.devices);
    return best_;
  }

 private:
  void Extend(int first, int64_t devices) {
    if (first == problem_.Segments()) {
      Judge();
      return;
    }
    for (int end = first + 1; end <= problem_.Segments(); ++end) {
      for (size_t mesh = 0; mesh < problem_.meshes.size(); ++mesh) {
        const int64_t left = devices - problem_.meshes[mesh].devices;
        if (left < 0) continue;
        partition_.push_back({first, end, static_cast<int>(mesh)});
        Extend(end, left);
        partition_.pop_back();
      }
    }
  }

  int64_t InFlight(size_t stage) const {
    const auto after = static_cast<int64_t>(partition_.size() - 1 - stage);
    const int64_t all = problem_.micro_batches;
    if (schedule_ == Schedule::kGpipe) return all;
    return std::min(all,
                    schedule_ == Schedule::k1F1B ? after + 1 : 2 * after + 1);
  }

  void Judge() {
    int64_t sum = 0;
    int64_t slowest = 0;
    int64_t max_bytes = 0;
    int64_t left = 0;  // the boundary before
    for (size_t s = 0; s < partition_.size(); ++s) {
      const StageOnMesh& stage = partition_[s];
      int64_t time = 0;
      int64_t bytes = 0;
      const auto add = [&](const std::optional<Stage>& cost) {
        if (!cost.has_value()) return false;
        time += (cost->forward + cost->Backward()).count();
        bytes += cost->persistent_bytes + InFlight(s) * cost->activation_bytes;
        return true;
      };
      if (problem_.stage_costs) {
        const bool limited = problem_.memory_limit_bytes.has_value();
        const auto held = static_cast<int>(limited ? InFlight(s) : 1);
        if (!add(problem_.stage_costs(stage, held))) return;
      }
      for (int i = stage.first; i < stage.end && !problem_.stage_costs; ++i) {
        if (!add(problem_.segments[i][stage.mesh])) return;
      }
      const bool last = s + 1 == partition_.size();
      const Transfer boundary =
          last ? Transfer{} : problem_.boundaries[stage.end - 1];
      const int64_t right =
          boundary.forward.count() + boundary.backward.count();
      sum += time + right;
      slowest =
          std::max(slowest, problem_.overlap ? time : left + time + right);
      if (problem_.overlap) {
        slowest = std::max(
            {slowest, boundary.forward.count(), boundary.backward.count()});
      }
      max_bytes = std::max(max_bytes, bytes);
      left = right;
    }
    best_.min_bytes = std::min(best_.min_bytes.value_or(max_bytes), max_bytes);
    if (max_bytes > problem_.memory_limit_bytes.value_or(max_bytes)) return;
    const Picoseconds step(sum + (problem_.micro_batches - 1) * slowest);
    best_.step = std::min(best_.step.value_or(step), step);
  }

  const PartitionProblem& problem_;
  const Schedule schedule_;
  Partition partition_;
  ExhaustivePartition best_;
};

// SplitMix64 (Steele, Lea, Flood 2014).
uint64_t Mixed(uint64_t state) {
  state += 0x9e3779b97f4a7c15;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  return state ^ (state >> 31);
}

// A cost of its own for every stage, mesh and number of micro-batches held:
// nothing adds up, and holding more may take less.
void CostByStage(uint64_t seed, const PartitionKind& kind,
                 PartitionProblem& problem) {
  problem.segments.clear();
  problem.stage_costs = [seed, kind](const StageOnMesh& stage,
                                     int held) -> std::optional<Stage> {
    uint64_t state = seed;
    for (const int it : {stage.first, stage.end, stage.mesh, held}) {
      state = Mixed(state + static_cast<uint64_t>(it));
    }
    const auto upto = [&](int64_t largest) {
      state = Mixed(state);
      return static_cast<int64_t>(state % static_cast<uint64_t>(largest + 1));
    };
    if (kind.gaps && upto(3) == 0) return std::nullopt;
    const int64_t longest = (stage.end - stage.first) * kind.longest;
    Stage cost{Picoseconds(1 + upto(longest)), Picoseconds(upto(longest)),
               Picoseconds(upto(longest))};
    cost.activation_bytes = upto(100);
    cost.persistent_bytes = upto(1000);
    return cost;
  };
}

}  // namespace

ExhaustivePartition PartitionExhaustively(const PartitionProblem& problem,
                                          Schedule schedule) {
  return Enumeration(problem, schedule).Run();
}

PartitionProblem RandomPartition(uint64_t seed, const PartitionKind& kind) {
  std::mt19937_64 random(seed);
  const auto upto = [&](int64_t largest) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(largest + 1));
  };
  PartitionProblem problem;
  problem.devices = kind.devices;
  problem.micro_batches = kind.micro_batches;
  problem.overlap = kind.overlap;
  for (int mesh = 0; mesh < kind.meshes; ++mesh) {
    problem.meshes.push_back({"", int64_t{1} << mesh});
  }
  for (int i = 0; i < kind.segments; ++i) {
    auto& costs = problem.segments.emplace_back();
    const int64_t forward = 1 + upto(kind.longest);
    const int64_t input = 1 + upto(kind.longest);
    const int64_t weight = upto(kind.longest);
    const int64_t bytes = upto(1000);
    const int64_t activation = upto(100);
    for (int mesh = 0; mesh < kind.meshes; ++mesh) {
      // Twice the devices take more than half the time.
      const auto part = [&](int64_t time) {
        return Picoseconds((time >> mesh) + upto(time / 8));
      };
      Stage cost{part(forward), part(input), part(weight)};
      cost.activation_bytes = activation >> (upto(1) * mesh);
      cost.persistent_bytes = bytes >> mesh;
      costs.push_back(cost);
      if (kind.gaps && upto(3) == 0) costs.back().reset();
    }
    if (std::none_of(costs.begin(), costs.end(),
                     [](const auto& cost) { return cost.has_value(); })) {
      costs[0] =
          Stage{Picoseconds(forward), Picoseconds(input), Picoseconds(weight)};
    }
    if (i + 1 < kind.segments) {
      problem.boundaries.push_back({Picoseconds(upto(kind.longest / 2)),
                                    Picoseconds(upto(kind.longest / 2))});
    }
  }
  if (kind.tables) CostByStage(seed, kind, problem);
  return problem;
}

}  // namespace meshwright::pipeline
