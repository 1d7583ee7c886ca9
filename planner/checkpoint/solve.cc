#include "planner/checkpoint/solve.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/checkpoint/costs.h"
#include "planner/checkpoint/guided.h"
#include "planner/checkpoint/min_memory.h"
#include "planner/checkpoint/outside.h"
#include "planner/checkpoint/pareto_fronts.h"
#include "planner/checkpoint/replay.h"
#include "planner/checkpoint/slot_table.h"
#include "planner/checkpoint/unroll.h"
#include "planner/problem/duration.h"

namespace meshwright::checkpoint {
namespace {

// A table that gives a bound early, to those who may not wait.
constexpr int kCoarseSlots = 64;
// Of short chains: more of them prune the fronts better than they cost.
constexpr int kExactSlots = 512;

class Solver {
 public:
  Solver(const Chain& chain, int64_t budget, const Options& options)
      : chain_(chain),
        budget_(budget),
        options_(options),
        costs_(chain),
        free_(budget - chain.act_bytes[0]) {
    answer_.lower_bound = Picoseconds(costs_.base_time());
    answer_.solver = "first";
  }

  absl::StatusOr<Answer> Run() {
    if (CountFullMemory(costs_) <= free_) {
      RETURN_IF_ERROR(Try(
          [](const Interval&) { return Decision{Decision::Kind::kSaveAll}; },
          "save all"));
      return std::move(answer_);
    }
    MinMemory memory(costs_);
    const int last = costs_.stages() - 1;
    // A verdict is waited for where no schedule is at hand.
    memory.Fill(memory.min_bytes(0, last) <= free_ ? options_.deadline
                                                   : base::Deadline());
    const int64_t min_bytes = memory.min_bytes(0, last);
    if (min_bytes > free_) {
      answer_.least_memory_bytes = min_bytes + chain_.act_bytes[0];
      answer_.solver = "least memory";
      return std::move(answer_);
    }
    RETURN_IF_ERROR(Try(GuidedDecide(costs_, memory,
                                     [&](const Interval& interval) {
                                       return EstimateStraight(costs_, memory,
                                                               interval);
                                     }),
                        "first"));
    RETURN_IF_ERROR(Improve(memory));
    return std::move(answer_);
  }

 private:
  int Threads() const {
    if (options_.threads > 0) return options_.threads;
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }

  // Takes the schedule of `decide` if it is the best so far.
  absl::Status Try(const Decide& decide, const char* solver) {
    std::vector<Kept> kept;
    Sequence sequence = Unroll(costs_, free_, [&](const Interval& interval) {
      const Decision decision = decide(interval);
      if (decision.kind == Decision::Kind::kKeep) {
        kept.push_back({interval.s, decision.k});
      }
      return decision;
    });
    ASSIGN_OR_RETURN(const Replayed replayed, Replay(chain_, sequence));
    if (replayed.peak_bytes > budget_) {
      return absl::InternalError(absl::StrCat("a schedule by '", solver,
                                              "' takes ", replayed.peak_bytes,
                                              " bytes; report this chain"));
    }
    if (!answer_.plan.has_value() ||
        replayed.makespan < answer_.plan->makespan) {
      answer_.plan = {std::move(sequence), replayed.makespan,
                      replayed.peak_bytes};
      answer_.solver = solver;
      kept_ = std::move(kept);
    }
    return {};
  }

  absl::Status Improve(const MinMemory& memory) {
    const bool exact = costs_.stages() <= options_.exact_stages;
    std::vector<int> levels;
    if (options_.deadline.IsPossible()) levels.push_back(kCoarseSlots);
    const int slots = options_.slots > 0
                          ? options_.slots
                          : std::max(500, costs_.stages() * 5 / 6);
    levels.push_back(exact ? kExactSlots : slots);
    for (const int level : levels) {
      if (options_.deadline.HasPassed() || answer_.Optimal()) return {};
      RETURN_IF_ERROR(Lead(memory, ChooseSlots(costs_, free_, level, kept_)));
      const int chosen = ChooseSlots(costs_, free_, level, kept_);
      SlotTable table(costs_, memory, free_, chosen, Rounding::kDown,
                      options_.table_bytes);
      if (!table.Fill(Threads(), options_.deadline)) return {};
      TakeBound(table);
      if (exact && level == kExactSlots && !answer_.Optimal()) {
        return Exact(memory, table);
      }
    }
    return {};
  }

  // Follows a table that errs to neither side: by its own figures, or by a
  // straight line between those of two slots.
  absl::Status Lead(const MinMemory& memory, int slots) {
    SlotTable table(costs_, memory, free_, slots, Rounding::kNearest,
                    options_.table_bytes);
    if (!table.Fill(Threads(), options_.deadline)) return {};
    for (const bool between : {false, true}) {
      const auto estimate = [&table, between](const Interval& interval) {
        const auto [s, t, free] = interval;
        const SlotGrid& grid = table.grid();
        const int slot = grid.Slot(s, free);
        const double min_cost = table.value(s, t, slot);
        const double max_cost = table.value(s, t, slot - 1);
        if (!between || max_cost == SlotTable::kNever) return min_cost;
        return min_cost + grid.Rest(s, free, slot) * (max_cost - min_cost);
      };
      RETURN_IF_ERROR(Try(GuidedDecide(costs_, memory, estimate), "slots"));
    }
    return {};
  }

  void TakeBound(const SlotTable& table) {
    const int64_t bound =
        problem::SaturatingAdd(costs_.base_time(), table.LowerBound());
    answer_.lower_bound =
        std::min(std::max(answer_.lower_bound, Picoseconds(bound)),
                 answer_.plan->makespan);
  }

  absl::Status Exact(const MinMemory& memory, const SlotTable& table) {
    Outside outside(costs_, table,
                    answer_.plan->makespan.count() - costs_.base_time());
    if (!outside.Fill(options_.deadline)) return {};
    ParetoFronts fronts(costs_, memory, outside);
    if (fronts.Fill(options_.exact_steps, options_.deadline) !=
        ParetoFronts::Outcome::kDone) {
      return {};
    }
    RETURN_IF_ERROR(
        Try([&](const Interval& interval) { return fronts.Decide(interval); },
            "exact"));
    answer_.solver = "exact";
    answer_.lower_bound = answer_.plan->makespan;
    return {};
  }

  const Chain& chain_;
  const int64_t budget_;
  const Options& options_;
  const Costs costs_;
  const int64_t free_;
  Answer answer_;
  std::vector<Kept> kept_;  // of its plan
};

}  // namespace

absl::StatusOr<Answer> Solve(const Chain& chain, int64_t budget_bytes,
                             const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(Validate(chain));
  if (budget_bytes <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("budget is ", budget_bytes,
                     "; give the bytes that the device has, more than 0"));
  }
  if (options.slots < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "slots is ", options.slots, "; give 0 to leave the number open"));
  }
  ASSIGN_OR_RETURN(Answer answer, Solver(chain, budget_bytes, options).Run());
  answer.elapsed = std::chrono::steady_clock::now() - start;
  return answer;
}

}  // namespace meshwright::checkpoint
