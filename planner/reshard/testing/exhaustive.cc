#include "planner/reshard/testing/exhaustive.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace meshwright::reshard {
namespace {

class Enumeration {
 public:
  explicit Enumeration(const ReshardProblem& problem)
      : problem_(problem),
        durations_(problem),
        sent_(problem.tasks.size(), false) {
    for (const Host& host : problem.hosts) {
      out_.emplace_back(host.out_links, 0);
      in_.emplace_back(host.in_links, 0);
    }
  }

  Ticks Run() {
    Extend(0, 0);
    return best_;
  }

 private:
  // Links of one port are alike: the times alone matter, kept sorted. A job
  // takes the last link that is free when it starts.
  static void Occupy(std::vector<Ticks>& links, Ticks start, Ticks end) {
    auto at = std::upper_bound(links.begin(), links.end(), start);
    *(at - 1) = end;
    std::sort(links.begin(), links.end());
  }

  void Extend(size_t count, Ticks makespan) {
    if (makespan >= best_) return;
    if (count == problem_.tasks.size()) {
      best_ = makespan;
      return;
    }
    for (size_t i = 0; i < problem_.tasks.size(); ++i) {
      if (sent_[i]) continue;
      const UnitTask& task = problem_.tasks[i];
      sent_[i] = true;
      if (task.receivers.empty()) {
        Extend(count + 1, makespan);
        sent_[i] = false;
        return;  // takes nothing: its place does not matter
      }
      for (const int sender : task.senders) {
        if (durations_.Speed(task, sender) <= 0) continue;
        const auto out = out_[sender];
        const auto in = in_;
        Ticks start = out_[sender][0];
        for (const int receiver : task.receivers) {
          start = std::max(start, in_[receiver][0]);
        }
        const Ticks end =
            start + durations_.ComputeTicks(task, sender, task.size_bytes);
        Occupy(out_[sender], start, end);
        for (const int receiver : task.receivers) {
          Occupy(in_[receiver], start, end);
        }
        Extend(count + 1, std::max(makespan, end));
        out_[sender] = out;
        in_ = in;
      }
      sent_[i] = false;
    }
  }

  const ReshardProblem& problem_;
  const Durations durations_;
  std::vector<bool> sent_;
  std::vector<std::vector<Ticks>> out_, in_;
  Ticks best_ = std::numeric_limits<Ticks>::max();
};

}  // namespace

Ticks MinimumMakespan(const ReshardProblem& problem) {
  return Enumeration(problem).Run();
}

}  // namespace meshwright::reshard
