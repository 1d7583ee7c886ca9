#include "planner/reshard/problem/schedule.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::reshard {
namespace {

absl::Status RefuseSend(const std::string& sentence) {
  return absl::InvalidArgumentError(sentence);
}

absl::Status CheckSends(const ReshardProblem& problem,
                        const Durations& durations, const Schedule& schedule) {
  std::vector<int64_t> sent(problem.tasks.size(), 0);
  std::vector<std::vector<int>> by(problem.tasks.size());
  for (const Send& send : schedule) {
    if (send.task < 0 || send.task >= static_cast<int>(problem.tasks.size())) {
      return RefuseSend(absl::StrCat("a send names task ", send.task,
                                     ", which is not there"));
    }
    const UnitTask& task = problem.tasks[send.task];
    const auto& senders = task.senders;
    if (std::find(senders.begin(), senders.end(), send.sender) ==
        senders.end()) {
      return RefuseSend(absl::StrCat(
          "task ", task.id, " is sent by a host that does not hold it"));
    }
    if (durations.Speed(task, send.sender) <= 0 && !task.receivers.empty()) {
      return RefuseSend(
          absl::StrCat("task ", task.id,
                       " is sent by a host that does not reach its "
                       "receivers"));
    }
    if (send.bytes <= 0 || send.bytes > task.size_bytes - sent[send.task]) {
      return RefuseSend(absl::StrCat("task ", task.id, " is sent with ",
                                     send.bytes, " bytes of ", task.size_bytes,
                                     " after ", sent[send.task]));
    }
    if (!problem.split && send.bytes != task.size_bytes) {
      return RefuseSend(absl::StrCat("task ", task.id, " is split"));
    }
    auto& earlier = by[send.task];
    if (std::find(earlier.begin(), earlier.end(), send.sender) !=
        earlier.end()) {
      return RefuseSend(
          absl::StrCat("task ", task.id, " is sent twice by one of its hosts"));
    }
    earlier.push_back(send.sender);
    sent[send.task] += send.bytes;
  }
  for (size_t i = 0; i < sent.size(); ++i) {
    if (sent[i] != problem.tasks[i].size_bytes) {
      return RefuseSend(
          absl::StrCat("task ", problem.tasks[i].id, " is not sent whole"));
    }
  }
  return {};
}

Ticks FreeAt(const std::vector<Ticks>& links) {
  return *std::min_element(links.begin(), links.end());
}

void Occupy(std::vector<Ticks>& links, Ticks start, Ticks end) {
  Ticks* best = nullptr;
  for (Ticks& link : links) {
    if (link <= start && (best == nullptr || link > *best)) best = &link;
  }
  *best = end;
}

}  // namespace

absl::StatusOr<Timing> Replay(const ReshardProblem& problem,
                              const Schedule& schedule) {
  const Durations durations(problem);
  RETURN_IF_ERROR(CheckSends(problem, durations, schedule));
  std::vector<std::vector<Ticks>> out, in;  // per host and link: in use until
  for (const Host& host : problem.hosts) {
    out.emplace_back(host.out_links, 0);
    in.emplace_back(host.in_links, 0);
  }
  Timing timing;
  for (const Send& send : schedule) {
    const UnitTask& task = problem.tasks[send.task];
    Ticks start = 0;
    if (!task.receivers.empty()) {
      start = FreeAt(out[send.sender]);
      for (const int receiver : task.receivers) {
        start = std::max(start, FreeAt(in[receiver]));
      }
    }
    const Ticks end =
        start + durations.ComputeTicks(task, send.sender, send.bytes);
    if (!task.receivers.empty()) {
      Occupy(out[send.sender], start, end);
      for (const int receiver : task.receivers) {
        Occupy(in[receiver], start, end);
      }
    }
    timing.start.push_back(start);
    timing.end.push_back(end);
    timing.makespan = std::max(timing.makespan, end);
  }
  return timing;
}

}  // namespace meshwright::reshard
