// Until: when a search must end.
//
// Concept: asked often; true from some moment on. Who cannot be asked, such as
// a foreign solver, is told the deadline.
#ifndef MESHWRIGHT_PLANNER_SEARCH_UNTIL_H_
#define MESHWRIGHT_PLANNER_SEARCH_UNTIL_H_

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

namespace meshwright::search {

struct Until {
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  template <typename IsOver>
  Until(IsOver is_over, Deadline deadline = std::nullopt)  // NOLINT
      : is_over(std::move(is_over)), deadline(deadline) {}

  bool operator()() const { return is_over(); }

  std::function<bool()> is_over;
  Deadline deadline;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_UNTIL_H_
