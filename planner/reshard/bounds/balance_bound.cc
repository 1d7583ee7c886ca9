// ComputeBalanceBound and ComputePackingBound: branch and bound over what every
// job occupies, not when.
#include "planner/reshard/bounds/balance_bound.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "planner/problem/duration.h"
#include "planner/reshard/problem/conflicts.h"

namespace meshwright::reshard {
namespace {

// Jobs that take the links of a receiver, or of a clique, as long as their
// senders are slow.
struct Line {
  Ticks links = 1;
  Ticks load = 0;  // the least of jobs not yet sent
};

class Balancing {
 public:
  Balancing(const Instance& instance, const Within& within,
            const std::vector<std::vector<int>>& cliques,
            const base::Deadline& deadline)
      : instance_(instance),
        conflicts_(instance),
        deadline_(deadline),
        floor_(within.floor),
        nodes_(within.nodes),
        jobs_(instance.size()),
        lines_of_(instance.size()),
        best_(within.ceiling) {
    // Whose choice is bound first, then the longest.
    std::iota(jobs_.begin(), jobs_.end(), 0);
    std::stable_sort(jobs_.begin(), jobs_.end(), [&](int a, int b) {
      const Job& x = instance.jobs[a];
      const Job& y = instance.jobs[b];
      if ((x.choices.size() == 1) != (y.choices.size() == 1)) {
        return x.choices.size() == 1;
      }
      return x.min_ticks > y.min_ticks;
    });
    for (const Job& job : instance.jobs) left_ += job.min_ticks;
    for (const int links : instance.out_links) {
      first_.push_back(static_cast<int>(load_.size()));
      load_.resize(load_.size() + links, 0);
    }
    first_.push_back(static_cast<int>(load_.size()));
    for (const int links : instance.in_links) lines_.push_back({links, 0});
    for (int i = 0; i < instance.size(); ++i) {
      for (const int receiver : instance.jobs[i].receivers) Join(i, receiver);
    }
    for (const std::vector<int>& clique : cliques) {
      lines_.emplace_back();
      for (const int job : clique)
        Join(job, static_cast<int>(lines_.size()) - 1);
    }
  }

  Ticks Run() {
    for (int out = 0; out < instance_.outs(); ++out) BesideSender(out);
    const bool decided = Extend(0);
    return decided ? std::max(best_, floor_) : floor_;
  }

 private:
  struct Place {
    int link;
    int out;
    Ticks ticks;
  };

  // A sender of one link sends nothing beside jobs that meet each of its own at
  // some receiver: these and its own are a line, if they meet each other.
  void BesideSender(int out) {
    line_of_sender_.push_back(std::nullopt);
    if (instance_.out_links[out] > 1) return;
    std::vector<int> own;
    for (int i = 0; i < instance_.size(); ++i) {
      const auto& choices = instance_.jobs[i].choices;
      if (std::any_of(choices.begin(), choices.end(),
                      [&](const Choice& it) { return it.out == out; })) {
        own.push_back(i);
      }
    }
    std::vector<int> beside;
    for (const int job : jobs_) {
      const auto meets = [&](int other) {
        return other == job || conflicts_.Test(job, other);
      };
      if (std::all_of(own.begin(), own.end(), meets) &&
          std::all_of(beside.begin(), beside.end(), meets)) {
        beside.push_back(job);
      }
    }
    if (beside.empty()) return;
    line_of_sender_[out] = static_cast<int>(lines_.size());
    lines_.emplace_back();
    for (const int job : beside) Join(job, *line_of_sender_[out]);
  }

  // The line beside its sender that a choice adds to: none where the job counts
  // anyway.
  std::optional<int> LineOfSender(int job, int out) const {
    const std::optional<int> line = line_of_sender_[out];
    const auto& lines = lines_of_[job];
    return std::find(lines.begin(), lines.end(), line) == lines.end()
               ? line
               : std::nullopt;
  }

  void Join(int job, int line) {
    lines_of_[job].push_back(line);
    lines_[line].load += instance_.jobs[job].min_ticks;
  }

  // Could what is left still lead below best_?
  bool Fits() const {
    if (best_ == std::numeric_limits<Ticks>::max()) return true;
    Ticks capacity = 0;
    for (const Ticks load : load_) {
      capacity = problem::SaturatingAdd(capacity, best_ - 1 - load);
    }
    return left_ <= capacity;
  }

  // With one more job of `more` ticks beyond its least on these lines.
  bool LinesFit(int job, Ticks more) const {
    return std::all_of(
        lines_of_[job].begin(), lines_of_[job].end(), [&](int index) {
          const Line& line = lines_[index];
          return line.load + more <=
                 problem::SaturatingMultiply(best_ - 1, line.links);
        });
  }

  void Add(int job, Ticks more) {
    for (const int line : lines_of_[job]) lines_[line].load += more;
  }

  Ticks Longest() const {
    Ticks longest = 0;
    for (const Ticks load : load_) longest = std::max(longest, load);
    for (const Line& line : lines_) {
      longest = std::max(longest, (line.load + line.links - 1) / line.links);
    }
    return longest;
  }

  // Of links of a port that are loaded alike, one.
  std::vector<Place> ListPlaces(const Job& job) const {
    std::vector<Place> places;
    for (const Choice& choice : job.choices) {
      const auto begin = static_cast<std::ptrdiff_t>(places.size());
      for (int i = first_[choice.out]; i < first_[choice.out + 1]; ++i) {
        if (std::none_of(
                places.begin() + begin, places.end(),
                [&](const Place& it) { return load_[it.link] == load_[i]; })) {
          places.push_back({i, choice.out, choice.ticks});
        }
      }
    }
    std::stable_sort(places.begin(), places.end(),
                     [&](const Place& a, const Place& b) {
                       return load_[a.link] + a.ticks < load_[b.link] + b.ticks;
                     });
    return places;
  }

  // False: out of nodes.
  bool Extend(size_t count) {
    if (--nodes_ < 0 || (nodes_ % 1024 == 0 && deadline_.HasPassed()))
      return false;
    if (best_ <= floor_ || !Fits()) return true;
    if (count == jobs_.size()) {
      best_ = std::min(best_, Longest());
      return true;
    }
    const int index = jobs_[count];
    const Job& job = instance_.jobs[index];
    left_ -= job.min_ticks;
    bool decided = true;
    for (const Place& place : ListPlaces(job)) {
      const Ticks more = place.ticks - job.min_ticks;
      const std::optional<int> line = LineOfSender(index, place.out);
      if (load_[place.link] + place.ticks >= best_ || !LinesFit(index, more) ||
          (line.has_value() && lines_[*line].load + place.ticks >= best_)) {
        continue;
      }
      load_[place.link] += place.ticks;
      Add(index, more);
      if (line.has_value()) lines_[*line].load += place.ticks;
      decided = Extend(count + 1);
      if (line.has_value()) lines_[*line].load -= place.ticks;
      Add(index, -more);
      load_[place.link] -= place.ticks;
      if (!decided || best_ <= floor_) break;
    }
    left_ += job.min_ticks;
    return decided;
  }

  const Instance& instance_;
  const Conflicts conflicts_;
  const base::Deadline& deadline_;
  const Ticks floor_;
  int64_t nodes_;
  std::vector<int> jobs_;
  std::vector<int> first_;   // link of every out port, and the end
  std::vector<Ticks> load_;  // per link
  std::vector<Line> lines_;  // receivers, then cliques
  std::vector<std::vector<int>> lines_of_;          // per job
  std::vector<std::optional<int>> line_of_sender_;  // per out port
  Ticks left_ = 0;
  Ticks best_;
};

// The traffic into a port, from one sender of as many links.
Instance IntoPort(const Instance& instance, int in) {
  Instance port;
  port.out_links = {instance.in_links[in]};
  port.out_hosts = {instance.in_hosts[in]};
  for (const Job& job : instance.jobs) {
    if (std::find(job.receivers.begin(), job.receivers.end(), in) ==
        job.receivers.end()) {
      continue;
    }
    Job& alone = port.jobs.emplace_back(job);
    alone.receivers.clear();
    alone.choices = {{0, job.min_ticks}};
  }
  return port;
}

}  // namespace

Ticks ComputeBalanceBound(const Instance& instance, const Within& within,
                          const std::vector<std::vector<int>>& cliques,
                          const base::Deadline& deadline) {
  return Balancing(instance, within, cliques, deadline).Run();
}

Ticks ComputePackingBound(const Instance& instance, Within within,
                          const base::Deadline& deadline) {
  for (int in = 0; in < instance.ins(); ++in) {
    if (instance.in_links[in] == 1) continue;
    within.floor =
        ComputeBalanceBound(IntoPort(instance, in), within, {}, deadline);
  }
  return within.floor;
}

}  // namespace meshwright::reshard
