// Costs: a chain as the dynamic programs see it.
//
// Concept: an interval [s, t] is a part of the schedule. It begins with act[s]
// stored and the gradient of act[t+1] live (none before the loss, if t is the
// last stage). It ends with the gradient of act[s] live. Its memory is what
// stands free beside all that is stored outside, act[s] with it. Its cost is
// the forwards that it runs a second time. Every schedule runs each forward,
// each backward and the loss once, so that much is left out. There are two
// ways:
//
//   save s     Fe_s, [s+1, t] in the memory less saved[s], B_s
//   keep at k  CF_s, Fn_{s+1} .. Fn_{k-1}, [k, t] in the memory less act[k],
//              then [s, k-1]; s < k <= t
//
// The second runs stages s .. k-1 twice. The loss is taken just before
// B_{n-1}: earlier saves nothing and keeps a gradient live. All figures of
// memory below are of one moment, beside what is stored outside the interval.
// Source: papers/map_colossal_auto.txt Theorem 5.1, with the input of saved[s]
// subtracted in C_all and m_all, and communication paid again in C_ck.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_COSTS_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_COSTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/checkpoint/chain.h"

namespace meshwright::checkpoint {

class Costs {
 public:
  explicit Costs(const Chain& chain);

  int stages() const { return stages_; }
  // The time of a step that runs nothing twice.
  int64_t base_time() const { return base_time_; }
  // The forwards of stages s .. k-1.
  int64_t Forwards(int s, int k) const { return prefix_[k] - prefix_[s]; }
  int64_t act(int i) const { return act_[i]; }
  int64_t saved(int i) const { return saved_[i]; }

  // The gradient that is live while [.., t] runs forward.
  int64_t Gradient(int t) const { return t == stages_ - 1 ? 0 : act_[t + 1]; }
  // The memory that saving s in [s, t] needs while Fe_s and while B_s run.
  int64_t SaveNeed(int s, int t) const {
    return std::max(save_forward_[s] + Gradient(t), save_backward_[s]);
  }
  // The first of the two without the gradient, and the second.
  int64_t ComputeForwardNeed(int s) const { return save_forward_[s]; }
  int64_t ComputeBackwardNeed(int s) const { return save_backward_[s]; }
  // The memory that the forwards of stages s .. k-1 need that keep at k,
  // without the gradient. It is the step of Keep at k = s + 1, then the largest
  // so far.
  int64_t KeepStep(int s, int k) const {
    return k == s + 1 ? keep_first_[s] : keep_[k - 1];
  }

  // Intervals in rows of s.
  size_t Index(int s, int t) const {
    return static_cast<size_t>(s) * (2 * stages_ - s + 1) / 2 + (t - s);
  }
  size_t intervals() const { return Index(stages_, stages_); }

 private:
  int stages_;
  int64_t base_time_ = 0;
  std::vector<int64_t> prefix_;
  std::vector<int64_t> act_;
  std::vector<int64_t> saved_;
  std::vector<int64_t> save_forward_;
  std::vector<int64_t> save_backward_;
  std::vector<int64_t> keep_first_;
  std::vector<int64_t> keep_;
};

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_COSTS_H_
