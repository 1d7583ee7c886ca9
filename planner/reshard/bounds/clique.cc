// FindHeaviestClique: greedy starts from every job, then branch and bound with
// weighted colourings.
#include "planner/reshard/bounds/clique.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "planner/reshard/problem/conflicts.h"

namespace meshwright::reshard {
namespace {

using Bits = std::vector<uint64_t>;

// Above it the colourings cost more than they cut.
constexpr int kMaxJobsOfSearch = 512;
// Above it even the matrix of pairs is too large.
constexpr int kMaxJobs = 8192;

class CliqueSearch {
 public:
  CliqueSearch(const Instance& instance, int64_t nodes,
               const base::Deadline& deadline)
      : instance_(instance),
        conflicts_(instance),
        deadline_(deadline),
        nodes_(nodes) {}

  Clique Run() {
    const int starts = instance_.size();
    for (int i = 0; i < starts; ++i) {
      if (i % 16 == 0 && deadline_.HasPassed()) return best_;
      Grow(i);
    }
    if (instance_.size() <= kMaxJobsOfSearch) {
      Bits all(conflicts_.words(), 0);
      for (int i = 0; i < instance_.size(); ++i) Set(all, i);
      Extend(all, 0);
    }
    std::sort(best_.jobs.begin(), best_.jobs.end());
    return best_;
  }

 private:
  static void Set(Bits& bits, int i) {
    bits[i >> 6] |= uint64_t{1} << (i & 63);
  }
  static void Clear(Bits& bits, int i) {
    bits[i >> 6] &= ~(uint64_t{1} << (i & 63));
  }

  template <typename Visit>
  static void ForEach(const Bits& bits, const Visit& visit) {
    for (size_t w = 0; w < bits.size(); ++w) {
      for (uint64_t word = bits[w]; word != 0; word &= word - 1) {
        visit(static_cast<int>(w * 64) + std::countr_zero(word));
      }
    }
  }

  Ticks Weight(int job) const { return instance_.jobs[job].min_ticks; }

  Bits Meet(const Bits& bits, int job) const {
    Bits meet = bits;
    const uint64_t* const row = conflicts_.Row(job);
    for (size_t w = 0; w < meet.size(); ++w) meet[w] &= row[w];
    return meet;
  }

  void Keep(const std::vector<int>& jobs, Ticks ticks) {
    if (ticks > best_.ticks) best_ = {jobs, ticks};
  }

  // Adds the job of the greatest weight, its own and that of its neighbours
  // among the candidates, until none is left.
  void Grow(int first) {
    std::vector<int> jobs = {first};
    Ticks ticks = Weight(first);
    Bits candidates(conflicts_.Row(first),
                    conflicts_.Row(first) + conflicts_.words());
    const bool thorough = instance_.size() <= kMaxJobsOfSearch;
    while (true) {
      std::optional<int> best;
      Ticks best_score = 0;
      ForEach(candidates, [&](int job) {
        Ticks score = Weight(job);
        if (thorough) {
          ForEach(Meet(candidates, job),
                  [&](int other) { score += Weight(other); });
        }
        if (!best.has_value() || score > best_score) {
          best_score = score;
          best = job;
        }
      });
      if (!best.has_value()) break;
      jobs.push_back(*best);
      ticks += Weight(*best);
      candidates = Meet(candidates, *best);
    }
    Keep(jobs, ticks);
  }

  // Sets of jobs that do not conflict, each as heavy as its heaviest: the sum
  // bounds every clique among the candidates. Lists them with the bound of all
  // up to each.
  void Color(Bits candidates, std::vector<int>& jobs,
             std::vector<Ticks>& bounds) const {
    Ticks bound = 0;
    std::vector<int> by_weight;
    ForEach(candidates, [&](int job) { by_weight.push_back(job); });
    std::stable_sort(by_weight.begin(), by_weight.end(),
                     [&](int a, int b) { return Weight(a) < Weight(b); });
    std::vector<bool> done(by_weight.size(), false);
    for (size_t first = 0; first < by_weight.size(); ++first) {
      if (done[first]) continue;
      // The lightest left opens a set; heavier ones join while they fit.
      std::vector<int> set;
      const size_t begin = jobs.size();
      for (size_t i = first; i < by_weight.size(); ++i) {
        if (done[i]) continue;
        const int job = by_weight[i];
        if (std::any_of(set.begin(), set.end(), [&](int other) {
              return conflicts_.Test(job, other);
            })) {
          continue;
        }
        done[i] = true;
        set.push_back(job);
        jobs.push_back(job);
      }
      for (size_t i = begin; i < jobs.size(); ++i) {
        bounds.push_back(bound + Weight(jobs[i]));
      }
      bound = bounds.back();
    }
  }

  void Extend(Bits candidates, Ticks ticks) {
    if (--nodes_ < 0 || (nodes_ % 256 == 0 && deadline_.HasPassed())) {
      nodes_ = 0;
      return;
    }
    std::vector<int> jobs;
    std::vector<Ticks> bounds;
    Color(candidates, jobs, bounds);
    if (jobs.empty()) Keep(chosen_, ticks);
    for (size_t i = jobs.size(); i-- > 0 && nodes_ > 0;) {
      if (ticks + bounds[i] <= best_.ticks) return;
      chosen_.push_back(jobs[i]);
      Extend(Meet(candidates, jobs[i]), ticks + Weight(jobs[i]));
      chosen_.pop_back();
      Clear(candidates, jobs[i]);
    }
  }

  const Instance& instance_;
  const Conflicts conflicts_;
  const base::Deadline& deadline_;
  int64_t nodes_;
  std::vector<int> chosen_;
  Clique best_;
};

}  // namespace

Clique FindHeaviestClique(const Instance& instance, int64_t nodes,
                          const base::Deadline& deadline) {
  if (instance.size() > kMaxJobs) return {};
  return CliqueSearch(instance, nodes, deadline).Run();
}

}  // namespace meshwright::reshard
