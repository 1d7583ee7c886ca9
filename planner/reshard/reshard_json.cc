#include "planner/reshard/reshard_json.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/json/parse_json.h"
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

// A string, or an integer.
absl::StatusOr<Name> ReadName(const json& value, const std::string& field) {
  if (value.is_string()) return Name{value.get<std::string>()};
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

const json* Optional(const json& object, const char* field) {
  const auto found = object.find(field);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

absl::StatusOr<std::vector<Name>> ReadNames(const json& list,
                                            const std::string& field) {
  RETURN_IF_ERROR(CheckArray(list, field));
  std::vector<Name> names;
  for (size_t i = 0; i < list.size(); ++i) {
    ASSIGN_OR_RETURN(Name name,
                     ReadName(list[i], absl::StrCat(field, "[", i, "]")));
    names.push_back(std::move(name));
  }
  return names;
}

absl::StatusOr<WrittenTask> ReadTask(const json& object,
                                     const std::string& field) {
  WrittenTask task;
  ASSIGN_OR_RETURN(const json* id, Member(object, field, "id"));
  ASSIGN_OR_RETURN(task.id, ReadName(*id, field + ".id"));
  ASSIGN_OR_RETURN(const json* size, Member(object, field, "size_bytes"));
  ASSIGN_OR_RETURN(task.size_bytes, ReadInteger(*size, field + ".size_bytes"));
  ASSIGN_OR_RETURN(const json* senders, Member(object, field, "sender_hosts"));
  ASSIGN_OR_RETURN(task.senders, ReadNames(*senders, field + ".sender_hosts"));
  ASSIGN_OR_RETURN(const json* receivers,
                   Member(object, field, "receiver_hosts"));
  ASSIGN_OR_RETURN(task.receivers,
                   ReadNames(*receivers, field + ".receiver_hosts"));
  return task;
}

absl::StatusOr<std::vector<WrittenTask>> ReadTasks(const json& list) {
  RETURN_IF_ERROR(CheckArray(list, "tasks"));
  std::vector<WrittenTask> tasks;
  for (size_t i = 0; i < list.size(); ++i) {
    ASSIGN_OR_RETURN(WrittenTask task,
                     ReadTask(list[i], absl::StrCat("tasks[", i, "]")));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

absl::StatusOr<std::vector<int64_t>> ReadSizes(const json& object,
                                               const std::string& member) {
  ASSIGN_OR_RETURN(const json* list,
                   Member(object, "resharding", member.c_str()));
  const std::string path = "resharding." + member;
  RETURN_IF_ERROR(CheckArray(*list, path));
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < list->size(); ++i) {
    ASSIGN_OR_RETURN(const int64_t size,
                     ReadInteger((*list)[i], absl::StrCat(path, "[", i, "]")));
    sizes.push_back(size);
  }
  return sizes;
}

absl::StatusOr<WrittenSide> ReadSide(const json& object,
                                     const std::string& prefix) {
  WrittenSide side;
  ASSIGN_OR_RETURN(side.mesh, ReadSizes(object, prefix + "_mesh"));
  const std::string member = prefix + "_spec";
  ASSIGN_OR_RETURN(const json* spec,
                   Member(object, "resharding", member.c_str()));
  if (!spec->is_string()) {
    return Bad(absl::StrCat("resharding.", member, " is ", spec->type_name(),
                            ", not a text such as \"RS01R\""));
  }
  side.spec = spec->get<std::string>();
  const std::string hosts = prefix + "_hosts";
  if (const json* list = Optional(object, hosts.c_str())) {
    ASSIGN_OR_RETURN(side.hosts, ReadNames(*list, "resharding." + hosts));
  }
  return side;
}

absl::StatusOr<WrittenTensor> ReadTensor(const json& object) {
  WrittenTensor tensor;
  ASSIGN_OR_RETURN(tensor.shape, ReadSizes(object, "shape"));
  ASSIGN_OR_RETURN(const json* bytes,
                   Member(object, "resharding", "elem_bytes"));
  ASSIGN_OR_RETURN(tensor.elem_bytes,
                   ReadInteger(*bytes, "resharding.elem_bytes"));
  ASSIGN_OR_RETURN(tensor.source, ReadSide(object, "src"));
  ASSIGN_OR_RETURN(tensor.target, ReadSide(object, "dst"));
  return tensor;
}

absl::StatusOr<WrittenPorts> ReadPorts(const json& object,
                                       const std::string& path) {
  if (!object.is_object()) {
    return Bad(
        absl::StrCat(path, " is ", object.type_name(), ", not an object"));
  }
  WrittenPorts ports;
  for (const auto& [field, value] : object.items()) {
    const std::string at = absl::StrCat(path, ".", field);
    if (field == "out_bytes_per_s") {
      ASSIGN_OR_RETURN(ports.out_bytes_per_s, ReadNumber(value, at));
    } else if (field == "in_bytes_per_s") {
      ASSIGN_OR_RETURN(ports.in_bytes_per_s, ReadNumber(value, at));
    } else if (field == "out_links") {
      ASSIGN_OR_RETURN(ports.out_links, ReadInteger(value, at));
    } else if (field == "in_links") {
      ASSIGN_OR_RETURN(ports.in_links, ReadInteger(value, at));
    } else {
      return Bad(absl::StrCat(at,
                              " is no field of a host; there are "
                              "out_bytes_per_s, in_bytes_per_s, out_links "
                              "and in_links"));
    }
  }
  return ports;
}

absl::Status ReadHosts(const json& object, Written& written) {
  if (!object.is_object()) {
    return Bad(absl::StrCat("hosts is ", object.type_name(),
                            ", not an object by host name"));
  }
  for (const auto& [name, fields] : object.items()) {
    ASSIGN_OR_RETURN(const WrittenPorts ports,
                     ReadPorts(fields, absl::StrCat("hosts.", name)));
    written.hosts.emplace_back(name, ports);
  }
  return {};
}

absl::Status ReadRoutes(const json& list, Written& written) {
  RETURN_IF_ERROR(CheckArray(list, "routes"));
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string path = absl::StrCat("routes[", i, "]");
    WrittenRoute route;
    for (const auto& [member, name] :
         {std::pair("from", &route.from), std::pair("to", &route.to)}) {
      ASSIGN_OR_RETURN(const json* value, Member(list[i], path, member));
      ASSIGN_OR_RETURN(*name,
                       ReadName(*value, absl::StrCat(path, ".", member)));
    }
    ASSIGN_OR_RETURN(const json* speed, Member(list[i], path, "bytes_per_s"));
    ASSIGN_OR_RETURN(route.bytes_per_s,
                     ReadNumber(*speed, path + ".bytes_per_s"));
    written.routes.push_back(std::move(route));
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

absl::StatusOr<Written> WrittenFromJson(std::string_view text) {
  ASSIGN_OR_RETURN(const json document, base::ParseJson(text));
  Written written;
  ASSIGN_OR_RETURN(const json* speed,
                   Member(document, "", "bandwidth_bytes_per_s"));
  ASSIGN_OR_RETURN(written.bandwidth_bytes_per_s,
                   ReadNumber(*speed, "bandwidth_bytes_per_s"));
  if (const json* list = Optional(document, "tasks")) {
    ASSIGN_OR_RETURN(written.tasks, ReadTasks(*list));
  }
  if (const json* object = Optional(document, "resharding")) {
    ASSIGN_OR_RETURN(written.resharding, ReadTensor(*object));
  }
  if (const json* object = Optional(document, "hosts")) {
    RETURN_IF_ERROR(ReadHosts(*object, written));
  }
  if (const json* list = Optional(document, "routes")) {
    RETURN_IF_ERROR(ReadRoutes(*list, written));
  }
  if (const json* value = Optional(document, "split")) {
    ASSIGN_OR_RETURN(written.split, problem::ReadBool(*value, "split"));
  }
  return written;
}

absl::StatusOr<Request> RequestFromJson(std::string_view text) {
  ASSIGN_OR_RETURN(const Written written, WrittenFromJson(text));
  return MakeRequest(written);
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
