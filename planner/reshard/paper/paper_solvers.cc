#include "planner/reshard/paper/paper_solvers.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "planner/reshard/problem/link_times.h"

namespace meshwright::reshard {
namespace {

std::vector<int> LongestFirst(const Instance& instance) {
  std::vector<int> jobs(instance.size());
  std::iota(jobs.begin(), jobs.end(), 0);
  std::stable_sort(jobs.begin(), jobs.end(), [&](int a, int b) {
    return instance.jobs[a].min_ticks > instance.jobs[b].min_ticks;
  });
  return jobs;
}

// Per link, rounded up: what a port takes at least.
Ticks PerLink(Ticks ticks, int links) { return (ticks + links - 1) / links; }

class DepthFirstSearch {
 public:
  DepthFirstSearch(const Instance& instance, int64_t nodes,
                   const base::Deadline& deadline)
      : instance_(instance),
        deadline_(deadline),
        nodes_(nodes),
        by_length_(LongestFirst(instance)),
        out_(instance.out_links),
        in_(instance.in_links),
        out_load_(instance.outs(), 0),
        in_load_(instance.ins(), 0),
        placed_(instance.size(), false) {
    for (const Job& job : instance.jobs) {
      for (const int receiver : job.receivers)
        in_load_[receiver] += job.min_ticks;
    }
    for (int i = 0; i < instance.ins(); ++i) {
      bound_ = std::max(bound_, PerLink(in_load_[i], instance.in_links[i]));
    }
    best_.order = ScheduleByLoad(instance);
    makespan_ = ComputeMakespan(instance, best_.order);
  }

  Searched Run() {
    best_.complete = Extend(0, bound_);
    return std::move(best_);
  }

 private:
  // `bound`: the makespan so far and the loads of single ports. Returns false
  // once the search has to end.
  bool Extend(int count, Ticks bound) {
    if (bound >= makespan_) return true;
    if (count == instance_.size()) {
      makespan_ = bound;
      best_.order = order_;
      return true;
    }
    for (const int index : by_length_) {
      if (placed_[index]) continue;
      const Job& job = instance_.jobs[index];
      placed_[index] = true;
      const bool go_on = TrySenders(index, job, count, bound);
      placed_[index] = false;
      if (!go_on) return false;
    }
    return true;
  }

  bool TrySenders(int index, const Job& job, int count, Ticks bound) {
    std::vector<int> choices(job.choices.size());
    std::iota(choices.begin(), choices.end(), 0);
    std::stable_sort(choices.begin(), choices.end(), [&](int a, int b) {
      return out_load_[job.choices[a].out] < out_load_[job.choices[b].out];
    });
    for (const int c : choices) {
      if (--nodes_ < 0 || (nodes_ % 1024 == 0 && deadline_.HasPassed()))
        return false;
      const Choice& sender = job.choices[c];
      Ticks start = out_.FreeAt(sender.out);
      for (const int receiver : job.receivers) {
        start = std::max(start, in_.FreeAt(receiver));
      }
      const Ticks end = start + sender.ticks;
      out_load_[sender.out] += sender.ticks;
      const Ticks next = std::max(
          {bound, end,
           PerLink(out_load_[sender.out], instance_.out_links[sender.out])});
      bool go_on = true;
      if (next < makespan_) {
        const size_t mark = trail_.mark();
        trail_.Occupy(out_, sender.out, start, end);
        for (const int receiver : job.receivers) {
          trail_.Occupy(in_, receiver, start, end);
        }
        order_.push_back({index, c});
        go_on = Extend(count + 1, next);
        order_.pop_back();
        trail_.BackTo(mark);
      }
      out_load_[sender.out] -= sender.ticks;
      if (!go_on) return false;
    }
    return true;
  }

  const Instance& instance_;
  const base::Deadline& deadline_;
  int64_t nodes_;
  const std::vector<int> by_length_;
  LinkTimes out_, in_;
  std::vector<Ticks> out_load_, in_load_;
  std::vector<bool> placed_;
  Trail trail_;
  Order order_;
  Ticks bound_ = 0;
  Ticks makespan_ = std::numeric_limits<Ticks>::max();
  Searched best_;
};

}  // namespace

Order ScheduleNaively(const Instance& instance) {
  Order order;
  for (int i = 0; i < instance.size(); ++i) order.push_back({i, 0});
  return order;
}

Order ScheduleByLoad(const Instance& instance) {
  std::vector<Ticks> load(instance.outs(), 0);
  Order order;
  for (const int index : LongestFirst(instance)) {
    const std::vector<Choice>& choices = instance.jobs[index].choices;
    const auto min_load = std::min_element(
        choices.begin(), choices.end(), [&](const Choice& a, const Choice& b) {
          return load[a.out] < load[b.out];
        });
    load[min_load->out] += min_load->ticks;
    order.push_back({index, static_cast<int>(min_load - choices.begin())});
  }
  return order;
}

Searched SearchDepthFirst(const Instance& instance, int64_t nodes,
                          const base::Deadline& deadline) {
  return DepthFirstSearch(instance, nodes, deadline).Run();
}

Order ScheduleRandomly(const Instance& instance, uint64_t seed, int draws,
                       const base::Deadline& deadline) {
  std::mt19937_64 random(seed);
  std::vector<int> left(instance.size());
  std::iota(left.begin(), left.end(), 0);
  std::vector<Ticks> load(instance.outs(), 0);
  std::vector<int> out, in;  // links of each port left in this round
  Order order;
  while (!left.empty()) {
    Order widest;
    size_t max_ports = 0;
    for (int draw = 0; draw < draws; ++draw) {
      if (draw > 0 && deadline.HasPassed()) break;
      for (size_t i = left.size(); i > 1; --i) {
        std::swap(left[i - 1], left[random() % i]);
      }
      out = instance.out_links;
      in = instance.in_links;
      Order set;
      size_t ports = 0;
      for (const int index : left) {
        const Job& job = instance.jobs[index];
        if (std::any_of(job.receivers.begin(), job.receivers.end(),
                        [&](int receiver) { return in[receiver] == 0; })) {
          continue;
        }
        std::optional<int> best;
        for (int c = 0; c < static_cast<int>(job.choices.size()); ++c) {
          const int port = job.choices[c].out;
          if (out[port] > 0 && (!best.has_value() ||
                                load[port] < load[job.choices[*best].out])) {
            best = c;
          }
        }
        if (!best.has_value()) continue;
        --out[job.choices[*best].out];
        for (const int receiver : job.receivers) --in[receiver];
        ports += 1 + job.receivers.size();
        set.push_back({index, *best});
      }
      if (ports > max_ports) {
        max_ports = ports;
        widest = std::move(set);
      }
    }
    std::vector<bool> sent(instance.size(), false);
    for (const Placed& placed : widest) {
      sent[placed.job] = true;
      const Choice& sender = instance.jobs[placed.job].choices[placed.choice];
      load[sender.out] += sender.ticks;
      order.push_back(placed);
    }
    std::erase_if(left, [&](int index) { return sent[index]; });
  }
  return order;
}

}  // namespace meshwright::reshard
