#include "planner/reshard/search_order.h"

#include <algorithm>
#include <utility>

#include "planner/reshard/bounds/balance_bound.h"
#include "planner/reshard/bounds/bounds.h"
#include "planner/reshard/bounds/clique.h"
#include "planner/reshard/exact/branch_and_bound.h"
#include "planner/reshard/heuristics/balance_senders.h"
#include "planner/reshard/heuristics/fullest_first.h"
#include "planner/reshard/heuristics/large_neighborhood.h"
#include "planner/reshard/paper/paper_solvers.h"

namespace meshwright::reshard {
namespace {

constexpr int64_t kCliqueNodes = 20'000;

class OrderSearch {
 public:
  OrderSearch(const Instance& instance, uint64_t seed,
              const base::Deadline& deadline)
      : instance_(instance),
        seed_(seed),
        deadline_(deadline),
        grid_(FindGrid(instance)) {}

  Found Run() {
    Raise(std::max(ComputeReceiverBound(instance_),
                   ComputeSenderBound(instance_)));
    const std::vector<int> senders =
        BalanceSenders(instance_, found_.lower_bound, deadline_);
    Offer(OrderFullestFirst(instance_, senders), "fullest-first");
    if (Done()) return std::move(found_);
    clique_ = FindHeaviestClique(instance_, kCliqueNodes, deadline_);
    Raise(clique_.ticks);
    Construct();
    if (Done()) return std::move(found_);
    const bool small = instance_.size() <= kMaxSmall;
    Improve(small ? kSmallShare : 1);
    if (Done()) return std::move(found_);
    if (instance_.size() <= kMaxJobsExactly) Prove();
    if (!Done() && small) Improve(1);
    if (!Done()) Paper();
    while (!Done() && instance_.size() <= kMaxForInsertion &&
           deadline_.at.has_value() && !deadline_.HasPassed()) {
      ++seed_;
      Improve(4);
    }
    return std::move(found_);
  }

 private:
  static constexpr int kMaxSmall = 24;
  static constexpr int kMaxForInsertion = 5000;
  static constexpr double kSmallShare = 0.06;  // before a proof is tried

  bool Done() const {
    return found_.makespan <= found_.lower_bound || instance_.size() == 0 ||
           deadline_.stop.stop_requested();
  }

  void Raise(Ticks bound) {
    found_.lower_bound = std::max(found_.lower_bound, RoundUp(bound, grid_));
  }

  void Offer(Order order, const char* solver) {
    const Ticks makespan = ComputeMakespan(instance_, order);
    if (!found_.solver.empty() && makespan >= found_.makespan) return;
    found_.makespan = makespan;
    found_.order = std::move(order);
    found_.solver = solver;
  }

  // About a third of a second or less, times `share`. A step puts back some six
  // jobs, and times all for each.
  int64_t ReinsertSteps(double share) const {
    int64_t ports = 0;
    for (const Job& job : instance_.jobs) {
      ports += static_cast<int64_t>(job.receivers.size()) + 1;
    }
    const int64_t steps = std::clamp<int64_t>(
        9'000'000 / ports, 40, instance_.size() <= kMaxSmall ? 5'000 : 40'000);
    return static_cast<int64_t>(static_cast<double>(steps) * share);
  }

  void Construct() {
    if (instance_.size() > kMaxForInsertion) return;
    Offer(LargestFirst(instance_, seed_, deadline_), "largest-first");
  }

  void Improve(double share) {
    if (instance_.size() > kMaxForInsertion) return;
    const ReinsertOptions options{.seed = seed_,
                                  .steps = ReinsertSteps(share),
                                  .bound = found_.lower_bound};
    Offer(Reinsert(instance_, found_.order, options, deadline_), "reinsertion");
  }

  void Prove() {
    const auto within = [&] {
      return Within{found_.lower_bound, found_.makespan, 20'000};
    };
    Raise(ComputeBalanceBound(instance_, within(), {clique_.jobs}, deadline_));
    if (Done()) return;
    Raise(ComputePackingBound(instance_, within(), deadline_));
    if (Done()) return;
    const int64_t nodes = deadline_.at.has_value()       ? 1'000'000'000
                          : instance_.size() > kMaxSmall ? 30'000
                                                         : 60'000;
    Bounded bounded =
        BranchAndBound(instance_, found_.order, found_.lower_bound,
                       {clique_.jobs}, nodes, deadline_);
    Offer(std::move(bounded.order), "branch-and-bound");
    if (bounded.complete) Raise(found_.makespan);
  }

  void Paper() {
    Offer(ScheduleNaively(instance_), "naive");
    Offer(ScheduleByLoad(instance_), "load-balance");
    if (instance_.size() <= kMaxForInsertion) {
      Offer(ScheduleRandomly(instance_, seed_, kRandomizedDraws, deadline_),
            "randomized");
    }
    if (instance_.size() <= kMaxJobsExactly) {
      Offer(SearchDepthFirst(instance_, kDepthFirstNodes, deadline_).order,
            "depth-first");
    }
  }

  const Instance& instance_;
  uint64_t seed_;
  const base::Deadline& deadline_;
  const Ticks grid_;
  Clique clique_;
  Found found_;
};

}  // namespace

Ticks ComputeQuickBound(const Instance& instance,
                        const base::Deadline& deadline) {
  const Ticks bound =
      std::max({ComputeReceiverBound(instance), ComputeSenderBound(instance),
                FindHeaviestClique(instance, kCliqueNodes, deadline).ticks});
  return RoundUp(bound, FindGrid(instance));
}

Found SearchOrder(const Instance& instance, uint64_t seed,
                  const base::Deadline& deadline) {
  return OrderSearch(instance, seed, deadline).Run();
}

}  // namespace meshwright::reshard
