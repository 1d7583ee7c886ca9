#include "planner/reshard/exact/branch_and_bound.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "planner/reshard/bounds/bounds.h"
#include "planner/reshard/exact/visited.h"
#include "planner/reshard/problem/link_times.h"

namespace meshwright::reshard {
namespace {

using Jobs = uint64_t;  // a bit per job

constexpr Ticks kNever = std::numeric_limits<Ticks>::max();
constexpr int kNoJob = -1;  // below every job

Jobs Bit(int job) { return Jobs{1} << job; }

// Jobs that only the senders of the set hold.
struct SenderSet {
  std::vector<int> outs;
  Jobs jobs = 0;
};

// Sets worth a bound: of one sender, of one job, of two jobs together, of all.
std::vector<SenderSet> SenderSets(const Instance& instance) {
  constexpr size_t kMaxSets = 24;
  std::vector<std::vector<int>> sets;
  const auto add = [&](std::vector<int> outs) {
    std::sort(outs.begin(), outs.end());
    outs.erase(std::unique(outs.begin(), outs.end()), outs.end());
    if (sets.size() < kMaxSets &&
        std::find(sets.begin(), sets.end(), outs) == sets.end()) {
      sets.push_back(std::move(outs));
    }
  };
  std::vector<int> all(instance.outs());
  std::iota(all.begin(), all.end(), 0);
  add(all);
  const auto outs_of = [&](int job) {
    std::vector<int> outs;
    for (const Choice& choice : instance.jobs[job].choices) {
      outs.push_back(choice.out);
    }
    return outs;
  };
  for (int i = 0; i < instance.size(); ++i) add(outs_of(i));
  for (int i = 0; i < instance.size(); ++i) {
    for (int j = 0; j < i; ++j) {
      std::vector<int> both = outs_of(i);
      for (const int out : outs_of(j)) both.push_back(out);
      add(std::move(both));
    }
  }
  std::vector<SenderSet> answer;
  for (std::vector<int>& outs : sets) {
    SenderSet set{.outs = std::move(outs)};
    for (int i = 0; i < instance.size(); ++i) {
      const auto& choices = instance.jobs[i].choices;
      if (std::all_of(choices.begin(), choices.end(), [&](const Choice& c) {
            return std::binary_search(set.outs.begin(), set.outs.end(), c.out);
          })) {
        set.jobs |= Bit(i);
      }
    }
    if (set.jobs != 0) answer.push_back(std::move(set));
  }
  return answer;
}

// Per out port, the first one that every job can be sent from alike.
std::vector<int> AlikeSenders(const Instance& instance) {
  using Carried = std::vector<std::pair<int, Ticks>>;  // jobs
  std::map<std::pair<int, Carried>, int> first;        // by links and jobs
  std::vector<int> alike(instance.outs());
  for (int out = 0; out < instance.outs(); ++out) {
    Carried carried;
    for (int i = 0; i < instance.size(); ++i) {
      for (const Choice& choice : instance.jobs[i].choices) {
        if (choice.out == out) carried.emplace_back(i, choice.ticks);
      }
    }
    alike[out] = first.try_emplace({instance.out_links[out], carried}, out)
                     .first->second;
  }
  return alike;
}

// Per job, the one before it that is alike.
std::vector<std::optional<int>> AlikeJobs(const Instance& instance) {
  std::vector<std::optional<int>> before(instance.size());
  for (int i = 0; i < instance.size(); ++i) {
    for (int j = 0; j < i; ++j) {
      if (instance.jobs[i].receivers == instance.jobs[j].receivers &&
          instance.jobs[i].choices == instance.jobs[j].choices) {
        before[i] = j;
      }
    }
  }
  return before;
}

class Search {
 public:
  Search(const Instance& instance, const Order& order, Ticks bound,
         const std::vector<std::vector<int>>& cliques, int64_t nodes,
         const base::Deadline& deadline)
      : instance_(instance),
        deadline_(deadline),
        bound_(bound),
        grid_(FindGrid(instance)),
        max_nodes_(nodes),
        sets_(SenderSets(instance)),
        alike_(AlikeSenders(instance)),
        before_(AlikeJobs(instance)),
        out_(instance.out_links),
        in_(instance.in_links),
        visited_(out_.size() + in_.size()) {
    best_.order = order;
    SetBest(ComputeMakespan(instance, order));
    for (int i = 0; i < instance.size(); ++i) left_ |= Bit(i);
    // Lines: what has to go one after another. Receivers of one link, cliques.
    lines_of_.resize(instance.size());
    users_.assign(instance.ins(), 0);
    for (int i = 0; i < instance.size(); ++i) {
      for (const int receiver : instance.jobs[i].receivers) {
        users_[receiver] |= Bit(i);
        if (instance.in_links[receiver] == 1) lines_of_[i].push_back(receiver);
      }
    }
    lines_ = instance.ins();
    for (const std::vector<int>& clique : cliques) {
      for (const int job : clique) lines_of_[job].push_back(lines_);
      ++lines_;
    }
    line_end_.resize(lines_);
    for (size_t out = 0; out < alike_.size(); ++out) {
      group_[alike_[out]].push_back(static_cast<int>(out));
    }
  }

  Bounded Run() {
    best_.complete = makespan_ <= bound_ || Extend(0, kNoJob);
    return std::move(best_);
  }

 private:
  struct Child {
    Ticks start;
    int job;
    int choice;
    bool operator<(const Child& other) const {
      return std::tie(start, job, choice) <
             std::tie(other.start, other.job, other.choice);
    }
  };

  Ticks InFree(const Job& job) const {
    Ticks free = 0;
    for (const int receiver : job.receivers) {
      free = std::max(free, in_.FreeAt(receiver));
    }
    return free;
  }

  // Which links are in use until when, as far as the future can tell: no start
  // lies before `now`, links of a port and senders alike can be exchanged.
  void Describe(Ticks now) {
    state_.clear();
    for (const auto& [first, outs] : group_) {
      const size_t begin = state_.size();
      if (instance_.out_links[first] > 1 && outs.size() > 1) {
        // Ports exchange whole; sorting their links apart would mix them.
        for (const int out : outs) AddLinks(out_, out, now);
        continue;
      }
      for (const int out : outs) AddLinks(out_, out, now);
      std::sort(state_.begin() + static_cast<std::ptrdiff_t>(begin),
                state_.end());
    }
    for (int in = 0; in < instance_.ins(); ++in) AddLinks(in_, in, now);
  }

  void AddLinks(const LinkTimes& ports, int port, Ticks now) {
    const size_t begin = state_.size();
    for (int i = ports.Begin(port); i < ports.End(port); ++i) {
      state_.push_back(std::max(now, ports.Until(i)));
    }
    std::sort(state_.begin() + static_cast<std::ptrdiff_t>(begin),
              state_.end());
  }

  // (d): can all that is left end before the best?
  bool Promising(Ticks now, const std::vector<std::pair<Ticks, int>>& starts) {
    std::fill(line_end_.begin(), line_end_.end(), 0);
    for (const auto& [start, job] : starts) {
      const Ticks ticks = instance_.jobs[job].min_ticks;
      if (start + ticks > limit_) return false;
      for (const int line : lines_of_[job]) {
        Ticks& end = line_end_[line];
        end = std::max(end, start) + ticks;
        if (end > limit_) return false;
      }
    }
    for (const SenderSet& set : sets_) {
      Ticks work = Work(set.jobs & left_);
      for (const int out : set.outs) TakeCapacity(out_, out, now, work);
      if (work > 0) return false;
    }
    for (int in = 0; in < instance_.ins(); ++in) {
      if (instance_.in_links[in] > 1 && !ReceiverFits(in, now)) return false;
    }
    return true;
  }

  bool ReceiverFits(int in, Ticks now) const {
    Ticks work = Work(users_[in] & left_);
    TakeCapacity(in_, in, now, work);
    return work <= 0;
  }

  Ticks Work(Jobs jobs) const {
    Ticks work = 0;
    for (; jobs != 0; jobs &= jobs - 1) {
      work += instance_.jobs[std::countr_zero(jobs)].min_ticks;
    }
    return work;
  }

  // From the work, what the port can do of it.
  void TakeCapacity(const LinkTimes& ports, int port, Ticks now,
                    Ticks& work) const {
    for (int i = ports.Begin(port); i < ports.End(port) && work > 0; ++i) {
      work -= std::max<Ticks>(0, limit_ - std::max(now, ports.Until(i)));
    }
  }

  void SetBest(Ticks makespan) {
    makespan_ = makespan;
    limit_ = makespan - grid_;
  }

  // False: out of nodes. `now`, `last`: the start and the job placed last.
  bool Extend(Ticks now, int last) {
    if (best_.nodes++ >= max_nodes_ ||
        (best_.nodes % 256 == 0 && deadline_.HasPassed())) {
      return false;
    }
    if (left_ == 0) {
      SetBest(end_);
      best_.order = order_;
      return true;
    }
    std::vector<Child> children;
    std::vector<std::pair<Ticks, int>> starts;
    Ticks earliest_end = kNever;
    for (Jobs jobs = left_; jobs != 0; jobs &= jobs - 1) {
      const int index = std::countr_zero(jobs);
      const Job& job = instance_.jobs[index];
      const Ticks in_free = InFree(job);
      const bool later_equal =
          before_[index].has_value() && (left_ & Bit(*before_[index]));
      Ticks first = kNever;
      for (int c = 0; c < static_cast<int>(job.choices.size()); ++c) {
        const Choice& sender = job.choices[c];
        const Ticks start = std::max(in_free, out_.FreeAt(sender.out));
        first = std::min(first, start);
        earliest_end = std::min(earliest_end, start + sender.ticks);
        if (later_equal || start < now || (start == now && index < last)) {
          continue;  // (b), (c)
        }
        if (start + sender.ticks <= limit_) {
          children.push_back({start, index, c});
        }
      }
      starts.emplace_back(std::max(first, now), index);
    }
    std::sort(starts.begin(), starts.end());
    if (!Promising(now, starts)) return true;
    Describe(now);
    if (visited_.Covers(left_, state_)) return true;  // (e)
    std::sort(children.begin(), children.end());
    for (size_t i = 0; i < children.size(); ++i) {
      const Child& child = children[i];
      if (child.start >= earliest_end) break;  // (a)
      if (child.start + instance_.jobs[child.job].choices[child.choice].ticks >
          limit_) {
        continue;
      }
      if (HasEqualBefore(children, i)) continue;
      if (!Enter(child)) return false;
      if (makespan_ <= bound_) return true;
    }
    return true;
  }

  // (c): the same job from a sender alike whose links are free alike.
  bool HasEqualBefore(const std::vector<Child>& children, size_t i) const {
    const Job& job = instance_.jobs[children[i].job];
    const int out = job.choices[children[i].choice].out;
    for (size_t j = i; j-- > 0;) {
      if (children[j].start != children[i].start ||
          children[j].job != children[i].job) {
        break;
      }
      const int other = job.choices[children[j].choice].out;
      if (alike_[other] != alike_[out]) continue;
      if (instance_.out_links[out] == 1 &&
          out_.FreeAt(other) == out_.FreeAt(out)) {
        return true;
      }
    }
    return false;
  }

  bool Enter(const Child& child) {
    const Job& job = instance_.jobs[child.job];
    const Choice& sender = job.choices[child.choice];
    const Ticks end = child.start + sender.ticks;
    const size_t mark = trail_.mark();
    trail_.Occupy(out_, sender.out, child.start, end);
    for (const int receiver : job.receivers) {
      trail_.Occupy(in_, receiver, child.start, end);
    }
    const Ticks before = end_;
    end_ = std::max(end_, end);
    left_ ^= Bit(child.job);
    order_.push_back({child.job, child.choice});
    const bool go_on = Extend(child.start, child.job);
    order_.pop_back();
    left_ ^= Bit(child.job);
    end_ = before;
    trail_.BackTo(mark);
    return go_on;
  }

  const Instance& instance_;
  const base::Deadline& deadline_;
  const Ticks bound_;
  const Ticks grid_;
  const int64_t max_nodes_;
  const std::vector<SenderSet> sets_;
  const std::vector<int> alike_;
  const std::vector<std::optional<int>> before_;
  std::map<int, std::vector<int>> group_;  // senders alike, by the first
  LinkTimes out_, in_;
  Visited visited_;
  int lines_ = 0;
  std::vector<std::vector<int>> lines_of_;  // per job
  std::vector<Ticks> line_end_;
  std::vector<Jobs> users_;  // per in port
  std::vector<Ticks> state_;
  Trail trail_;
  Jobs left_ = 0;
  Ticks end_ = 0;
  Order order_;
  Ticks makespan_ = 0;  // the best known
  Ticks limit_ = 0;     // what a better one ends by
  Bounded best_;
};

}  // namespace

Bounded BranchAndBound(const Instance& instance, const Order& order,
                       Ticks bound,
                       const std::vector<std::vector<int>>& cliques,
                       int64_t nodes, const base::Deadline& deadline) {
  if (instance.size() > kMaxJobsExactly) return {.order = order};
  return Search(instance, order, bound, cliques, nodes, deadline).Run();
}

}  // namespace meshwright::reshard
