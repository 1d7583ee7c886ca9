#include "planner/reshard/heuristics/list_schedule.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <random>
#include <vector>

namespace meshwright::reshard {
namespace {

class Events {
 public:
  Events(const Instance& instance, uint64_t seed, Ticks noise)
      : instance_(instance),
        random_(seed),
        noise_(static_cast<double>(noise)),
        out_free_(instance.out_links),
        in_free_(instance.in_links),
        out_left_(instance.outs(), 0),
        in_left_(instance.ins(), 0) {
    for (int i = 0; i < instance.size(); ++i) {
      waiting_.push_back(i);
      Count(instance.jobs[i], 1);
    }
  }

  Order Run() {
    while (!waiting_.empty()) {
      while (StartOne()) {
      }
      Finish();
    }
    return std::move(order_);
  }

 private:
  struct Running {
    Ticks end;
    int job;
    int out;
    bool operator>(const Running& other) const {
      return end != other.end ? end > other.end : job > other.job;
    }
  };

  // What the ports have to carry, each sender an equal share.
  void Count(const Job& job, double sign) {
    const auto ticks = static_cast<double>(job.least);
    for (const int in : job.receivers) {
      in_left_[in] += sign * ticks / instance_.in_links[in];
    }
    const double share = ticks / static_cast<double>(job.choices.size());
    for (const Choice& choice : job.choices) {
      out_left_[choice.out] += sign * share / instance_.out_links[choice.out];
    }
  }

  double Urgency(const Job& job) {
    double most = 0;
    for (const int in : job.receivers) most = std::max(most, in_left_[in]);
    for (const Choice& choice : job.choices) {
      if (job.choices.size() == 1) most = std::max(most, out_left_[choice.out]);
    }
    if (noise_ > 0) most += noise_ * Uniform();
    return most + 1e-3 * static_cast<double>(job.least);
  }

  double Uniform() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }

  // The free sender on which least depends, -1 if none is free.
  int FreeSender(const Job& job) const {
    int best = -1;
    double least = 0;
    for (int c = 0; c < static_cast<int>(job.choices.size()); ++c) {
      const Choice& choice = job.choices[c];
      if (out_free_[choice.out] == 0) continue;
      const double cost =
          out_left_[choice.out] + static_cast<double>(choice.ticks);
      if (best < 0 || cost < least) {
        best = c;
        least = cost;
      }
    }
    return best;
  }

  bool StartOne() {
    size_t chosen = waiting_.size();
    double most = -1;
    for (size_t i = 0; i < waiting_.size(); ++i) {
      const Job& job = instance_.jobs[waiting_[i]];
      const bool blocked =
          std::any_of(job.receivers.begin(), job.receivers.end(),
                      [&](int in) { return in_free_[in] == 0; });
      if (blocked || FreeSender(job) < 0) continue;
      const double urgency = Urgency(job);
      if (urgency > most) {
        most = urgency;
        chosen = i;
      }
    }
    if (chosen == waiting_.size()) return false;
    const int index = waiting_[chosen];
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(chosen));
    const Job& job = instance_.jobs[index];
    const int c = FreeSender(job);
    Count(job, -1);
    --out_free_[job.choices[c].out];
    for (const int in : job.receivers) --in_free_[in];
    running_.push({now_ + job.choices[c].ticks, index, job.choices[c].out});
    order_.push_back({index, c});
    return true;
  }

  // Goes to the next end and frees the ports of all jobs that end then.
  void Finish() {
    if (running_.empty()) return;
    now_ = running_.top().end;
    while (!running_.empty() && running_.top().end == now_) {
      ++out_free_[running_.top().out];
      for (const int in : instance_.jobs[running_.top().job].receivers) {
        ++in_free_[in];
      }
      running_.pop();
    }
  }

  const Instance& instance_;
  std::mt19937_64 random_;
  const double noise_;
  Ticks now_ = 0;
  std::vector<int> out_free_, in_free_;  // links
  std::vector<double> out_left_, in_left_;
  std::vector<int> waiting_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  Order order_;
};

}  // namespace

Order ListSchedule(const Instance& instance, uint64_t seed, Ticks noise) {
  return Events(instance, seed, noise).Run();
}

}  // namespace meshwright::reshard
