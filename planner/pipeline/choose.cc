#include "planner/pipeline/choose.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/status_macros.h"
#include "planner/pipeline/bound.h"
#include "planner/pipeline/memory.h"
#include "planner/pipeline/orders.h"
#include "planner/pipeline/validate.h"

namespace meshwright::pipeline {
namespace {

using Chosen = Choice::Chosen;

int64_t Largest(const std::vector<int64_t>& bytes) {
  return *std::max_element(bytes.begin(), bytes.end());
}

// Bytes by which the worst stage passes its limit; negative: what is left.
int64_t Excess(const PipelineProblem& problem, const Figures& figures) {
  int64_t excess = figures.peak_bytes[0] - problem.memory_limit_bytes[0];
  for (size_t i = 1; i < figures.peak_bytes.size(); ++i) {
    excess =
        std::max(excess, figures.peak_bytes[i] - problem.memory_limit_bytes[i]);
  }
  return excess;
}

bool Better(const Figures& a, const Figures& b) {
  return std::tuple(!a.fits, a.step, Largest(a.peak_bytes)) <
         std::tuple(!b.fits, b.step, Largest(b.peak_bytes));
}

absl::StatusOr<Chosen> Simulated(const PipelineProblem& problem,
                                 Schedule schedule, const StageOrders& orders,
                                 const WeightDelay& delay) {
  Chosen made;
  ASSIGN_OR_RETURN(made.timeline, Simulate(problem, orders, delay));
  made.figures.schedule = schedule;
  made.figures.delay = delay;
  made.figures.step = made.timeline.step;
  made.figures.bubble = ComputeBubble(made.timeline);
  made.figures.peak_bytes = ComputePeakBytes(problem, made.timeline);
  made.figures.fits =
      problem.memory_limit_bytes.empty() || Excess(problem, made.figures) <= 0;
  return made;
}

// 0, 1, 2, 3, 4, 6, 8, 12, 16, ...
int MoreDelay(int max_delay) {
  int power = 2;
  while (2 * power <= max_delay) power *= 2;
  return max_delay < 4 ? max_delay + 1 : max_delay + power / 2;
}

// As long as more of them help.
absl::StatusOr<Chosen> BestDelay(const PipelineProblem& problem,
                                 Picoseconds lower_bound,
                                 const base::Deadline& deadline) {
  constexpr auto kSchedule = Schedule::kEager1F1BDelay;
  constexpr int kPatience = 3;
  const StageOrders orders =
      MakeOrders(kSchedule, problem.Stages(), problem.micro_batches);
  ASSIGN_OR_RETURN(Chosen best, Simulated(problem, kSchedule, orders, {}));
  int useless = 0;
  const int all = problem.micro_batches - 1;
  for (int max_delay = 0; max_delay < all && useless < kPatience;) {
    max_delay = std::min(MoreDelay(max_delay), all);
    bool helped = false;
    for (const bool yields : {false, true}) {
      if (best.figures.step == lower_bound || deadline.HasPassed()) {
        return best;
      }
      ASSIGN_OR_RETURN(Chosen next, Simulated(problem, kSchedule, orders,
                                              {max_delay, yields}));
      if (!Better(next.figures, best.figures)) continue;
      best = std::move(next);
      helped = true;
    }
    useless = helped ? 0 : useless + 1;
  }
  return best;
}

}  // namespace

absl::StatusOr<Choice> Choose(const PipelineProblem& problem,
                              std::optional<Schedule> only,
                              const base::Deadline& deadline) {
  const auto begin = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(Validate(problem));
  Choice choice;
  choice.lower_bound = ComputeStepBound(problem);
  std::optional<Chosen> best;
  for (const Schedule schedule : kSchedules) {
    if (only.has_value() && *only != schedule) continue;
    const bool delays = schedule == Schedule::kEager1F1BDelay;
    absl::StatusOr<Chosen> made =
        delays ? BestDelay(problem, choice.lower_bound, deadline)
               : Simulated(problem, schedule,
                           MakeOrders(schedule, problem.Stages(),
                                      problem.micro_batches),
                           {});
    RETURN_IF_ERROR(made.status());
    choice.tried.push_back(made->figures);
    if (!best.has_value() || Better(made->figures, best->figures)) {
      best = *std::move(made);
    }
  }
  if (best->figures.fits) {
    choice.chosen = std::move(best);
  } else {
    const auto smallest =
        std::min_element(choice.tried.begin(), choice.tried.end(),
                         [&](const Figures& a, const Figures& b) {
                           return Excess(problem, a) < Excess(problem, b);
                         });
    choice.min_bytes = smallest->peak_bytes;
  }
  choice.elapsed = std::chrono::steady_clock::now() - begin;
  return choice;
}

}  // namespace meshwright::pipeline
