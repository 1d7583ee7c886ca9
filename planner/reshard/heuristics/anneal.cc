#include "planner/reshard/heuristics/anneal.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "planner/reshard/heuristics/event_clock.h"

namespace meshwright::reshard {
namespace {

constexpr double kHeat = 0.3;  // at first, of the mean duration

struct Outcome {
  Ticks makespan = 0;
  double cost = 0;
};

class Decoder {
 public:
  Decoder(const Instance& instance, Ticks bound)
      : clock_(instance), bound_(bound) {}

  Outcome Decode(const Order& order) {
    Outcome outcome;
    outcome.makespan = clock_.Run(order);
    double late = 0;
    for (const Ticks end : clock_.ends()) {
      if (end > bound_) late += static_cast<double>(end - bound_);
    }
    outcome.cost =
        std::max(0.0, static_cast<double>(outcome.makespan - bound_)) +
        0.3 * late;
    return outcome;
  }

  const std::vector<Ticks>& ends() const { return clock_.ends(); }

  Order ByStart(const Order& order) const {
    Order sorted = order;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const Placed& a, const Placed& b) {
                       return clock_.starts()[a.job] < clock_.starts()[b.job];
                     });
    return sorted;
  }

 private:
  EventClock clock_;
  const Ticks bound_;
};

class Walk {
 public:
  Walk(const Instance& instance, const Order& order, const Annealing& annealing)
      : instance_(instance),
        annealing_(annealing),
        random_(annealing.seed),
        decoder_(instance, annealing.bound),
        state_(order) {
    for (const Job& job : instance.jobs)
      scale_ += static_cast<double>(job.least);
    scale_ /= std::max(1, instance.size());
  }

  Order Run(const Order& order, const problem::Interrupt& interrupt) {
    Ticks best_makespan = Makespan(instance_, order);
    Order best = order;
    Outcome current = Keep(state_, best_makespan, best);
    std::vector<Ticks> ends = decoder_.ends();
    if (state_.size() < 2) return best;
    for (int64_t step = 0; step < annealing_.steps; ++step) {
      if (best_makespan <= annealing_.bound) break;
      if (step % 16 == 15 && interrupt.Requested()) break;
      const double left =
          1 - static_cast<double>(step) / static_cast<double>(annealing_.steps);
      const double temperature = kHeat * scale_ * left * left;
      Order next = state_;
      Change(next, ends);
      const Outcome outcome = Keep(next, best_makespan, best);
      const double worse = outcome.cost - current.cost;
      if (worse <= 0 ||
          (temperature > 0 && Uniform() < std::exp(-worse / temperature))) {
        state_.swap(next);
        current = outcome;
        ends = decoder_.ends();
      }
    }
    return best;
  }

 private:
  Outcome Keep(const Order& order, Ticks& makespan, Order& best) {
    const Outcome outcome = decoder_.Decode(order);
    if (outcome.makespan < makespan) {
      makespan = outcome.makespan;
      best = decoder_.ByStart(order);
    }
    return outcome;
  }

  double Uniform() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }
  size_t Below(size_t end) { return random_() % end; }

  // A job that ends after the bound if there is one, mostly.
  size_t PickPlace(const Order& order, const std::vector<Ticks>& ends) {
    if (Below(4) == 0) return Below(order.size());
    size_t seen = 0, picked = Below(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      if (ends[order[i].job] <= annealing_.bound) continue;
      if (Below(++seen) == 0) picked = i;
    }
    return picked;
  }

  void Change(Order& order, const std::vector<Ticks>& ends) {
    const size_t place = PickPlace(order, ends);
    const auto choices = instance_.jobs[order[place].job].choices.size();
    const size_t kind = Below(10);
    if (kind < 3 && choices > 1) {
      const auto other = static_cast<int>(Below(choices - 1));
      order[place].choice = other + (other >= order[place].choice ? 1 : 0);
      if (kind > 0) return;
    }
    if (kind < 5) {
      std::swap(order[place], order[Below(order.size())]);
      return;
    }
    // Towards the front, by any share of the way.
    const size_t to = Below(place + 1);
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(to),
                order.begin() + static_cast<std::ptrdiff_t>(place),
                order.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }

  const Instance& instance_;
  const Annealing annealing_;
  std::mt19937_64 random_;
  Decoder decoder_;
  Order state_;
  double scale_ = 0;
};

}  // namespace

Order Anneal(const Instance& instance, const Order& order,
             const Annealing& annealing, const problem::Interrupt& interrupt) {
  return Walk(instance, order, annealing).Run(order, interrupt);
}

}  // namespace meshwright::reshard
