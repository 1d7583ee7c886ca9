// Interrupt: whether the one who asked still wants a better answer.
#ifndef MESHWRIGHT_PLANNER_PROBLEM_INTERRUPT_H_
#define MESHWRIGHT_PLANNER_PROBLEM_INTERRUPT_H_

#include <chrono>
#include <optional>
#include <stop_token>

namespace meshwright::problem {

struct Interrupt {
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::stop_token stop;

  bool Possible() const { return deadline.has_value() || stop.stop_possible(); }
  bool Requested() const {
    return stop.stop_requested() ||
           (deadline.has_value() &&
            std::chrono::steady_clock::now() >= *deadline);
  }
};

}  // namespace meshwright::problem

#endif  // MESHWRIGHT_PLANNER_PROBLEM_INTERRUPT_H_
