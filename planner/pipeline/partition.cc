#include "planner/pipeline/partition.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "planner/pipeline/partition_table.h"

namespace meshwright::pipeline {
namespace {

constexpr int64_t kMaxEntries = int64_t{1} << 27;  // 1 GiB
// Work of a program that is done whatever the deadline says: about 0.2 s.
constexpr double kQuick = 2e8;

// Bounds on the slowest part, by their places in the list of its times.
struct Candidates {
  size_t low = 0;
  size_t end = 0;       // one past the last
  Picoseconds sum{0};   // no bound in it has a smaller one
  Picoseconds step{0};  // hence

  bool operator>(const Candidates& other) const {
    return std::tie(step, low) > std::tie(other.step, other.low);
  }
};

class Search {
 public:
  Search(const PartitionProblem& problem, Schedule schedule,
         PartitionTable& table, const base::Deadline& deadline,
         PartitionAnswer& answer)
      : others_(problem.micro_batches - 1),
        table_(table),
        problem_(problem),
        schedule_(schedule),
        deadline_(deadline),
        answer_(answer),
        parts_(table.SlowestParts()) {}

  absl::Status Run() {
    const base::Deadline none;
    const bool quick = table_.Work() < kQuick;
    const auto widest =
        table_.Solve(Picoseconds::max(), quick ? none : deadline_);
    if (!widest.ok()) return GiveOneStage();
    ++answer_.programs;
    if (!widest->has_value()) {
      const auto min_bytes = table_.FindMinBytes(quick ? none : deadline_);
      if (min_bytes.ok()) answer_.min_bytes = *min_bytes;
      return {};
    }
    Offer(**widest);
    Open(0, FindPlace((*widest)->slowest), (*widest)->sum);
    while (!open_.empty() && open_.top().step < answer_.step) {
      const Candidates interval = open_.top();
      const size_t middle = interval.low + (interval.end - interval.low) / 2;
      const auto solved = table_.Solve(parts_[middle], deadline_);
      if (!solved.ok()) break;
      ++answer_.programs;
      open_.pop();
      Open(middle + 1, interval.end, interval.sum);
      if (!solved->has_value()) continue;
      Offer(**solved);
      Open(interval.low, FindPlace((*solved)->slowest), (*solved)->sum);
    }
    answer_.lower_bound = answer_.step;
    if (!open_.empty()) {
      answer_.lower_bound = std::min(answer_.step, open_.top().step);
    }
    return {};
  }

 private:
  // Where there is no time for a single program: everything on one mesh, and as
  // a bound every segment where it is fastest; where stages are no sums, none.
  absl::Status GiveOneStage() {
    Picoseconds sum{0};
    Picoseconds slowest{0};
    for (const auto& costs : problem_.segments) {
      std::optional<Picoseconds> min_time;
      for (const auto& cost : costs) {
        if (!cost.has_value()) continue;
        const Picoseconds time = cost->forward + cost->Backward();
        min_time = std::min(min_time.value_or(time), time);
      }
      sum += *min_time;
      slowest = std::max(slowest, *min_time);
    }
    const int held = CountHeld(problem_, schedule_, 1);
    for (size_t mesh = 0; mesh < problem_.meshes.size(); ++mesh) {
      if (problem_.meshes[mesh].devices > problem_.devices) continue;
      const StageOnMesh all = {0, problem_.Segments(), static_cast<int>(mesh)};
      const std::optional<Stage> stage = FindCost(problem_, all, held);
      if (!stage.has_value()) continue;
      const int64_t bytes =
          stage->persistent_bytes + held * stage->activation_bytes;
      if (bytes > problem_.memory_limit_bytes.value_or(bytes)) continue;
      const Picoseconds time = stage->forward + stage->Backward();
      Offer({{all}, time, time});
    }
    if (!answer_.partition.has_value()) {
      return absl::DeadlineExceededError(
          "no partition was found before the end; give it more time, or join "
          "segments");
    }
    answer_.lower_bound = sum + others_ * slowest;
    return {};
  }

  size_t FindPlace(Picoseconds part) const {
    return std::lower_bound(parts_.begin(), parts_.end(), part) -
           parts_.begin();
  }

  void Offer(const PartitionTable::Solved& solved) {
    const Picoseconds step = solved.sum + others_ * solved.slowest;
    if (answer_.partition.has_value() && step >= answer_.step) return;
    answer_.partition = solved.partition;
    answer_.step = step;
  }

  void Open(size_t low, size_t end, Picoseconds sum) {
    if (low >= end) return;
    open_.push({low, end, sum, sum + others_ * parts_[low]});
  }

  const int64_t others_;
  PartitionTable& table_;
  const PartitionProblem& problem_;
  const Schedule schedule_;
  const base::Deadline& deadline_;
  PartitionAnswer& answer_;
  const std::vector<Picoseconds> parts_;
  std::priority_queue<Candidates, std::vector<Candidates>, std::greater<>>
      open_;
};

}  // namespace

absl::Status CheckPartition(const PartitionProblem& problem,
                            Schedule schedule) {
  RETURN_IF_ERROR(Validate(problem));
  if (PartitionTable(problem, schedule).Size() > kMaxEntries) {
    return absl::OutOfRangeError(
        "segments, devices and the stages that the schedule distinguishes "
        "make too large a table; join segments, or give meshes of more "
        "devices");
  }
  return {};
}

absl::StatusOr<PartitionAnswer> PartitionStages(
    const PartitionProblem& problem, Schedule schedule,
    const base::Deadline& deadline) {
  const auto begin = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(CheckPartition(problem, schedule));
  PartitionTable table(problem, schedule);
  PartitionAnswer answer;
  RETURN_IF_ERROR(table.Fill());
  RETURN_IF_ERROR(Search(problem, schedule, table, deadline, answer).Run());
  answer.elapsed = std::chrono::steady_clock::now() - begin;
  return answer;
}

}  // namespace meshwright::pipeline
