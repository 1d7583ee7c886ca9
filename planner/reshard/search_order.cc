#include "planner/reshard/search_order.h"

#include <algorithm>
#include <utility>

#include "planner/reshard/anneal.h"
#include "planner/reshard/bounds.h"
#include "planner/reshard/branch_and_bound.h"
#include "planner/reshard/fullest_first.h"
#include "planner/reshard/justify.h"
#include "planner/reshard/list_schedule.h"
#include "planner/reshard/paper_solvers.h"
#include "planner/reshard/senders.h"

namespace meshwright::reshard {
namespace {

constexpr int64_t kCliqueNodes = 20'000;

class OrderSearch {
 public:
  OrderSearch(const Instance& instance, uint64_t seed,
              const problem::Interrupt& interrupt)
      : instance_(instance),
        seed_(seed),
        interrupt_(interrupt),
        grid_(Grid(instance)) {}

  Found Run() {
    Raise(std::max(ReceiverBound(instance_), SenderBound(instance_)));
    const std::vector<int> senders =
        BalanceSenders(instance_, found_.lower_bound);
    Offer(FullestFirst(instance_, senders), "fullest-first");
    if (Done()) return std::move(found_);
    clique_ = HeaviestClique(instance_, kCliqueNodes, interrupt_);
    Raise(clique_.ticks);
    Lists();
    if (Done()) return std::move(found_);
    AnnealFor(instance_.size() <= kMostSmall ? 300 : Steps());
    if (Done()) return std::move(found_);
    JustifyFor(instance_.size() <= kMostSmall ? 30 : JustifySteps());
    if (Done()) return std::move(found_);
    if (instance_.size() <= kMostJobsExactly) Prove();
    if (Done()) return std::move(found_);
    if (instance_.size() <= kMostSmall) {
      AnnealFor(Steps());
      if (!Done()) JustifyFor(JustifySteps() / 2);
    }
    if (!Done()) Paper();
    while (!Done() && instance_.size() <= kMostForLists &&
           interrupt_.deadline.has_value() && !interrupt_.Requested()) {
      ++seed_;
      AnnealFor(4 * Steps());
      if (!Done()) JustifyFor(4 * JustifySteps());
    }
    return std::move(found_);
  }

 private:
  static constexpr int kMostSmall = 24;
  static constexpr int kMostForLists = 5000;

  bool Done() const {
    return found_.makespan <= found_.lower_bound || instance_.size() == 0 ||
           interrupt_.stop.stop_requested();
  }

  void Raise(Ticks bound) {
    found_.lower_bound = std::max(found_.lower_bound, RoundUp(bound, grid_));
  }

  void Offer(Order order, const char* solver) {
    const Ticks makespan = Makespan(instance_, order);
    if (!found_.solver.empty() && makespan >= found_.makespan) return;
    found_.makespan = makespan;
    found_.order = std::move(order);
    found_.solver = solver;
  }

  // About a fifth of a second; a step looks through n jobs at n events.
  int64_t Steps() const {
    const auto n = static_cast<int64_t>(instance_.size());
    return std::clamp<int64_t>(280'000'000 / (n * n + 1), 40,
                               n <= kMostSmall ? 5'000 : 18'000);
  }

  // As long; a step looks for three gaps per port of every job.
  int64_t JustifySteps() const {
    int64_t ports = 1;
    for (const Job& job : instance_.jobs) {
      ports += static_cast<int64_t>(job.receivers.size()) + 1;
    }
    return std::clamp<int64_t>(800'000 / ports, 20, 4'000);
  }

  void Lists() {
    if (instance_.size() > kMostForLists) return;
    const int tries = instance_.size() <= 200 ? 20 : 4;
    for (int i = 0; i < tries && !Done(); ++i) {
      if (i > 0 && interrupt_.Requested()) break;
      const Ticks noise = i == 0 ? 0 : found_.lower_bound / 50 * i / tries;
      Offer(ListSchedule(instance_, seed_ + i, noise), "list");
    }
  }

  void AnnealFor(int64_t steps) {
    if (instance_.size() > kMostForLists) return;
    Offer(Anneal(instance_, found_.order,
                 {.seed = seed_, .steps = steps, .bound = found_.lower_bound},
                 interrupt_),
          "annealing");
  }

  void JustifyFor(int64_t steps) {
    if (instance_.size() > kMostForLists) return;
    Offer(Justify(instance_, found_.order,
                  {.seed = seed_, .steps = steps, .bound = found_.lower_bound},
                  interrupt_),
          "justification");
  }

  void Prove() {
    Raise(BalanceBound(instance_, found_.lower_bound, 50'000, interrupt_));
    if (Done()) return;
    const int64_t nodes = interrupt_.deadline.has_value()  ? 1'000'000'000
                          : instance_.size() <= kMostSmall ? 60'000
                                                           : 30'000;
    Bounded bounded =
        BranchAndBound(instance_, found_.order, found_.lower_bound,
                       {clique_.jobs}, nodes, interrupt_);
    Offer(std::move(bounded.order), "branch-and-bound");
    if (bounded.complete) Raise(found_.makespan);
  }

  void Paper() {
    Offer(Naive(instance_), "naive");
    Offer(LoadBalance(instance_), "load-balance");
    if (instance_.size() <= kMostForLists) {
      Offer(Randomized(instance_, seed_, kRandomizedDraws, interrupt_),
            "randomized");
    }
    if (instance_.size() <= kMostJobsExactly) {
      Offer(DepthFirst(instance_, kDepthFirstNodes, interrupt_).order,
            "depth-first");
    }
  }

  const Instance& instance_;
  uint64_t seed_;
  const problem::Interrupt& interrupt_;
  const Ticks grid_;
  Clique clique_;
  Found found_;
};

}  // namespace

Ticks QuickBound(const Instance& instance,
                 const problem::Interrupt& interrupt) {
  const Ticks bound =
      std::max({ReceiverBound(instance), SenderBound(instance),
                HeaviestClique(instance, kCliqueNodes, interrupt).ticks});
  return RoundUp(bound, Grid(instance));
}

Found SearchOrder(const Instance& instance, uint64_t seed,
                  const problem::Interrupt& interrupt) {
  return OrderSearch(instance, seed, interrupt).Run();
}

}  // namespace meshwright::reshard
