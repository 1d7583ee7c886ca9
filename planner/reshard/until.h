// Until: how long the one who asked waits for a better answer.
#ifndef MESHWRIGHT_PLANNER_RESHARD_UNTIL_H_
#define MESHWRIGHT_PLANNER_RESHARD_UNTIL_H_

#include <chrono>
#include <optional>
#include <stop_token>

namespace meshwright::reshard {

struct Until {
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::stop_token stop;

  bool Over() const {
    return stop.stop_requested() ||
           (deadline.has_value() &&
            std::chrono::steady_clock::now() >= *deadline);
  }
};

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_UNTIL_H_
