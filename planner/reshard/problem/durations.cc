#include "planner/reshard/problem/durations.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"

namespace meshwright::reshard {

Durations::Durations(const ReshardProblem& problem) : problem_(problem) {
  for (const Route& route : problem.routes) {
    const auto [at, made] =
        routes_.emplace(Ends{route.from, route.to}, route.bytes_per_s);
    if (!made) at->second = std::min(at->second, route.bytes_per_s);
  }
  const bool plain = routes_.empty() &&
                     std::none_of(problem.hosts.begin(), problem.hosts.end(),
                                  [](const Host& host) {
                                    return host.out_bytes_per_s.has_value() ||
                                           host.in_bytes_per_s.has_value();
                                  });
  std::optional<double> only;
  for (size_t i = 0; i < problem.tasks.size() && !plain && uniform_; ++i) {
    for (const int sender : problem.tasks[i].senders) {
      if (problem.tasks[i].receivers.empty()) break;
      const double speed = Speed(problem.tasks[i], sender);
      if (speed <= 0) continue;
      if (!only.has_value()) only = speed;
      uniform_ = uniform_ && *only == speed;
    }
  }
  if (uniform_) {
    ticks_per_second_ = only.value_or(problem.bandwidth_bytes_per_s);
  }
}

double Durations::SpeedBetween(int sender, int receiver) const {
  const double bandwidth = problem_.bandwidth_bytes_per_s;
  const double speed =
      std::min(problem_.hosts[sender].out_bytes_per_s.value_or(bandwidth),
               problem_.hosts[receiver].in_bytes_per_s.value_or(bandwidth));
  if (routes_.empty()) return speed;
  const auto route = routes_.find(Ends{sender, receiver});
  return route == routes_.end() ? speed : std::min(speed, route->second);
}

double Durations::Speed(const UnitTask& task, int sender) const {
  double speed = problem_.hosts[sender].out_bytes_per_s.value_or(
      problem_.bandwidth_bytes_per_s);
  for (const int receiver : task.receivers) {
    speed = std::min(speed, SpeedBetween(sender, receiver));
  }
  return speed;
}

Ticks Durations::ComputeTicks(const UnitTask& task, int sender,
                              int64_t bytes) const {
  if (task.receivers.empty()) return 0;
  if (uniform_) return bytes;
  const double ticks =
      static_cast<double>(bytes) / Speed(task, sender) * ticks_per_second_;
  if (ticks >= 4e18) return Ticks{4'000'000'000'000'000'000};
  return std::max<Ticks>(1, std::llrint(ticks));
}

absl::Status Durations::CheckSum() const {
  if (uniform_) return {};
  double sum = 0;
  for (const UnitTask& task : problem_.tasks) {
    if (task.receivers.empty()) continue;
    double longest = 0;
    for (const int sender : task.senders) {
      const double speed = Speed(task, sender);
      if (speed <= 0) continue;
      longest = std::max(longest,
                         static_cast<double>(task.size_bytes) / speed * 1e12);
    }
    sum += longest;
    if (sum > 2e18) {
      return absl::InvalidArgumentError(
          absl::StrCat("task ", task.id,
                       ": the tasks take more than 2,000,000 s one after "
                       "another, which the planner cannot add up; give greater "
                       "speeds or smaller sizes"));
    }
  }
  return {};
}

}  // namespace meshwright::reshard
