// BalanceBound: branch and bound over senders alone.
#include <algorithm>
#include <limits>
#include <numeric>

#include "planner/reshard/bounds.h"

namespace meshwright::reshard {
namespace {

class Balancing {
 public:
  Balancing(const Instance& instance, Ticks floor, int64_t nodes,
            const problem::Interrupt& interrupt)
      : instance_(instance),
        interrupt_(interrupt),
        floor_(floor),
        nodes_(nodes),
        load_(instance.outs(), 0),
        jobs_(instance.size()) {
    // Whose choice is bound first, then the longest.
    std::iota(jobs_.begin(), jobs_.end(), 0);
    std::stable_sort(jobs_.begin(), jobs_.end(), [&](int a, int b) {
      const Job& x = instance.jobs[a];
      const Job& y = instance.jobs[b];
      if ((x.choices.size() == 1) != (y.choices.size() == 1)) {
        return x.choices.size() == 1;
      }
      return x.least > y.least;
    });
    for (const Job& job : instance.jobs) left_ += job.least;
  }

  Ticks Run() {
    const bool decided = Extend(0);
    return decided ? std::max(best_, floor_) : floor_;
  }

 private:
  Ticks Capacity(int out, Ticks time) const {
    Ticks capacity = 0;
    return __builtin_mul_overflow(time, instance_.out_links[out], &capacity)
               ? std::numeric_limits<Ticks>::max()
               : capacity;
  }

  // Could what is left still lead below best_?
  bool Fits() const {
    if (best_ == std::numeric_limits<Ticks>::max()) return true;
    Ticks room = 0;
    for (int out = 0; out < instance_.outs(); ++out) {
      if (__builtin_add_overflow(room, Capacity(out, best_ - 1) - load_[out],
                                 &room)) {
        return true;
      }
    }
    return left_ <= room;
  }

  Ticks Longest() const {
    Ticks longest = 0;
    for (int out = 0; out < instance_.outs(); ++out) {
      longest = std::max(longest, (load_[out] + instance_.out_links[out] - 1) /
                                      instance_.out_links[out]);
    }
    return longest;
  }

  // False: out of nodes.
  bool Extend(size_t count) {
    if (--nodes_ < 0 || (nodes_ % 1024 == 0 && interrupt_.Requested()))
      return false;
    if (best_ <= floor_ || !Fits()) return true;
    if (count == jobs_.size()) {
      best_ = std::min(best_, Longest());
      return true;
    }
    const Job& job = instance_.jobs[jobs_[count]];
    std::vector<Choice> choices = job.choices;
    std::stable_sort(choices.begin(), choices.end(),
                     [&](const Choice& a, const Choice& b) {
                       return load_[a.out] + a.ticks < load_[b.out] + b.ticks;
                     });
    left_ -= job.least;
    bool decided = true;
    for (const Choice& choice : choices) {
      Ticks& load = load_[choice.out];
      if (best_ != std::numeric_limits<Ticks>::max() &&
          load + choice.ticks > Capacity(choice.out, best_ - 1)) {
        continue;
      }
      load += choice.ticks;
      decided = Extend(count + 1);
      load -= choice.ticks;
      if (!decided || best_ <= floor_) break;
    }
    left_ += job.least;
    return decided;
  }

  const Instance& instance_;
  const problem::Interrupt& interrupt_;
  const Ticks floor_;
  int64_t nodes_;
  std::vector<Ticks> load_;
  std::vector<int> jobs_;
  Ticks left_ = 0;
  Ticks best_ = std::numeric_limits<Ticks>::max();
};

}  // namespace

Ticks BalanceBound(const Instance& instance, Ticks floor, int64_t nodes,
                   const problem::Interrupt& interrupt) {
  return Balancing(instance, floor, nodes, interrupt).Run();
}

}  // namespace meshwright::reshard
