#include "coordinator/resharding/answer_message.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::resharding {
namespace {

void AddUnits(const Request& request, v1::ReshardingAnswer& message) {
  const reshard::Units& units = *request.units;
  for (size_t i = 0; i < units.units.size(); ++i) {
    const reshard::Unit& unit = units.units[i];
    v1::ReshardingUnit& task = *message.add_tasks();
    task.set_id(request.problem.tasks[i].id);
    task.mutable_begin()->Add(unit.begin.begin(), unit.begin.end());
    task.mutable_end()->Add(unit.end.begin(), unit.end.end());
    task.set_size_bytes(unit.size_bytes);
    for (const int host : unit.senders) {
      task.add_sender_hosts(units.hosts[host]);
    }
    for (const int host : unit.receivers) {
      task.add_receiver_hosts(units.hosts[host]);
    }
    const auto& sources = units.source_tiles[unit.source_tile];
    task.mutable_src_devices()->Add(sources.begin(), sources.end());
    const auto& targets = units.target_tiles[unit.target_tile];
    task.mutable_dst_devices()->Add(targets.begin(), targets.end());
  }
}

// Indices by name.
class NameIndex {
 public:
  template <typename List, typename GetName>
  NameIndex(const List& list, const GetName& get_name) {
    for (size_t i = 0; i < list.size(); ++i) {
      index_.emplace(get_name(list[i]), static_cast<int>(i));
    }
  }
  absl::StatusOr<int> Find(const std::string& name) const {
    const auto found = index_.find(name);
    if (found != index_.end()) return found->second;
    return absl::InternalError(absl::StrCat("the coordinator answered with \"",
                                            name, "\", which was not asked"));
  }

 private:
  absl::flat_hash_map<std::string, int> index_;
};

absl::StatusOr<reshard::Schedule> ReadSchedule(
    const reshard::ReshardProblem& problem,
    const v1::ReshardingAnswer& message) {
  const NameIndex tasks(problem.tasks,
                        [](const auto& task) { return task.id; });
  const NameIndex hosts(problem.hosts,
                        [](const auto& host) { return host.name; });
  reshard::Schedule schedule;
  const auto add = [&](const std::string& id, const std::string& sender,
                       std::optional<int64_t> bytes) -> absl::Status {
    ASSIGN_OR_RETURN(const int task, tasks.Find(id));
    ASSIGN_OR_RETURN(const int host, hosts.Find(sender));
    schedule.push_back(
        {task, host, bytes.value_or(problem.tasks[task].size_bytes)});
    return {};
  };
  if (problem.split) {
    for (const v1::ReshardingPart& part : message.parts()) {
      RETURN_IF_ERROR(add(part.id(), part.sender(), part.size_bytes()));
    }
    return schedule;
  }
  for (const std::string& id : message.order()) {
    const auto sender = message.senders().find(id);
    if (sender == message.senders().end()) {
      return absl::InternalError(
          absl::StrCat("the coordinator answered no sender of task ", id));
    }
    RETURN_IF_ERROR(add(id, sender->second, std::nullopt));
  }
  return schedule;
}

}  // namespace

v1::ReshardingAnswer AnswerToMessage(const Request& request,
                                     const reshard::Answer& answer) {
  const reshard::ReshardProblem& problem = request.problem;
  v1::ReshardingAnswer message;
  message.set_makespan_s(answer.makespan_seconds);
  message.set_lower_bound_s(answer.lower_bound_seconds);
  message.set_optimal(answer.optimal);
  message.set_solver(answer.solver);
  message.set_solve_seconds(answer.elapsed.count());
  for (const reshard::Send& send : answer.schedule) {
    const std::string& id = problem.tasks[send.task].id;
    const std::string& sender = problem.hosts[send.sender].name;
    if (!answer.split) {
      message.add_order(id);
      (*message.mutable_senders())[id] = sender;
    }
    if (problem.split) {
      v1::ReshardingPart& part = *message.add_parts();
      part.set_id(id);
      part.set_sender(sender);
      part.set_size_bytes(send.bytes);
    }
  }
  if (request.units.has_value()) AddUnits(request, message);
  return message;
}

absl::StatusOr<reshard::Answer> AnswerFromMessage(
    const Request& request, const v1::ReshardingAnswer& message) {
  const reshard::ReshardProblem& problem = request.problem;
  ASSIGN_OR_RETURN(reshard::Schedule schedule, ReadSchedule(problem, message));
  const reshard::Durations durations(problem);
  absl::StatusOr<reshard::Answer> answer = reshard::Score(
      problem, std::move(schedule), durations.Nearest(message.lower_bound_s()),
      message.solver());
  if (!answer.ok()) {
    return absl::InternalError(
        absl::StrCat("the coordinator answered with a schedule that is none: ",
                     answer.status().message()));
  }
  if (answer->makespan_seconds != message.makespan_s()) {
    return absl::InternalError(absl::StrCat(
        "the coordinator answered with a schedule of ", message.makespan_s(),
        " s that takes ", answer->makespan_seconds, " s"));
  }
  answer->elapsed = std::chrono::duration<double>(message.solve_seconds());
  return answer;
}

}  // namespace meshwright::resharding
