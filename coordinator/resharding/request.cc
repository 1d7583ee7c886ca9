#include "coordinator/resharding/request.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/sharding.h"
#include "base/status_macros.h"
#include "planner/reshard/problem/validate.h"

namespace meshwright::resharding {
namespace {

using google::protobuf::RepeatedField;
using google::protobuf::RepeatedPtrField;

constexpr int kMaxSizes = 64;  // of a shape or a mesh

absl::Status Refuse(const std::string& sentence) {
  return absl::InvalidArgumentError(sentence);
}

absl::Status CheckPresent(bool present, const std::string& field) {
  return present ? absl::Status() : Refuse(field + " is missing");
}

absl::Status CheckName(const std::string& name, const std::string& field) {
  if (name.empty()) return Refuse(absl::StrCat(field, " is empty"));
  for (const char c : name) {
    if (c >= 0 && c < ' ') {
      return Refuse(absl::StrCat(field, " holds a control character"));
    }
  }
  return {};
}

absl::StatusOr<int> ReadLinks(int64_t count, const std::string& field) {
  if (count >= 1 && count <= reshard::kMaxLinks) return static_cast<int>(count);
  return Refuse(absl::StrCat(field, " is ", count, "; a port has 1 to ",
                             reshard::kMaxLinks, " links"));
}

// Hosts by name, in the order of their first mention.
class HostIndex {
 public:
  explicit HostIndex(std::vector<reshard::Host>& hosts) : hosts_(hosts) {
    for (const reshard::Host& host : hosts) {
      index_.emplace(host.name, index_.size());
    }
  }

  absl::StatusOr<std::vector<int>> Add(
      const RepeatedPtrField<std::string>& names, const std::string& field) {
    if (names.empty()) {
      return Refuse(absl::StrCat(field, " is empty; name at least one host"));
    }
    std::vector<int> indices;
    for (int i = 0; i < names.size(); ++i) {
      RETURN_IF_ERROR(CheckName(names[i], absl::StrCat(field, "[", i, "]")));
      const auto [at, made] =
          index_.emplace(names[i], static_cast<int>(index_.size()));
      if (made) hosts_.push_back({.name = names[i]});
      indices.push_back(at->second);
    }
    return indices;
  }

  // Of a host that some task names.
  absl::StatusOr<int> Find(const std::string& name,
                           const std::string& field) const {
    const auto found = index_.find(name);
    if (found != index_.end()) return found->second;
    return Refuse(absl::StrCat(field, " names \"", name,
                               "\", a host that sends and receives nothing"));
  }

 private:
  std::vector<reshard::Host>& hosts_;
  absl::flat_hash_map<std::string, int> index_;
};

absl::StatusOr<reshard::UnitTask> ReadTask(const v1::ReshardingTask& message,
                                           const std::string& field,
                                           HostIndex& hosts) {
  RETURN_IF_ERROR(CheckPresent(message.has_id(), field + ".id"));
  RETURN_IF_ERROR(
      CheckPresent(message.has_size_bytes(), field + ".size_bytes"));
  RETURN_IF_ERROR(CheckName(message.id(), field + ".id"));
  reshard::UnitTask task{.id = message.id(),
                         .size_bytes = message.size_bytes()};
  ASSIGN_OR_RETURN(task.senders,
                   hosts.Add(message.sender_hosts(), field + ".sender_hosts"));
  ASSIGN_OR_RETURN(task.receivers, hosts.Add(message.receiver_hosts(),
                                             field + ".receiver_hosts"));
  return task;
}

absl::StatusOr<std::vector<int64_t>> ReadSizes(
    const RepeatedField<int64_t>& sizes, const std::string& field) {
  if (sizes.size() <= kMaxSizes) return std::vector(sizes.begin(), sizes.end());
  return Refuse(absl::StrCat(field, " has ", sizes.size(), " entries; at most ",
                             kMaxSizes, " are read"));
}

absl::StatusOr<reshard::Side> ReadSide(
    const RepeatedField<int64_t>& mesh, bool has_spec, const std::string& spec,
    const RepeatedPtrField<std::string>& hosts, const std::string& prefix) {
  RETURN_IF_ERROR(CheckPresent(has_spec, prefix + "_spec"));
  reshard::Side side;
  ASSIGN_OR_RETURN(side.mesh, ReadSizes(mesh, prefix + "_mesh"));
  ASSIGN_OR_RETURN(side.spec, base::ParseSpec(spec, prefix + "_spec"));
  side.hosts.assign(hosts.begin(), hosts.end());
  for (int i = 0; i < hosts.size(); ++i) {
    RETURN_IF_ERROR(
        CheckName(hosts[i], absl::StrCat(prefix, "_hosts[", i, "]")));
  }
  return side;
}

absl::StatusOr<reshard::Resharding> ReadTensor(
    const v1::ReshardingTensor& message) {
  RETURN_IF_ERROR(
      CheckPresent(message.has_elem_bytes(), "resharding.elem_bytes"));
  reshard::Resharding tensor{.elem_bytes = message.elem_bytes()};
  ASSIGN_OR_RETURN(tensor.shape,
                   ReadSizes(message.shape(), "resharding.shape"));
  ASSIGN_OR_RETURN(
      tensor.source,
      ReadSide(message.src_mesh(), message.has_src_spec(), message.src_spec(),
               message.src_hosts(), "resharding.src"));
  ASSIGN_OR_RETURN(
      tensor.target,
      ReadSide(message.dst_mesh(), message.has_dst_spec(), message.dst_spec(),
               message.dst_hosts(), "resharding.dst"));
  return tensor;
}

absl::Status ReadPorts(const v1::ReshardingPorts& message,
                       const std::string& field, reshard::Host& host) {
  if (message.has_out_bytes_per_s()) {
    host.out_bytes_per_s = message.out_bytes_per_s();
  }
  if (message.has_in_bytes_per_s()) {
    host.in_bytes_per_s = message.in_bytes_per_s();
  }
  if (message.has_out_links()) {
    ASSIGN_OR_RETURN(host.out_links,
                     ReadLinks(message.out_links(), field + ".out_links"));
  }
  if (message.has_in_links()) {
    ASSIGN_OR_RETURN(host.in_links,
                     ReadLinks(message.in_links(), field + ".in_links"));
  }
  return {};
}

absl::StatusOr<reshard::Route> ReadRoute(const v1::ReshardingRoute& message,
                                         const std::string& field,
                                         const HostIndex& hosts) {
  RETURN_IF_ERROR(CheckPresent(message.has_from(), field + ".from"));
  RETURN_IF_ERROR(CheckPresent(message.has_to(), field + ".to"));
  RETURN_IF_ERROR(
      CheckPresent(message.has_bytes_per_s(), field + ".bytes_per_s"));
  RETURN_IF_ERROR(CheckName(message.from(), field + ".from"));
  RETURN_IF_ERROR(CheckName(message.to(), field + ".to"));
  reshard::Route route{.bytes_per_s = message.bytes_per_s()};
  ASSIGN_OR_RETURN(route.from, hosts.Find(message.from(), field + ".from"));
  ASSIGN_OR_RETURN(route.to, hosts.Find(message.to(), field + ".to"));
  return route;
}

}  // namespace

absl::StatusOr<Request> ReadRequest(const v1::ReshardingRequest& message,
                                    bool lists_tasks) {
  RETURN_IF_ERROR(CheckPresent(message.has_bandwidth_bytes_per_s(),
                               "bandwidth_bytes_per_s"));
  lists_tasks = lists_tasks || !message.tasks().empty();
  if (lists_tasks == message.has_resharding()) {
    return Refuse(lists_tasks
                      ? "tasks and resharding are both there; give one of them"
                      : "tasks is missing; give tasks, or resharding for a "
                        "tensor between two meshes");
  }
  Request request;
  reshard::ReshardProblem& problem = request.problem;
  if (message.has_resharding()) {
    ASSIGN_OR_RETURN(const reshard::Resharding tensor,
                     ReadTensor(message.resharding()));
    ASSIGN_OR_RETURN(request.units, Decompose(tensor));
    problem = ToProblem(*request.units, message.bandwidth_bytes_per_s());
  }
  problem.bandwidth_bytes_per_s = message.bandwidth_bytes_per_s();
  problem.split = message.split();
  if (message.tasks_size() > reshard::kMaxTasks) {
    return Refuse(absl::StrCat("tasks has ", message.tasks_size(),
                               " entries and at most ", reshard::kMaxTasks,
                               " are scheduled; join small slices"));
  }
  HostIndex hosts(problem.hosts);
  for (int i = 0; i < message.tasks_size(); ++i) {
    ASSIGN_OR_RETURN(
        reshard::UnitTask task,
        ReadTask(message.tasks(i), absl::StrCat("tasks[", i, "]"), hosts));
    problem.tasks.push_back(std::move(task));
  }
  // By name, so that the first of several mistakes is always the same.
  const std::map<std::string, v1::ReshardingPorts> ports(
      message.hosts().begin(), message.hosts().end());
  for (const auto& [name, port] : ports) {
    ASSIGN_OR_RETURN(const int index, hosts.Find(name, "hosts"));
    RETURN_IF_ERROR(
        ReadPorts(port, absl::StrCat("hosts.", name), problem.hosts[index]));
  }
  for (int i = 0; i < message.routes_size(); ++i) {
    ASSIGN_OR_RETURN(
        const reshard::Route route,
        ReadRoute(message.routes(i), absl::StrCat("routes[", i, "]"), hosts));
    problem.routes.push_back(route);
  }
  RETURN_IF_ERROR(Validate(problem));
  return request;
}

}  // namespace meshwright::resharding
