#include "planner/reshard/reshard_json.h"

#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "planner/problem/json_fields.h"

namespace meshwright::reshard {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using problem::CheckArray;
using problem::Member;
using problem::ReadInteger;

absl::Status Bad(const std::string& sentence) {
  return absl::InvalidArgumentError(sentence);
}

struct Name {
  std::string text;
  bool number = false;
};

// A string, or an integer.
absl::StatusOr<Name> ReadName(const json& value, const std::string& field) {
  if (value.is_string()) {
    Name name{value.get<std::string>()};
    if (name.text.empty()) return Bad(absl::StrCat(field, " is empty"));
    for (const char c : name.text) {
      if (c >= 0 && c < ' ') {
        return Bad(absl::StrCat(field, " holds a control character"));
      }
    }
    return name;
  }
  if (!value.is_number_integer()) {
    return Bad(absl::StrCat(field, " is ", value.type_name(),
                            ", not a string or an integer"));
  }
  ASSIGN_OR_RETURN(const int64_t number, ReadInteger(value, field));
  return Name{absl::StrCat(number), true};
}

absl::StatusOr<double> ReadNumber(const json& value, const std::string& field) {
  if (value.is_number()) return value.get<double>();
  return Bad(absl::StrCat(field, " is ", value.type_name(), ", not a number"));
}

absl::StatusOr<int> ReadCount(const json& value, const std::string& field) {
  ASSIGN_OR_RETURN(const int64_t count, ReadInteger(value, field));
  if (count < 1 || count > kMostLinks) {
    return Bad(absl::StrCat(field, " is ", count, "; a port has 1 to ",
                            kMostLinks, " links"));
  }
  return static_cast<int>(count);
}

const json* Optional(const json& object, const char* field) {
  const auto found = object.find(field);
  return found == object.end() || found->is_null() ? nullptr : &*found;
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

  // Of a host that some task names.
  absl::StatusOr<int> Find(const Name& name, const std::string& field) const {
    const auto found = index_.find(name.text);
    if (found != index_.end()) return found->second;
    return Bad(absl::StrCat(field, " names \"", name.text,
                            "\", a host that sends and receives nothing"));
  }

 private:
  Request& request_;
  absl::flat_hash_map<std::string, int> index_;
};

absl::StatusOr<std::vector<int>> ReadHostList(const json& object,
                                              const std::string& field,
                                              const char* member,
                                              Hosts& hosts) {
  ASSIGN_OR_RETURN(const json* list, Member(object, field, member));
  const std::string path = absl::StrCat(field, ".", member);
  RETURN_IF_ERROR(CheckArray(*list, path));
  if (list->empty()) {
    return Bad(absl::StrCat(path, " is empty; name at least one host"));
  }
  std::vector<int> indices;
  for (size_t i = 0; i < list->size(); ++i) {
    ASSIGN_OR_RETURN(const Name name,
                     ReadName((*list)[i], absl::StrCat(path, "[", i, "]")));
    indices.push_back(hosts.Add(name));
  }
  return indices;
}

absl::Status ReadTasks(const json& list, Hosts& hosts, Request& request) {
  RETURN_IF_ERROR(CheckArray(list, "tasks"));
  if (list.size() > kMostTasks) {
    return Bad(absl::StrCat("tasks has ", list.size(), " entries and at most ",
                            kMostTasks, " are scheduled; join small slices"));
  }
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string field = absl::StrCat("tasks[", i, "]");
    UnitTask task;
    ASSIGN_OR_RETURN(const json* id, Member(list[i], field, "id"));
    ASSIGN_OR_RETURN(const Name name, ReadName(*id, field + ".id"));
    task.id = name.text;
    ASSIGN_OR_RETURN(const json* size, Member(list[i], field, "size_bytes"));
    ASSIGN_OR_RETURN(task.size_bytes,
                     ReadInteger(*size, field + ".size_bytes"));
    ASSIGN_OR_RETURN(task.senders,
                     ReadHostList(list[i], field, "sender_hosts", hosts));
    ASSIGN_OR_RETURN(task.receivers,
                     ReadHostList(list[i], field, "receiver_hosts", hosts));
    request.problem.tasks.push_back(std::move(task));
    request.number_ids.push_back(name.number);
  }
  return {};
}

absl::StatusOr<std::vector<int64_t>> ReadSizes(const json& object,
                                               const std::string& member) {
  ASSIGN_OR_RETURN(const json* list,
                   Member(object, "resharding", member.c_str()));
  const std::string path = "resharding." + member;
  RETURN_IF_ERROR(CheckArray(*list, path));
  if (list->size() > 64) {
    return Bad(absl::StrCat(path, " has ", list->size(),
                            " entries; at most 64 are read"));
  }
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < list->size(); ++i) {
    ASSIGN_OR_RETURN(const int64_t size,
                     ReadInteger((*list)[i], absl::StrCat(path, "[", i, "]")));
    sizes.push_back(size);
  }
  return sizes;
}

absl::StatusOr<Side> ReadSide(const json& object, const std::string& prefix) {
  Side side;
  ASSIGN_OR_RETURN(side.mesh, ReadSizes(object, prefix + "_mesh"));
  const std::string member = prefix + "_spec";
  ASSIGN_OR_RETURN(const json* spec,
                   Member(object, "resharding", member.c_str()));
  if (!spec->is_string()) {
    return Bad(absl::StrCat("resharding.", member, " is ", spec->type_name(),
                            ", not a text such as \"RS01R\""));
  }
  ASSIGN_OR_RETURN(side.spec,
                   ParseSpec(spec->get<std::string>(), "resharding." + member));
  const std::string hosts = prefix + "_hosts";
  if (const json* list = Optional(object, hosts.c_str())) {
    const std::string path = "resharding." + hosts;
    RETURN_IF_ERROR(CheckArray(*list, path));
    for (size_t i = 0; i < list->size(); ++i) {
      ASSIGN_OR_RETURN(const Name name,
                       ReadName((*list)[i], absl::StrCat(path, "[", i, "]")));
      side.hosts.push_back(name.text);
    }
    if (side.hosts.empty()) {
      return Bad(absl::StrCat(path,
                              " is empty; leave it out or give one name "
                              "per row or per device"));
    }
  }
  return side;
}

absl::Status ReadResharding(const json& object, double bandwidth,
                            Request& request) {
  Resharding resharding;
  ASSIGN_OR_RETURN(resharding.shape, ReadSizes(object, "shape"));
  ASSIGN_OR_RETURN(const json* bytes,
                   Member(object, "resharding", "elem_bytes"));
  ASSIGN_OR_RETURN(resharding.elem_bytes,
                   ReadInteger(*bytes, "resharding.elem_bytes"));
  ASSIGN_OR_RETURN(resharding.source, ReadSide(object, "src"));
  ASSIGN_OR_RETURN(resharding.target, ReadSide(object, "dst"));
  ASSIGN_OR_RETURN(request.units, Decompose(resharding));
  request.problem = ToProblem(*request.units, bandwidth);
  request.number_ids.assign(request.problem.tasks.size(), true);
  request.number_hosts.assign(request.problem.hosts.size(), false);
  return {};
}

absl::Status ReadHosts(const json& object, const Hosts& hosts,
                       ReshardProblem& problem) {
  if (!object.is_object()) {
    return Bad(absl::StrCat("hosts is ", object.type_name(),
                            ", not an object by host name"));
  }
  for (const auto& [name, fields] : object.items()) {
    ASSIGN_OR_RETURN(const int index, hosts.Find({name}, "hosts"));
    const std::string path = absl::StrCat("hosts.", name);
    if (!fields.is_object()) {
      return Bad(
          absl::StrCat(path, " is ", fields.type_name(), ", not an object"));
    }
    Host& host = problem.hosts[index];
    for (const auto& [field, value] : fields.items()) {
      const std::string at = absl::StrCat(path, ".", field);
      if (field == "out_bytes_per_s") {
        ASSIGN_OR_RETURN(host.out_bytes_per_s, ReadNumber(value, at));
      } else if (field == "in_bytes_per_s") {
        ASSIGN_OR_RETURN(host.in_bytes_per_s, ReadNumber(value, at));
      } else if (field == "out_links") {
        ASSIGN_OR_RETURN(host.out_links, ReadCount(value, at));
      } else if (field == "in_links") {
        ASSIGN_OR_RETURN(host.in_links, ReadCount(value, at));
      } else {
        return Bad(absl::StrCat(at,
                                " is no field of a host; there are "
                                "out_bytes_per_s, in_bytes_per_s, out_links "
                                "and in_links"));
      }
    }
  }
  return {};
}

absl::Status ReadRoutes(const json& list, const Hosts& hosts,
                        ReshardProblem& problem) {
  RETURN_IF_ERROR(CheckArray(list, "routes"));
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string path = absl::StrCat("routes[", i, "]");
    Route route;
    for (const auto& [member, index] :
         {std::pair("from", &route.from), std::pair("to", &route.to)}) {
      ASSIGN_OR_RETURN(const json* value, Member(list[i], path, member));
      const std::string at = absl::StrCat(path, ".", member);
      ASSIGN_OR_RETURN(const Name name, ReadName(*value, at));
      ASSIGN_OR_RETURN(*index, hosts.Find(name, at));
    }
    ASSIGN_OR_RETURN(const json* speed, Member(list[i], path, "bytes_per_s"));
    ASSIGN_OR_RETURN(route.bytes_per_s,
                     ReadNumber(*speed, path + ".bytes_per_s"));
    problem.routes.push_back(route);
  }
  return {};
}

ordered_json NameToJson(const std::string& name, bool number) {
  return number ? ordered_json::parse(name) : ordered_json(name);
}

ordered_json HostToJson(const Request& request, int host) {
  return NameToJson(request.problem.hosts[host].name,
                    request.number_hosts[host]);
}

ordered_json IdToJson(const Request& request, int task) {
  return NameToJson(request.problem.tasks[task].id, request.number_ids[task]);
}

ordered_json UnitsToJson(const Request& request) {
  ordered_json list = ordered_json::array();
  for (size_t i = 0; i < request.units->units.size(); ++i) {
    const Unit& unit = request.units->units[i];
    ordered_json task;
    task["id"] = i;
    task["begin"] = unit.begin;
    task["end"] = unit.end;
    task["size_bytes"] = unit.size_bytes;
    for (const auto& [field, hosts] :
         {std::pair("sender_hosts", &unit.senders),
          std::pair("receiver_hosts", &unit.receivers)}) {
      task[field] = ordered_json::array();
      for (const int host : *hosts) {
        task[field].push_back(HostToJson(request, host));
      }
    }
    task["src_devices"] = request.units->source_tiles[unit.source_tile];
    task["dst_devices"] = request.units->target_tiles[unit.target_tile];
    list.push_back(std::move(task));
  }
  return list;
}

}  // namespace

absl::StatusOr<Request> RequestFromJson(std::string_view text) {
  ASSIGN_OR_RETURN(const json document, problem::ParseJson(text));
  ASSIGN_OR_RETURN(const json* speed,
                   Member(document, "", "bandwidth_bytes_per_s"));
  ASSIGN_OR_RETURN(const double bandwidth,
                   ReadNumber(*speed, "bandwidth_bytes_per_s"));
  const json* const tasks = Optional(document, "tasks");
  const json* const resharding = Optional(document, "resharding");
  if ((tasks == nullptr) == (resharding == nullptr)) {
    return Bad(tasks == nullptr
                   ? "tasks is missing; give tasks, or resharding for a tensor "
                     "between two meshes"
                   : "tasks and resharding are both there; give one of them");
  }
  Request request;
  if (resharding != nullptr) {
    RETURN_IF_ERROR(ReadResharding(*resharding, bandwidth, request));
  }
  Hosts hosts(request);
  if (tasks != nullptr) RETURN_IF_ERROR(ReadTasks(*tasks, hosts, request));
  request.problem.bandwidth_bytes_per_s = bandwidth;
  if (const json* object = Optional(document, "hosts")) {
    RETURN_IF_ERROR(ReadHosts(*object, hosts, request.problem));
  }
  if (const json* list = Optional(document, "routes")) {
    RETURN_IF_ERROR(ReadRoutes(*list, hosts, request.problem));
  }
  if (const json* value = Optional(document, "split")) {
    ASSIGN_OR_RETURN(request.problem.split, problem::ReadBool(*value, "split"));
  }
  RETURN_IF_ERROR(Validate(request.problem));
  return request;
}

std::string AnswerToJson(const Request& request, const Answer& answer) {
  ordered_json document;
  document["makespan_s"] = answer.makespan_seconds;
  document["lower_bound_s"] = answer.lower_bound_seconds;
  document["optimal"] = answer.optimal;
  document["solver"] = answer.solver;
  document["solve_seconds"] = answer.elapsed.count();
  document["order"] = nullptr;
  document["senders"] = nullptr;
  if (!answer.split) {
    document["order"] = ordered_json::array();
    // Appended as they are: ids differ, and looking each up would be quadratic.
    ordered_json::object_t senders;
    for (const Send& send : answer.schedule) {
      document["order"].push_back(IdToJson(request, send.task));
      senders.emplace_back(request.problem.tasks[send.task].id,
                           HostToJson(request, send.sender));
    }
    document["senders"] = std::move(senders);
  }
  if (request.problem.split) {
    auto& parts = document["parts"] = ordered_json::array();
    for (const Send& send : answer.schedule) {
      parts.push_back({{"id", IdToJson(request, send.task)},
                       {"sender", HostToJson(request, send.sender)},
                       {"size_bytes", send.bytes}});
    }
  }
  if (request.units.has_value()) document["tasks"] = UnitsToJson(request);
  // Names came through a JSON reader, so they are UTF-8.
  return document.dump();
}

absl::StatusOr<std::string> ReshardJson(std::string_view json,
                                        const Options& options) {
  ASSIGN_OR_RETURN(const Request request, RequestFromJson(json));
  ASSIGN_OR_RETURN(const Answer answer, Solve(request.problem, options));
  return AnswerToJson(request, answer);
}

}  // namespace meshwright::reshard
