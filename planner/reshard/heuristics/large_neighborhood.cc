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

constexpr double kHeat = 0.2;  // at first, of the mean duration
constexpr size_t kMostOut = 12;
constexpr size_t kNear = 5;  // places to either side

void LargestToFront(const Places& places, std::vector<int>& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [&](int a, int b) {
    return places.Area(a) > places.Area(b);
  });
}

class Walk {
 public:
  Walk(const Instance& instance, const Order& order, const Annealing& annealing)
      : annealing_(annealing),
        random_(annealing.seed),
        places_(instance),
        gone_(instance.size(), false) {
    places_.Restore(order);
    for (const Job& job : instance.jobs) {
      scale_ += static_cast<double>(job.least);
    }
    scale_ /= std::max(1, instance.size());
  }

  Order Run(const problem::Interrupt& interrupt) {
    Arrive();
    Places::State kept = places_.state(), best = kept;
    Ticks least = makespan_;
    for (int64_t step = 0; step < annealing_.steps; ++step) {
      if (least <= annealing_.bound) break;
      if (step % 16 == 15 && interrupt.Requested()) break;
      const double left =
          1 - static_cast<double>(step) / static_cast<double>(annealing_.steps);
      if (!Step(makespan_ + Leave(kHeat * scale_ * left * left))) {
        places_.Restore(kept);
        continue;
      }
      Arrive();
      kept = places_.state();
      if (makespan_ >= least) continue;
      least = makespan_;
      best = kept;
    }
    places_.Restore(best);
    return places_.ToOrder();
  }

 private:
  // Times what is there, and finds the places on its longest chains.
  void Arrive() {
    makespan_ = places_.Time();
    const auto& [order, of] = places_.state();
    longest_.clear();
    for (size_t i = 0; i < order.size(); ++i) {
      if (of[order[i]].end + of[order[i]].behind >= makespan_) {
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
    TakeOut();
    places_.Remove(out_);
    LargestToFront(places_, out_);
    for (const int job : out_) {
      if (places_.Time() > limit) return false;
      if (!places_.Insert(job, limit, random_).has_value()) return false;
    }
    return true;
  }

  void TakeOut() {
    const std::vector<int>& order = places_.state().order;
    const size_t at = longest_[Below(longest_.size())];
    const size_t begin = at - std::min(at, kNear);
    const size_t end = std::min(at + kNear + 1, order.size());
    out_ = {order[at]};
    gone_[order[at]] = true;
    const size_t wanted = std::min(1 + Below(kMostOut), end - begin);
    while (out_.size() < wanted) {
      const int job = order[begin + Below(end - begin)];
      if (gone_[job]) continue;
      gone_[job] = true;
      out_.push_back(job);
    }
    for (const int job : out_) gone_[job] = false;
  }

  size_t Below(size_t end) { return random_() % end; }

  const Annealing annealing_;
  std::mt19937_64 random_;
  Places places_;
  std::vector<bool> gone_;
  std::vector<int> out_;
  std::vector<size_t> longest_;  // places of jobs on a longest chain
  Ticks makespan_ = 0;
  double scale_ = 0;
};

}  // namespace

Order LargestFirst(const Instance& instance, uint64_t seed,
                   const problem::Interrupt& interrupt) {
  std::mt19937_64 random(seed);
  Places places(instance);
  std::vector<int> jobs(instance.size());
  std::iota(jobs.begin(), jobs.end(), 0);
  LargestToFront(places, jobs);
  size_t placed = 0;
  for (; placed < jobs.size(); ++placed) {
    if (placed % 64 == 63 && interrupt.Requested()) break;
    places.Insert(jobs[placed], std::numeric_limits<Ticks>::max(), random);
    places.Time();
  }
  Order order = places.ToOrder();
  for (; placed < jobs.size(); ++placed) order.push_back({jobs[placed], 0});
  return order;
}

Order Reinsert(const Instance& instance, const Order& order,
               const Annealing& annealing,
               const problem::Interrupt& interrupt) {
  if (instance.size() < 2) return order;
  return Walk(instance, order, annealing).Run(interrupt);
}

}  // namespace meshwright::reshard
