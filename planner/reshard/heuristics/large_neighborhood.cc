#include "planner/reshard/heuristics/large_neighborhood.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "planner/reshard/heuristics/insertion_schedule.h"

namespace meshwright::reshard {
namespace {

constexpr double kInitialTemperature = 0.2;  // at first, of the mean duration
constexpr size_t kMaxRemoved = 12;
constexpr size_t kNear = 5;  // places to either side

void LargestToFront(const InsertionSchedule& schedule, std::vector<int>& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [&](int a, int b) {
    return schedule.Area(a) > schedule.Area(b);
  });
}

class ReinsertionWalk {
 public:
  ReinsertionWalk(const Instance& instance, const Order& order,
                  const ReinsertOptions& options)
      : options_(options),
        random_(options.seed),
        schedule_(instance),
        picked_(instance.size(), false) {
    schedule_.Restore(order);
    for (const Job& job : instance.jobs) {
      scale_ += static_cast<double>(job.min_ticks);
    }
    scale_ /= std::max(1, instance.size());
  }

  Order Run(const base::Deadline& deadline) {
    Arrive();
    InsertionSchedule::State kept = schedule_.state(), best = kept;
    Ticks min_makespan = makespan_;
    for (int64_t step = 0; step < options_.steps; ++step) {
      if (min_makespan <= options_.bound) break;
      if (step % 16 == 15 && deadline.HasPassed()) break;
      const double left =
          1 - static_cast<double>(step) / static_cast<double>(options_.steps);
      if (!Step(makespan_ +
                Leave(kInitialTemperature * scale_ * left * left))) {
        schedule_.Restore(kept);
        continue;
      }
      Arrive();
      kept = schedule_.state();
      if (makespan_ >= min_makespan) continue;
      min_makespan = makespan_;
      best = kept;
    }
    schedule_.Restore(best);
    return schedule_.ToOrder();
  }

 private:
  // Times what is there, and finds the places on its longest chains.
  void Arrive() {
    makespan_ = schedule_.Time();
    const auto& [order, jobs, links] = schedule_.state();
    longest_.clear();
    for (size_t i = 0; i < order.size(); ++i) {
      if (jobs[order[i]].end + jobs[order[i]].tail >= makespan_) {
        longest_.push_back(i);
      }
    }
  }

  // How much longer may be kept: more than d with probability exp(-d / t).
  Ticks Leave(double temperature) {
    const double uniform =
        (static_cast<double>(random_() >> 11) + 1) * 0x1.0p-53;
    return static_cast<Ticks>(-temperature * std::log(uniform));
  }

  bool Step(Ticks limit) {
    PickJobs();
    schedule_.Remove(removed_);
    LargestToFront(schedule_, removed_);
    for (const int job : removed_) {
      if (schedule_.Time() > limit) return false;
      if (!schedule_.Insert(job, limit, random_).has_value()) return false;
    }
    return true;
  }

  void PickJobs() {
    const std::vector<int>& order = schedule_.state().order;
    const size_t at = longest_[Below(longest_.size())];
    const size_t begin = at - std::min(at, kNear);
    const size_t end = std::min(at + kNear + 1, order.size());
    removed_ = {order[at]};
    picked_[order[at]] = true;
    const size_t wanted = std::min(1 + Below(kMaxRemoved), end - begin);
    while (removed_.size() < wanted) {
      const int job = order[begin + Below(end - begin)];
      if (picked_[job]) continue;
      picked_[job] = true;
      removed_.push_back(job);
    }
    for (const int job : removed_) picked_[job] = false;
  }

  size_t Below(size_t end) { return random_() % end; }

  const ReinsertOptions options_;
  std::mt19937_64 random_;
  InsertionSchedule schedule_;
  std::vector<bool> picked_;
  std::vector<int> removed_;
  std::vector<size_t> longest_;  // places of jobs on a longest chain
  Ticks makespan_ = 0;
  double scale_ = 0;
};

}  // namespace

Order LargestFirst(const Instance& instance, uint64_t seed,
                   const base::Deadline& deadline) {
  std::mt19937_64 random(seed);
  InsertionSchedule schedule(instance);
  std::vector<int> jobs(instance.size());
  std::iota(jobs.begin(), jobs.end(), 0);
  LargestToFront(schedule, jobs);
  size_t placed = 0;
  for (; placed < jobs.size(); ++placed) {
    if (placed % 64 == 63 && deadline.HasPassed()) break;
    schedule.Insert(jobs[placed], std::numeric_limits<Ticks>::max(), random);
    schedule.Time();
  }
  Order order = schedule.ToOrder();
  for (; placed < jobs.size(); ++placed) order.push_back({jobs[placed], 0});
  return order;
}

Order Reinsert(const Instance& instance, const Order& order,
               const ReinsertOptions& options, const base::Deadline& deadline) {
  if (instance.size() < 2) return order;
  return ReinsertionWalk(instance, order, options).Run(deadline);
}

}  // namespace meshwright::reshard
