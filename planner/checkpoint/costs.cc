#include "planner/checkpoint/costs.h"

namespace meshwright::checkpoint {

Costs::Costs(const Chain& chain)
    : stages_(chain.stages()),
      base_time_(chain.loss.count()),
      prefix_(1, 0),
      act_(chain.act_bytes),
      saved_(chain.saved_bytes) {
  for (int i = 0; i < stages_; ++i) {
    const int64_t forward = chain.ForwardTime(i).count();
    base_time_ += forward + chain.BackwardTime(i).count();
    prefix_.push_back(prefix_.back() + forward);
    save_forward_.push_back(saved_[i] + chain.ForwardTransient(i));
    save_backward_.push_back(saved_[i] + act_[i + 1] +
                             chain.BackwardTransient(i));
    // act[s] is stored outside; that of a later stage is not.
    keep_first_.push_back(act_[i + 1] + chain.ForwardTransient(i));
    keep_.push_back(act_[i] + keep_first_.back());
  }
}

}  // namespace meshwright::checkpoint
