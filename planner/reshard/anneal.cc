#include "planner/reshard/anneal.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "planner/reshard/timelines.h"

namespace meshwright::reshard {
namespace {

struct Outcome {
  Ticks makespan = 0;
  double cost = 0;
};

class Decoder {
 public:
  Decoder(const Instance& instance, Ticks bound)
      : instance_(instance),
        lines_(instance),
        bound_(bound),
        start_(instance.size(), 0),
        end_(instance.size(), 0) {}

  Outcome Decode(const Order& order) {
    lines_.Clear();
    Outcome outcome;
    double late = 0;
    for (const auto& [index, c] : order) {
      const Job& job = instance_.jobs[index];
      const Choice& sender = job.choices[c];
      const Ticks start = lines_.Earliest(job, sender);
      lines_.Place(job, sender, start);
      start_[index] = start;
      end_[index] = start + sender.ticks;
      outcome.makespan = std::max(outcome.makespan, end_[index]);
      if (end_[index] > bound_)
        late += static_cast<double>(end_[index] - bound_);
    }
    outcome.cost =
        std::max(0.0, static_cast<double>(outcome.makespan - bound_)) +
        0.3 * late;
    return outcome;
  }

  const std::vector<Ticks>& ends() const { return end_; }

  // The schedule last decoded, in order of time.
  Order ByStart(const Order& order) const {
    Order sorted = order;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const Placed& a, const Placed& b) {
                       return start_[a.job] < start_[b.job];
                     });
    return sorted;
  }

 private:
  const Instance& instance_;
  Timelines lines_;
  const Ticks bound_;
  std::vector<Ticks> start_, end_;
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

  Order Run(const Order& order, const Until& until) {
    Ticks best_makespan = Makespan(instance_, order);
    Order best = order;
    Outcome current = Keep(state_, best_makespan, best);
    std::vector<Ticks> ends = decoder_.ends();
    if (state_.size() < 2) return best;
    for (int64_t step = 0; step < annealing_.steps; ++step) {
      if (best_makespan <= annealing_.bound) break;
      if (step % 16 == 15 && until.Over()) break;
      const double left =
          1 - static_cast<double>(step) / static_cast<double>(annealing_.steps);
      const double temperature = 0.3 * scale_ * left * left;
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
             const Annealing& annealing, const Until& until) {
  return Walk(instance, order, annealing).Run(order, until);
}

Order FullestFirst(const Instance& instance, const std::vector<int>& choices) {
  std::vector<Ticks> out(instance.outs(), 0), in(instance.ins(), 0);
  for (int i = 0; i < instance.size(); ++i) {
    const Job& job = instance.jobs[i];
    const Choice& sender = job.choices[choices[i]];
    out[sender.out] += sender.ticks / instance.out_links[sender.out];
    for (const int receiver : job.receivers) {
      in[receiver] += sender.ticks / instance.in_links[receiver];
    }
  }
  std::vector<std::pair<Ticks, int>> keys;  // the fullest port of a job
  for (int i = 0; i < instance.size(); ++i) {
    const Job& job = instance.jobs[i];
    Ticks most = out[job.choices[choices[i]].out];
    for (const int receiver : job.receivers) {
      most = std::max(most, in[receiver]);
    }
    keys.emplace_back(most, i);
  }
  std::stable_sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first
               ? a.first > b.first
               : instance.jobs[a.second].least > instance.jobs[b.second].least;
  });
  Order order;
  for (const auto& [key, job] : keys) order.push_back({job, choices[job]});
  Decoder decoder(instance, 0);
  decoder.Decode(order);
  return decoder.ByStart(order);
}

}  // namespace meshwright::reshard
