#include "planner/reshard/heuristics/balance_senders.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>

#include "planner/reshard/paper/paper_solvers.h"

namespace meshwright::reshard {
namespace {

class Balance {
 public:
  Balance(const Instance& instance, const base::Deadline& deadline,
          int64_t max_tries)
      : instance_(instance),
        deadline_(deadline),
        max_tries_(max_tries),
        choice_(instance.size(), 0),
        load_(instance.outs(), 0),
        jobs_(instance.outs()) {
    for (const auto& [job, choice] : ScheduleByLoad(instance)) {
      choice_[job] = choice;
      const Choice& sender = instance.jobs[job].choices[choice];
      load_[sender.out] += sender.ticks;
      jobs_[sender.out].push_back(job);
    }
  }

  // One step that leaves every port it touches below the fullest. Each lowers
  // the sorted loads, so steps end. False: there is none, or no time for it.
  bool Relieve(Ticks bound) {
    const std::optional<int> fullest = Fullest();
    if (!fullest.has_value()) return false;  // no ports
    const int full = *fullest;
    const Ticks max_load = PerLink(full, load_[full]);
    if (max_load <= bound) return false;
    for (const int job : jobs_[full]) {
      const auto& choices = instance_.jobs[job].choices;
      for (int c = 0; c < static_cast<int>(choices.size()); ++c) {
        const int other = choices[c].out;
        if (other == full) continue;
        if (!MayTry()) return false;
        if (PerLink(other, load_[other] + choices[c].ticks) < max_load) {
          Move(job, c);
          return true;
        }
        if (Swap(full, job, other, c, max_load)) return true;
      }
    }
    return false;
  }

  std::vector<int> Take() { return std::move(choice_); }

 private:
  // Looks at the clock now and then. Once false, it stays so.
  bool MayTry() {
    ++tries_;
    if (tries_ % 1024 == 0 && deadline_.HasPassed()) tries_ = max_tries_;
    return tries_ < max_tries_;
  }

  Ticks PerLink(int port, Ticks load) const {
    const int links = instance_.out_links[port];
    return (load + links - 1) / links;
  }

  std::optional<int> Fullest() const {
    std::optional<int> full;
    for (int port = 0; port < instance_.outs(); ++port) {
      if (!full.has_value() ||
          PerLink(port, load_[port]) > PerLink(*full, load_[*full])) {
        full = port;
      }
    }
    return full;
  }

  // `job` goes to `other`, and one of its jobs comes back for less.
  bool Swap(int full, int job, int other, int c, Ticks max_load) {
    const Ticks gone = Sender(job).ticks;
    const Ticks come = instance_.jobs[job].choices[c].ticks;
    for (const int back : jobs_[other]) {
      const auto& choices = instance_.jobs[back].choices;
      for (int b = 0; b < static_cast<int>(choices.size()); ++b) {
        if (!MayTry()) return false;
        if (choices[b].out != full) continue;
        if (choices[b].ticks < gone &&
            PerLink(full, load_[full] - gone + choices[b].ticks) < max_load &&
            PerLink(other, load_[other] + come - Sender(back).ticks) <
                max_load) {
          Move(job, c);
          Move(back, b);
          return true;
        }
      }
    }
    return false;
  }

  const Choice& Sender(int job) const {
    return instance_.jobs[job].choices[choice_[job]];
  }

  void Move(int job, int choice) {
    load_[Sender(job).out] -= Sender(job).ticks;
    std::erase(jobs_[Sender(job).out], job);
    choice_[job] = choice;
    load_[Sender(job).out] += Sender(job).ticks;
    jobs_[Sender(job).out].push_back(job);
  }

  const Instance& instance_;
  const base::Deadline& deadline_;
  const int64_t max_tries_;
  int64_t tries_ = 0;
  std::vector<int> choice_;
  std::vector<Ticks> load_;
  std::vector<std::vector<int>> jobs_;  // per out port
};

}  // namespace

std::vector<int> BalanceSenders(const Instance& instance, Ticks bound,
                                const base::Deadline& deadline,
                                int64_t max_tries) {
  Balance balance(instance, deadline, max_tries);
  for (int step = 0; step < 4 * instance.size(); ++step) {
    if (!balance.Relieve(bound)) break;
  }
  return balance.Take();
}

}  // namespace meshwright::reshard
