#include "planner/reshard/request.h"

#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/reshard/problem/validate.h"

namespace meshwright::reshard {
namespace {

constexpr size_t kMostSizes = 64;  // of a shape or a mesh

absl::Status Bad(const std::string& sentence) {
  return absl::InvalidArgumentError(sentence);
}

absl::Status CheckName(const Name& name, const std::string& field) {
  if (name.text.empty()) return Bad(absl::StrCat(field, " is empty"));
  for (const char c : name.text) {
    if (c >= 0 && c < ' ') {
      return Bad(absl::StrCat(field, " holds a control character"));
    }
  }
  return {};
}

absl::StatusOr<int> CheckLinks(int64_t count, const std::string& field) {
  if (count < 1 || count > kMostLinks) {
    return Bad(absl::StrCat(field, " is ", count, "; a port has 1 to ",
                            kMostLinks, " links"));
  }
  return static_cast<int>(count);
}

// Hosts by name, in the order of their first mention.
class Hosts {
 public:
  explicit Hosts(Request& request) : request_(request) {
    for (const Host& host : request.problem.hosts) {
      index_.emplace(host.name, index_.size());
    }
  }

  int Add(const Name& name) {
    const auto [at, made] =
        index_.emplace(name.text, static_cast<int>(index_.size()));
    if (made) {
      request_.problem.hosts.push_back({.name = name.text});
      request_.number_hosts.push_back(name.number);
    }
    return at->second;
  }

  absl::StatusOr<std::vector<int>> AddAll(const std::vector<Name>& names,
                                          const std::string& field) {
    if (names.empty()) {
      return Bad(absl::StrCat(field, " is empty; name at least one host"));
    }
    std::vector<int> indices;
    for (size_t i = 0; i < names.size(); ++i) {
      RETURN_IF_ERROR(CheckName(names[i], absl::StrCat(field, "[", i, "]")));
      indices.push_back(Add(names[i]));
    }
    return indices;
  }

  // Of a host that some task names.
  absl::StatusOr<int> Find(const std::string& name,
                           const std::string& field) const {
    const auto found = index_.find(name);
    if (found != index_.end()) return found->second;
    return Bad(absl::StrCat(field, " names \"", name,
                            "\", a host that sends and receives nothing"));
  }

 private:
  Request& request_;
  absl::flat_hash_map<std::string, int> index_;
};

absl::Status AddTasks(const std::vector<WrittenTask>& tasks, Hosts& hosts,
                      Request& request) {
  if (tasks.size() > kMostTasks) {
    return Bad(absl::StrCat("tasks has ", tasks.size(), " entries and at most ",
                            kMostTasks, " are scheduled; join small slices"));
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    const std::string field = absl::StrCat("tasks[", i, "]");
    RETURN_IF_ERROR(CheckName(tasks[i].id, field + ".id"));
    UnitTask task;
    task.id = tasks[i].id.text;
    task.size_bytes = tasks[i].size_bytes;
    ASSIGN_OR_RETURN(task.senders,
                     hosts.AddAll(tasks[i].senders, field + ".sender_hosts"));
    ASSIGN_OR_RETURN(task.receivers, hosts.AddAll(tasks[i].receivers,
                                                  field + ".receiver_hosts"));
    request.problem.tasks.push_back(std::move(task));
    request.number_ids.push_back(tasks[i].id.number);
  }
  return {};
}

absl::Status CheckSizes(const std::vector<int64_t>& sizes,
                        const std::string& field) {
  if (sizes.size() <= kMostSizes) return {};
  return Bad(absl::StrCat(field, " has ", sizes.size(), " entries; at most ",
                          kMostSizes, " are read"));
}

absl::StatusOr<Side> ToSide(const WrittenSide& written,
                            const std::string& prefix) {
  Side side;
  RETURN_IF_ERROR(CheckSizes(written.mesh, prefix + "_mesh"));
  side.mesh = written.mesh;
  ASSIGN_OR_RETURN(side.spec, ParseSpec(written.spec, prefix + "_spec"));
  if (!written.hosts.has_value()) return side;
  const std::string field = prefix + "_hosts";
  if (written.hosts->empty()) {
    return Bad(absl::StrCat(field,
                            " is empty; leave it out or give one name "
                            "per row or per device"));
  }
  for (const Name& name : *written.hosts) {
    RETURN_IF_ERROR(
        CheckName(name, absl::StrCat(field, "[", side.hosts.size(), "]")));
    side.hosts.push_back(name.text);
  }
  return side;
}

absl::Status AddUnits(const WrittenTensor& written, double bandwidth,
                      Request& request) {
  Resharding resharding;
  RETURN_IF_ERROR(CheckSizes(written.shape, "resharding.shape"));
  resharding.shape = written.shape;
  resharding.elem_bytes = written.elem_bytes;
  ASSIGN_OR_RETURN(resharding.source, ToSide(written.source, "resharding.src"));
  ASSIGN_OR_RETURN(resharding.target, ToSide(written.target, "resharding.dst"));
  ASSIGN_OR_RETURN(request.units, Decompose(resharding));
  request.problem = ToProblem(*request.units, bandwidth);
  request.number_ids.assign(request.problem.tasks.size(), true);
  request.number_hosts.assign(request.problem.hosts.size(), false);
  return {};
}

absl::Status AddPorts(const std::string& name, const WrittenPorts& ports,
                      const Hosts& hosts, ReshardProblem& problem) {
  ASSIGN_OR_RETURN(const int index, hosts.Find(name, "hosts"));
  Host& host = problem.hosts[index];
  host.out_bytes_per_s = ports.out_bytes_per_s;
  host.in_bytes_per_s = ports.in_bytes_per_s;
  const std::string field = absl::StrCat("hosts.", name);
  ASSIGN_OR_RETURN(host.out_links, CheckLinks(ports.out_links.value_or(1),
                                              field + ".out_links"));
  ASSIGN_OR_RETURN(host.in_links,
                   CheckLinks(ports.in_links.value_or(1), field + ".in_links"));
  return {};
}

absl::Status AddRoute(const WrittenRoute& written, const std::string& field,
                      const Hosts& hosts, ReshardProblem& problem) {
  Route route;
  for (const auto& [member, name, index] :
       {std::tuple("from", &written.from, &route.from),
        std::tuple("to", &written.to, &route.to)}) {
    const std::string at = absl::StrCat(field, ".", member);
    RETURN_IF_ERROR(CheckName(*name, at));
    ASSIGN_OR_RETURN(*index, hosts.Find(name->text, at));
  }
  route.bytes_per_s = written.bytes_per_s;
  problem.routes.push_back(route);
  return {};
}

}  // namespace

absl::Status Missing(const std::string& field) {
  return Bad(field + " is missing");
}

absl::StatusOr<Request> MakeRequest(const Written& written) {
  if (written.tasks.has_value() == written.resharding.has_value()) {
    return Bad(written.tasks.has_value()
                   ? "tasks and resharding are both there; give one of them"
                   : "tasks is missing; give tasks, or resharding for a tensor "
                     "between two meshes");
  }
  Request request;
  if (written.resharding.has_value()) {
    RETURN_IF_ERROR(
        AddUnits(*written.resharding, written.bandwidth_bytes_per_s, request));
  }
  Hosts hosts(request);
  if (written.tasks.has_value()) {
    RETURN_IF_ERROR(AddTasks(*written.tasks, hosts, request));
  }
  request.problem.bandwidth_bytes_per_s = written.bandwidth_bytes_per_s;
  for (const auto& [name, ports] : written.hosts) {
    RETURN_IF_ERROR(AddPorts(name, ports, hosts, request.problem));
  }
  for (size_t i = 0; i < written.routes.size(); ++i) {
    RETURN_IF_ERROR(AddRoute(written.routes[i], absl::StrCat("routes[", i, "]"),
                             hosts, request.problem));
  }
  request.problem.split = written.split;
  RETURN_IF_ERROR(Validate(request.problem));
  return request;
}

}  // namespace meshwright::reshard
