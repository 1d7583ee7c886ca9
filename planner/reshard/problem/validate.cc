#include "planner/reshard/problem/validate.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/reshard/problem/durations.h"

namespace meshwright::reshard {
namespace {

absl::Status RefuseProblem(const std::string& sentence) {
  return absl::InvalidArgumentError(sentence);
}

absl::Status CheckSpeed(double speed, const std::string& field) {
  if (std::isfinite(speed) && speed >= 0) return {};
  return RefuseProblem(absl::StrCat(
      field, " is ", speed, "; give bytes per second, finite and at least 0"));
}

absl::Status CheckHosts(const ReshardProblem& problem) {
  absl::flat_hash_set<std::string> names;
  for (const Host& host : problem.hosts) {
    if (!names.insert(host.name).second) {
      return RefuseProblem(absl::StrCat(
          "host \"", host.name, "\" is listed twice; name every host once"));
    }
    for (const auto& [field, speed] :
         {std::pair("out_bytes_per_s", host.out_bytes_per_s),
          std::pair("in_bytes_per_s", host.in_bytes_per_s)}) {
      RETURN_IF_ERROR(CheckSpeed(
          speed.value_or(0), absl::StrCat("hosts.", host.name, ".", field)));
    }
    for (const auto& [field, links] : {std::pair("out_links", host.out_links),
                                       std::pair("in_links", host.in_links)}) {
      if (links < 1 || links > kMaxLinks) {
        return RefuseProblem(absl::StrCat("hosts.", host.name, ".", field,
                                          " is ", links, "; a port has 1 to ",
                                          kMaxLinks, " links"));
      }
    }
  }
  for (size_t i = 0; i < problem.routes.size(); ++i) {
    RETURN_IF_ERROR(CheckSpeed(problem.routes[i].bytes_per_s,
                               absl::StrCat("routes[", i, "].bytes_per_s")));
  }
  return {};
}

absl::Status CheckList(const ReshardProblem& problem, const UnitTask& task,
                       const std::vector<int>& hosts, const char* field) {
  std::vector<int> sorted = hosts;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return {};
  return RefuseProblem(absl::StrCat("task ", task.id, ": ", field, " names \"",
                                    problem.hosts[*twice].name, "\" twice"));
}

absl::Status CheckReach(const ReshardProblem& problem,
                        const Durations& durations, const UnitTask& task) {
  if (task.receivers.empty()) return {};
  for (const int sender : task.senders) {
    if (durations.Speed(task, sender) > 0) return {};
  }
  for (const int receiver : task.receivers) {
    const bool reached =
        std::any_of(task.senders.begin(), task.senders.end(), [&](int sender) {
          return durations.SpeedBetween(sender, receiver) > 0;
        });
    if (!reached) {
      return RefuseProblem(
          absl::StrCat("task ", task.id, ": no sender host reaches \"",
                       problem.hosts[receiver].name,
                       "\"; give a port or route on the way a speed above 0"));
    }
  }
  return RefuseProblem(
      absl::StrCat("task ", task.id,
                   ": no sender host reaches all of its receiver hosts; "
                   "make it one task per receiver or add a route"));
}

}  // namespace

absl::Status Validate(const ReshardProblem& problem) {
  if (!std::isfinite(problem.bandwidth_bytes_per_s) ||
      problem.bandwidth_bytes_per_s <= 0) {
    return RefuseProblem(absl::StrCat("bandwidth_bytes_per_s is ",
                                      problem.bandwidth_bytes_per_s,
                                      "; give a finite figure above 0"));
  }
  RETURN_IF_ERROR(CheckHosts(problem));
  if (problem.tasks.size() > kMaxTasks) {
    return RefuseProblem(absl::StrCat("there are ", problem.tasks.size(),
                                      " tasks and at most ", kMaxTasks,
                                      " are scheduled; join small slices"));
  }
  absl::flat_hash_set<std::string_view> ids;
  int64_t total = 0;
  for (const UnitTask& task : problem.tasks) {
    if (!ids.insert(task.id).second) {
      return RefuseProblem(absl::StrCat("two tasks have the id ", task.id,
                                        "; give every task an id of its own"));
    }
    if (task.size_bytes <= 0) {
      return RefuseProblem(
          absl::StrCat("task ", task.id, ": size_bytes is ", task.size_bytes,
                       "; leave out slices that hold nothing"));
    }
    if (task.size_bytes > kMaxBytes - total) {
      return RefuseProblem(
          absl::StrCat("task ", task.id,
                       ": size_bytes makes the tasks larger than 2^62 "
                       "bytes together"));
    }
    total += task.size_bytes;
    if (task.senders.empty()) {
      return RefuseProblem(
          absl::StrCat("task ", task.id,
                       ": sender_hosts is empty; name the hosts that "
                       "hold the slice"));
    }
    RETURN_IF_ERROR(CheckList(problem, task, task.senders, "sender_hosts"));
    RETURN_IF_ERROR(CheckList(problem, task, task.receivers, "receiver_hosts"));
  }
  const Durations durations(problem);
  for (const UnitTask& task : problem.tasks) {
    RETURN_IF_ERROR(CheckReach(problem, durations, task));
  }
  return durations.CheckSum();
}

}  // namespace meshwright::reshard
