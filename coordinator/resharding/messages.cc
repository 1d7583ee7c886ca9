#include "coordinator/resharding/messages.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::resharding {
namespace {

using google::protobuf::RepeatedField;
using google::protobuf::RepeatedPtrField;
using reshard::Missing;
using reshard::Name;

std::vector<Name> Names(const RepeatedPtrField<std::string>& list) {
  std::vector<Name> names;
  names.reserve(list.size());
  for (const std::string& text : list) names.push_back({text});
  return names;
}

void SetNames(const std::vector<Name>& names,
              RepeatedPtrField<std::string>* list) {
  for (const Name& name : names) *list->Add() = name.text;
}

absl::StatusOr<reshard::WrittenTask> ReadTask(const v1::ReshardingTask& message,
                                              const std::string& field) {
  if (!message.has_id()) return Missing(field + ".id");
  if (!message.has_size_bytes()) return Missing(field + ".size_bytes");
  reshard::WrittenTask task;
  task.id.text = message.id();
  task.size_bytes = message.size_bytes();
  task.senders = Names(message.sender_hosts());
  task.receivers = Names(message.receiver_hosts());
  return task;
}

reshard::WrittenSide ReadSide(const RepeatedField<int64_t>& mesh,
                              const std::string& spec,
                              const RepeatedPtrField<std::string>& hosts) {
  reshard::WrittenSide side;
  side.mesh.assign(mesh.begin(), mesh.end());
  side.spec = spec;
  if (!hosts.empty()) side.hosts = Names(hosts);
  return side;
}

absl::StatusOr<reshard::WrittenTensor> ReadTensor(
    const v1::ReshardingTensor& message) {
  if (!message.has_elem_bytes()) return Missing("resharding.elem_bytes");
  if (!message.has_src_spec()) return Missing("resharding.src_spec");
  if (!message.has_dst_spec()) return Missing("resharding.dst_spec");
  reshard::WrittenTensor tensor;
  tensor.shape.assign(message.shape().begin(), message.shape().end());
  tensor.elem_bytes = message.elem_bytes();
  tensor.source =
      ReadSide(message.src_mesh(), message.src_spec(), message.src_hosts());
  tensor.target =
      ReadSide(message.dst_mesh(), message.dst_spec(), message.dst_hosts());
  return tensor;
}

reshard::WrittenPorts ReadPorts(const v1::ReshardingPorts& message) {
  reshard::WrittenPorts ports;
  if (message.has_out_bytes_per_s()) {
    ports.out_bytes_per_s = message.out_bytes_per_s();
  }
  if (message.has_in_bytes_per_s()) {
    ports.in_bytes_per_s = message.in_bytes_per_s();
  }
  if (message.has_out_links()) ports.out_links = message.out_links();
  if (message.has_in_links()) ports.in_links = message.in_links();
  return ports;
}

absl::StatusOr<reshard::WrittenRoute> ReadRoute(
    const v1::ReshardingRoute& message, const std::string& field) {
  if (!message.has_from()) return Missing(field + ".from");
  if (!message.has_to()) return Missing(field + ".to");
  if (!message.has_bytes_per_s()) return Missing(field + ".bytes_per_s");
  reshard::WrittenRoute route;
  route.from.text = message.from();
  route.to.text = message.to();
  route.bytes_per_s = message.bytes_per_s();
  return route;
}

v1::ReshardingTensor TensorMessage(const reshard::WrittenTensor& tensor) {
  v1::ReshardingTensor message;
  message.mutable_shape()->Add(tensor.shape.begin(), tensor.shape.end());
  message.set_elem_bytes(tensor.elem_bytes);
  const reshard::WrittenSide& source = tensor.source;
  message.mutable_src_mesh()->Add(source.mesh.begin(), source.mesh.end());
  message.set_src_spec(source.spec);
  if (source.hosts.has_value()) {
    SetNames(*source.hosts, message.mutable_src_hosts());
  }
  const reshard::WrittenSide& target = tensor.target;
  message.mutable_dst_mesh()->Add(target.mesh.begin(), target.mesh.end());
  message.set_dst_spec(target.spec);
  if (target.hosts.has_value()) {
    SetNames(*target.hosts, message.mutable_dst_hosts());
  }
  return message;
}

v1::ReshardingPorts PortsMessage(const reshard::WrittenPorts& ports) {
  v1::ReshardingPorts message;
  if (ports.out_bytes_per_s.has_value()) {
    message.set_out_bytes_per_s(*ports.out_bytes_per_s);
  }
  if (ports.in_bytes_per_s.has_value()) {
    message.set_in_bytes_per_s(*ports.in_bytes_per_s);
  }
  if (ports.out_links.has_value()) message.set_out_links(*ports.out_links);
  if (ports.in_links.has_value()) message.set_in_links(*ports.in_links);
  return message;
}

void AddUnits(const reshard::Request& request, v1::ReshardingAnswer& message) {
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
class Index {
 public:
  template <typename List, typename NameOf>
  Index(const List& list, const NameOf& name_of) {
    for (size_t i = 0; i < list.size(); ++i) {
      index_.emplace(name_of(list[i]), static_cast<int>(i));
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
  const Index tasks(problem.tasks, [](const auto& task) { return task.id; });
  const Index hosts(problem.hosts, [](const auto& host) { return host.name; });
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

absl::StatusOr<reshard::Written> FromMessage(
    const v1::ReshardingRequest& message) {
  if (!message.has_bandwidth_bytes_per_s()) {
    return Missing("bandwidth_bytes_per_s");
  }
  reshard::Written written;
  written.bandwidth_bytes_per_s = message.bandwidth_bytes_per_s();
  if (!message.tasks().empty()) written.tasks.emplace();
  for (int i = 0; i < message.tasks_size(); ++i) {
    ASSIGN_OR_RETURN(
        reshard::WrittenTask task,
        ReadTask(message.tasks(i), absl::StrCat("tasks[", i, "]")));
    written.tasks->push_back(std::move(task));
  }
  if (message.has_resharding()) {
    ASSIGN_OR_RETURN(written.resharding, ReadTensor(message.resharding()));
  }
  // By name, so that of two mistakes the same one is told every time.
  const std::map<std::string, v1::ReshardingPorts> hosts(
      message.hosts().begin(), message.hosts().end());
  for (const auto& [name, ports] : hosts) {
    written.hosts.emplace_back(name, ReadPorts(ports));
  }
  for (int i = 0; i < message.routes_size(); ++i) {
    ASSIGN_OR_RETURN(
        reshard::WrittenRoute route,
        ReadRoute(message.routes(i), absl::StrCat("routes[", i, "]")));
    written.routes.push_back(std::move(route));
  }
  written.split = message.split();
  return written;
}

v1::ReshardingRequest ToMessage(const reshard::Written& written) {
  v1::ReshardingRequest message;
  message.set_bandwidth_bytes_per_s(written.bandwidth_bytes_per_s);
  if (written.tasks.has_value()) {
    for (const reshard::WrittenTask& task : *written.tasks) {
      v1::ReshardingTask& added = *message.add_tasks();
      added.set_id(task.id.text);
      added.set_size_bytes(task.size_bytes);
      SetNames(task.senders, added.mutable_sender_hosts());
      SetNames(task.receivers, added.mutable_receiver_hosts());
    }
  }
  if (written.resharding.has_value()) {
    *message.mutable_resharding() = TensorMessage(*written.resharding);
  }
  for (const auto& [name, ports] : written.hosts) {
    (*message.mutable_hosts())[name] = PortsMessage(ports);
  }
  for (const reshard::WrittenRoute& route : written.routes) {
    v1::ReshardingRoute& added = *message.add_routes();
    added.set_from(route.from.text);
    added.set_to(route.to.text);
    added.set_bytes_per_s(route.bytes_per_s);
  }
  message.set_split(written.split);
  return message;
}

v1::ReshardingAnswer ToMessage(const reshard::Request& request,
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

absl::StatusOr<reshard::Answer> FromMessage(
    const reshard::Request& request, const v1::ReshardingAnswer& message) {
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
