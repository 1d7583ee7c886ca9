#include "planner/reshard/search_order.h"

#include <algorithm>
#include <utility>

#include "planner/reshard/bounds/balance_bound.h"
#include "planner/reshard/bounds/bounds.h"
#include "planner/reshard/bounds/clique.h"
#include "planner/reshard/exact/branch_and_bound.h"
#include "planner/reshard/heuristics/anneal.h"
#include "planner/reshard/heuristics/balance_senders.h"
#include "planner/reshard/heuristics/fullest_first.h"
#include "planner/reshard/heuristics/insertion_schedule.h"
#include "planner/reshard/heuristics/justify.h"
#include "planner/reshard/heuristics/large_neighborhood.h"
#include "planner/reshard/heuristics/list_schedule.h"
#include "planner/reshard/paper/paper_solvers.h"

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
        grid_(Grid(instance)),
        one_link_each_(OneLinkEach(instance)) {}

  Found Run() {
    Raise(std::max(ReceiverBound(instance_), SenderBound(instance_)));
    const std::vector<int> senders =
        BalanceSenders(instance_, found_.lower_bound);
    Offer(FullestFirst(instance_, senders), "fullest-first");
    if (Done()) return std::move(found_);
    clique_ = HeaviestClique(instance_, kCliqueNodes, interrupt_);
    Raise(clique_.ticks);
    Construct();
    if (Done()) return std::move(found_);
    const bool small = instance_.size() <= kMostSmall;
    Improve(small ? kSmallShare : 1);
    if (Done()) return std::move(found_);
    if (instance_.size() <= kMostJobsExactly) Prove();
    if (!Done() && small) Improve(1);
    if (!Done()) Paper();
    while (!Done() && instance_.size() <= kMostForLists &&
           interrupt_.deadline.has_value() && !interrupt_.Requested()) {
      ++seed_;
      Improve(4);
    }
    return std::move(found_);
  }

 private:
  static constexpr int kMostSmall = 24;
  static constexpr int kMostForLists = 5000;
  static constexpr double kSmallShare = 0.06;  // before a proof is tried

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

  // Receivers and senders of all jobs.
  int64_t Ports() const {
    int64_t ports = 0;
    for (const Job& job : instance_.jobs) {
      ports += static_cast<int64_t>(job.receivers.size()) + 1;
    }
    return std::max<int64_t>(1, ports);
  }

  // Each of the three is about a third of a second or less, of as much as is
  // asked for. A step puts back some six jobs, and times all for each.
  int64_t ReinsertSteps(double share) const {
    return Share(9'000'000 / Ports(), 40,
                 instance_.size() <= kMostSmall ? 5'000 : 40'000, share);
  }
  // A step looks through n jobs at n events.
  int64_t AnnealSteps(double share) const {
    const auto n = static_cast<int64_t>(instance_.size());
    return Share(280'000'000 / (n * n + 1), 40,
                 n <= kMostSmall ? 5'000 : 18'000, share);
  }
  // A step looks for three gaps per port of every job.
  int64_t JustifySteps(double share) const {
    return Share(800'000 / Ports(), 20, 4'000, share);
  }
  static int64_t Share(int64_t steps, int64_t least, int64_t most,
                       double share) {
    return static_cast<int64_t>(
        static_cast<double>(std::clamp(steps, least, most)) * share);
  }

  void Construct() {
    if (instance_.size() > kMostForLists) return;
    if (one_link_each_) {
      Offer(LargestFirst(instance_, seed_, interrupt_), "largest-first");
      return;
    }
    const int tries = instance_.size() <= 200 ? 20 : 4;
    for (int i = 0; i < tries && !Done(); ++i) {
      if (i > 0 && interrupt_.Requested()) break;
      const Ticks noise = i == 0 ? 0 : found_.lower_bound / 50 * i / tries;
      Offer(ListSchedule(instance_, seed_ + i, noise), "list");
    }
  }

  void Improve(double share) {
    if (instance_.size() > kMostForLists) return;
    const auto with = [&](int64_t steps) {
      return Annealing{
          .seed = seed_, .steps = steps, .bound = found_.lower_bound};
    };
    if (one_link_each_) {
      Offer(Reinsert(instance_, found_.order, with(ReinsertSteps(share)),
                     interrupt_),
            "reinsertion");
      return;
    }
    Offer(Anneal(instance_, found_.order, with(AnnealSteps(share)), interrupt_),
          "annealing");
    if (Done()) return;
    Offer(
        Justify(instance_, found_.order, with(JustifySteps(share)), interrupt_),
        "justification");
  }

  void Prove() {
    const auto within = [&] {
      return Within{found_.lower_bound, found_.makespan, 20'000};
    };
    Raise(BalanceBound(instance_, within(), {clique_.jobs}, interrupt_));
    if (Done()) return;
    Raise(PackingBound(instance_, within(), interrupt_));
    if (Done()) return;
    // One of several links takes longer.
    const int64_t nodes = interrupt_.deadline.has_value() ? 1'000'000'000
                          : instance_.size() > kMostSmall ? 30'000
                          : one_link_each_                ? 60'000
                                                          : 45'000;
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
  const bool one_link_each_;
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
