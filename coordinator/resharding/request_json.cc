#include "coordinator/resharding/request_json.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/json/read_json.h"
#include "base/status_macros.h"
#include "coordinator/resharding/answer_message.h"
#include "nlohmann/json.hpp"

namespace meshwright::resharding {
namespace {

using base::JsonFields;
using base::JsonValue;
using google::protobuf::RepeatedField;
using google::protobuf::RepeatedPtrField;
using nlohmann::ordered_json;
using Names = absl::flat_hash_set<std::string>;

// A string, or an integer.
void ParseName(const JsonValue& value, Names& integers, std::string& name) {
  if (value.IsText()) return ReadJsonValue(value, name);
  if (!value.IsInteger()) return value.FailAsNot("a string or an integer");
  int64_t number = 0;
  ReadJsonValue(value, number);
  name = *integers.insert(absl::StrCat(number)).first;
}

auto NamesInto(RepeatedPtrField<std::string>* names, Names& integers) {
  return [names, &integers](const JsonValue& list) {
    list.ForEach([&](const JsonValue& value) {
      ParseName(value, integers, *names->Add());
    });
  };
}

void ParseTask(const JsonValue& value, JsonRequest& request) {
  v1::ReshardingTask& task = *request.message.add_tasks();
  ReadJsonObject(value, [&](JsonFields& it) {
    it.Required("id", [&](const JsonValue& id) {
      ParseName(id, request.integer_ids, *task.mutable_id());
    });
    int64_t size_bytes = 0;
    it.Required("size_bytes", size_bytes);
    task.set_size_bytes(size_bytes);
    it.Required("sender_hosts",
                NamesInto(task.mutable_sender_hosts(), request.integer_hosts));
    it.Required("receiver_hosts", NamesInto(task.mutable_receiver_hosts(),
                                            request.integer_hosts));
  });
}

void ParseSide(JsonFields& it, const std::string& prefix,
               RepeatedField<int64_t>* mesh, std::string* spec,
               RepeatedPtrField<std::string>* hosts) {
  std::vector<int64_t> sizes;
  it.Required(prefix + "_mesh", sizes);
  mesh->Add(sizes.begin(), sizes.end());
  it.Required(prefix + "_spec", [&](const JsonValue& value) {
    if (!value.IsText()) return value.FailAsNot("a text such as \"RS01R\"");
    ReadJsonValue(value, *spec);
  });
  it.Optional(prefix + "_hosts", [&](const JsonValue& list) {
    Names integers;  // answered as text
    NamesInto(hosts, integers)(list);
    if (hosts->empty()) {
      list.Fail(
          "is empty; leave it out or give one name per row or per device");
    }
  });
}

void ParseTensor(const JsonValue& value, v1::ReshardingTensor& tensor) {
  ReadJsonObject(value, [&](JsonFields& it) {
    std::vector<int64_t> shape;
    it.Required("shape", shape);
    tensor.mutable_shape()->Add(shape.begin(), shape.end());
    int64_t elem_bytes = 0;
    it.Required("elem_bytes", elem_bytes);
    tensor.set_elem_bytes(elem_bytes);
    ParseSide(it, "src", tensor.mutable_src_mesh(), tensor.mutable_src_spec(),
              tensor.mutable_src_hosts());
    ParseSide(it, "dst", tensor.mutable_dst_mesh(), tensor.mutable_dst_spec(),
              tensor.mutable_dst_hosts());
  });
}

void ParsePorts(const JsonValue& value, v1::ReshardingPorts& ports) {
  ReadJsonObject(value, [&](JsonFields& it) {
    std::optional<double> out_speed, in_speed;
    std::optional<int64_t> out_links, in_links;
    it.Optional("out_bytes_per_s", out_speed);
    it.Optional("in_bytes_per_s", in_speed);
    it.Optional("out_links", out_links);
    it.Optional("in_links", in_links);
    it.RefuseOthers();
    if (out_speed.has_value()) ports.set_out_bytes_per_s(*out_speed);
    if (in_speed.has_value()) ports.set_in_bytes_per_s(*in_speed);
    if (out_links.has_value()) ports.set_out_links(*out_links);
    if (in_links.has_value()) ports.set_in_links(*in_links);
  });
}

void ParseRoute(const JsonValue& value, v1::ReshardingRoute& route) {
  ReadJsonObject(value, [&](JsonFields& it) {
    Names integers;
    it.Required("from", [&](const JsonValue& name) {
      ParseName(name, integers, *route.mutable_from());
    });
    it.Required("to", [&](const JsonValue& name) {
      ParseName(name, integers, *route.mutable_to());
    });
    double bytes_per_s = 0;
    it.Required("bytes_per_s", bytes_per_s);
    route.set_bytes_per_s(bytes_per_s);
  });
}

void ParseDocument(JsonFields& it, JsonRequest& request) {
  v1::ReshardingRequest& message = request.message;
  double bandwidth = 0;
  it.Required("bandwidth_bytes_per_s", bandwidth);
  message.set_bandwidth_bytes_per_s(bandwidth);
  it.Optional("tasks", [&](const JsonValue& list) {
    list.ForEach([&](const JsonValue& task) { ParseTask(task, request); });
  });
  it.Optional("resharding", [&](const JsonValue& tensor) {
    ParseTensor(tensor, *message.mutable_resharding());
  });
  it.Optional("hosts", [&](const JsonValue& hosts) {
    hosts.ForEachMember([&](const std::string& name, const JsonValue& ports) {
      ParsePorts(ports, (*message.mutable_hosts())[name]);
    });
  });
  it.Optional("routes", [&](const JsonValue& list) {
    list.ForEach([&](const JsonValue& route) {
      ParseRoute(route, *message.add_routes());
    });
  });
  bool split = false;
  it.Optional("split", split);
  message.set_split(split);
}

ordered_json NameToJson(const std::string& name, const Names& integers) {
  return integers.contains(name) ? ordered_json::parse(name)
                                 : ordered_json(name);
}

template <typename List>
ordered_json ListToJson(const List& list) {
  return std::vector(list.begin(), list.end());
}

}  // namespace

absl::StatusOr<JsonRequest> RequestFromJson(std::string_view json) {
  JsonRequest request;
  bool lists_tasks = false;
  RETURN_IF_ERROR(base::ReadJson(json, [&](const JsonValue& document) {
    ReadJsonObject(document, [&](JsonFields& it) {
      ParseDocument(it, request);
      lists_tasks = it.Has("tasks");
    });
  }));
  ASSIGN_OR_RETURN(request.request, ReadRequest(request.message, lists_tasks));
  return request;
}

std::string AnswerToJson(const JsonRequest& request,
                         const v1::ReshardingAnswer& answer) {
  const bool tensor = request.request.units.has_value();
  const auto id_to_json = [&](const std::string& id) {
    return tensor ? ordered_json::parse(id)
                  : NameToJson(id, request.integer_ids);
  };
  const auto host_to_json = [&](const std::string& host) {
    return NameToJson(host, request.integer_hosts);
  };
  ordered_json document;
  document["makespan_s"] = answer.makespan_s();
  document["lower_bound_s"] = answer.lower_bound_s();
  document["optimal"] = answer.optimal();
  document["solver"] = answer.solver();
  document["solve_seconds"] = answer.solve_seconds();
  document["order"] = nullptr;
  document["senders"] = nullptr;
  if (!answer.order().empty() || answer.parts().empty()) {
    document["order"] = ordered_json::array();
    // Appended as they are: ids differ, and looking each up would be quadratic.
    ordered_json::object_t senders;
    for (const std::string& id : answer.order()) {
      document["order"].push_back(id_to_json(id));
      senders.emplace_back(id, host_to_json(answer.senders().at(id)));
    }
    document["senders"] = std::move(senders);
  }
  if (request.request.problem.split) {
    auto& parts = document["parts"] = ordered_json::array();
    for (const v1::ReshardingPart& part : answer.parts()) {
      parts.push_back({{"id", id_to_json(part.id())},
                       {"sender", host_to_json(part.sender())},
                       {"size_bytes", part.size_bytes()}});
    }
  }
  if (tensor) {
    auto& tasks = document["tasks"] = ordered_json::array();
    for (const v1::ReshardingUnit& unit : answer.tasks()) {
      tasks.push_back({{"id", id_to_json(unit.id())},
                       {"begin", ListToJson(unit.begin())},
                       {"end", ListToJson(unit.end())},
                       {"size_bytes", unit.size_bytes()},
                       {"sender_hosts", ListToJson(unit.sender_hosts())},
                       {"receiver_hosts", ListToJson(unit.receiver_hosts())},
                       {"src_devices", ListToJson(unit.src_devices())},
                       {"dst_devices", ListToJson(unit.dst_devices())}});
    }
  }
  // Names came through a JSON reader, so they are UTF-8.
  return document.dump();
}

absl::StatusOr<std::string> AnswerReshardJson(std::string_view json,
                                              const reshard::Options& options) {
  ASSIGN_OR_RETURN(const JsonRequest request, RequestFromJson(json));
  ASSIGN_OR_RETURN(const reshard::Answer answer,
                   Solve(request.request.problem, options));
  return AnswerToJson(request, AnswerToMessage(request.request, answer));
}

}  // namespace meshwright::resharding
