#include "planner/reshard/heuristics/justify.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "planner/reshard/heuristics/timelines.h"

namespace meshwright::reshard {
namespace {

constexpr double kHeat = 0.2;  // at first, of the mean duration
constexpr double kLate = 0.1;  // every late job against the last

class Builder {
 public:
  explicit Builder(const Instance& instance)
      : instance_(instance),
        lines_(instance),
        start_(instance.size(), 0),
        end_(instance.size(), 0) {}

  // Leaves `order` sorted by start. Out: the makespan.
  Ticks Build(Order& order) {
    InGaps(order);
    for (int i = 0; i < 2; ++i) {  // the other end of time, and back
      Sort(order, [&](int a, int b) { return end_[a] > end_[b]; });
      InGaps(order);
    }
    Sort(order, [&](int a, int b) { return start_[a] < start_[b]; });
    return makespan_;
  }

  double Cost(Ticks bound) const {
    double late = 0;
    for (const Ticks end : end_) {
      if (end > bound) late += static_cast<double>(end - bound);
    }
    return std::max(0.0, static_cast<double>(makespan_ - bound)) + kLate * late;
  }

 private:
  template <typename Before>
  static void Sort(Order& order, const Before& before) {
    std::stable_sort(
        order.begin(), order.end(),
        [&](const Placed& a, const Placed& b) { return before(a.job, b.job); });
  }

  void InGaps(const Order& order) {
    lines_.Clear();
    makespan_ = 0;
    for (const auto& [index, choice] : order) {
      const Job& job = instance_.jobs[index];
      const Choice& sender = job.choices[choice];
      start_[index] = lines_.Earliest(job, sender);
      end_[index] = start_[index] + sender.ticks;
      lines_.Place(job, sender, start_[index]);
      makespan_ = std::max(makespan_, end_[index]);
    }
  }

  const Instance& instance_;
  Timelines lines_;
  std::vector<Ticks> start_;
  std::vector<Ticks> end_;
  Ticks makespan_ = 0;
};

class Walk {
 public:
  Walk(const Instance& instance, const Annealing& annealing)
      : instance_(instance),
        annealing_(annealing),
        random_(annealing.seed),
        builder_(instance) {
    for (const Job& job : instance.jobs) {
      scale_ += static_cast<double>(job.least);
    }
    scale_ /= std::max(1, instance.size());
  }

  Order Run(const Order& order, const problem::Interrupt& interrupt) {
    Order best = order, state = order;
    Ticks least = Makespan(instance_, order);
    const auto build = [&](Order& list) {
      const Ticks makespan = builder_.Build(list);
      if (makespan < least) {
        least = makespan;
        best = list;
      }
      return builder_.Cost(annealing_.bound);
    };
    double cost = build(state);
    for (int64_t step = 0; step < annealing_.steps; ++step) {
      if (least <= annealing_.bound || interrupt.Requested()) break;
      const double left =
          1 - static_cast<double>(step) / static_cast<double>(annealing_.steps);
      const double temperature = kHeat * scale_ * left * left;
      Order next = state;
      for (size_t moves = 1 + Below(3); moves > 0; --moves) Move(next);
      const double worse = build(next) - cost;
      if (worse <= 0 ||
          (temperature > 0 && Uniform() < std::exp(-worse / temperature))) {
        state.swap(next);
        cost += worse;
      }
    }
    return best;
  }

 private:
  double Uniform() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }
  size_t Below(size_t end) { return random_() % end; }

  // To another place, more often an earlier one; at times from another sender.
  void Move(Order& order) {
    const size_t from = Below(order.size());
    const size_t to = Below(2) == 0 ? Below(from + 1) : Below(order.size());
    Placed placed = order[from];
    const size_t choices = instance_.jobs[placed.job].choices.size();
    if (choices > 1 && Below(3) == 0) {
      placed.choice = static_cast<int>(Below(choices));
    }
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), placed);
  }

  const Instance& instance_;
  const Annealing annealing_;
  std::mt19937_64 random_;
  Builder builder_;
  double scale_ = 0;
};

}  // namespace

Order Justify(const Instance& instance, const Order& order,
              const Annealing& annealing, const problem::Interrupt& interrupt) {
  if (instance.size() < 2) return order;
  return Walk(instance, annealing).Run(order, interrupt);
}

}  // namespace meshwright::reshard
