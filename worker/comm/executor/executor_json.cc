#include "worker/comm/executor/executor_json.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "worker/comm/protocol/chunks.h"
#include "worker/comm/protocol/schedule.h"

namespace meshwright::worker::comm {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// `where` is "" or "tasks[2]."; object[field], if it is there and not null.
const json* Find(const json& object, const char* field) {
  const auto found = object.find(field);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

absl::StatusOr<const json*> Need(const json& object, const std::string& where,
                                 const char* field) {
  const json* const value = Find(object, field);
  if (value == nullptr) return Invalid(where, field, " is missing");
  return value;
}

absl::StatusOr<std::string> Text(const json& value, const std::string& field) {
  if (!value.is_string()) {
    return Invalid(field, " is ", value.type_name(), ", not a string");
  }
  return value.get<std::string>();
}

absl::StatusOr<std::string> NeedText(const json& object,
                                     const std::string& where,
                                     const char* field) {
  ASSIGN_OR_RETURN(const json* value, Need(object, where, field));
  return Text(*value, where + field);
}

absl::StatusOr<double> Number(const json& value, const std::string& field) {
  if (!value.is_number()) {
    return Invalid(field, " is ", value.type_name(), ", not a number");
  }
  return value.get<double>();
}

absl::StatusOr<int64_t> Count(const json& value, const std::string& field) {
  const bool fits =
      value.is_number_integer() &&
      (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX);
  if (!fits) {
    return Invalid(field, " is ",
                   value.dump(-1, ' ', true, json::error_handler_t::replace),
                   ", not a whole number of 64 bits");
  }
  return value.get<int64_t>();
}

absl::StatusOr<const json*> NeedList(const json& object,
                                     const std::string& where,
                                     const char* field) {
  ASSIGN_OR_RETURN(const json* list, Need(object, where, field));
  if (!list->is_array()) return Invalid(where, field, " is not a list");
  return list;
}

absl::StatusOr<Host> ReadHost(const json& object, const std::string& where) {
  if (!object.is_object()) return Invalid(where, " is not an object");
  Host host;
  ASSIGN_OR_RETURN(host.id, NeedText(object, where + ".", "id"));
  ASSIGN_OR_RETURN(host.address, NeedText(object, where + ".", "address"));
  host.node = host.id;
  if (const json* const node = Find(object, "node")) {
    ASSIGN_OR_RETURN(host.node, Text(*node, where + ".node"));
  }
  return host;
}

absl::StatusOr<int> ReadHostId(const json& value, const Plan& plan,
                               const std::string& field) {
  ASSIGN_OR_RETURN(const std::string id, Text(value, field));
  const absl::StatusOr<int> host = HostNamed(plan, id);
  if (!host.ok()) {
    return Invalid(field, ": ", std::string(host.status().message()));
  }
  return host;
}

absl::StatusOr<Task> ReadTask(const json& object, const Plan& plan,
                              const std::string& where) {
  if (!object.is_object()) return Invalid(where, " is not an object");
  const std::string dot = where + ".";
  Task task;
  ASSIGN_OR_RETURN(task.id, NeedText(object, dot, "id"));
  ASSIGN_OR_RETURN(const json* size, Need(object, dot, "size_bytes"));
  ASSIGN_OR_RETURN(task.size_bytes, Count(*size, dot + "size_bytes"));
  ASSIGN_OR_RETURN(const json* sender, Need(object, dot, "sender"));
  ASSIGN_OR_RETURN(task.sender, ReadHostId(*sender, plan, dot + "sender"));
  ASSIGN_OR_RETURN(const json* receivers, NeedList(object, dot, "receivers"));
  for (size_t i = 0; i < receivers->size(); ++i) {
    ASSIGN_OR_RETURN(const int receiver,
                     ReadHostId((*receivers)[i], plan,
                                absl::StrCat(dot, "receivers[", i, "]")));
    task.receivers.push_back(receiver);
  }
  if (const json* const strategy = Find(object, "strategy")) {
    ASSIGN_OR_RETURN(const std::string name, Text(*strategy, dot + "strategy"));
    const std::optional<Strategy> named = StrategyNamed(name);
    if (!named.has_value()) {
      return Invalid(dot, "strategy is \"", name,
                     "\"; it is broadcast, send_receive, local_all_gather or "
                     "global_all_gather");
    }
    task.strategy = *named;
  }
  if (const json* const chunks = Find(object, "chunks")) {
    ASSIGN_OR_RETURN(task.chunks, Count(*chunks, dot + "chunks"));
    if (task.chunks == 0) {
      return Invalid(dot, "chunks is 0; leave it out to have it chosen");
    }
  }
  return task;
}

absl::Status ReadLink(const json& document, Plan& plan) {
  ASSIGN_OR_RETURN(const json* link, Need(document, "", "link"));
  if (!link->is_object()) return Invalid("link is not an object");
  ASSIGN_OR_RETURN(const json* alpha, Need(*link, "link.", "alpha"));
  ASSIGN_OR_RETURN(plan.link.alpha_seconds, Number(*alpha, "link.alpha"));
  ASSIGN_OR_RETURN(const json* beta, Need(*link, "link.", "beta"));
  ASSIGN_OR_RETURN(plan.link.beta_seconds_per_byte, Number(*beta, "link.beta"));
  return {};
}

absl::Status ReadTimes(const json& document, Plan& plan) {
  for (const auto& [field, target] :
       {std::pair("deadline_seconds", &plan.deadline_seconds),
        std::pair("connect_seconds", &plan.connect_seconds)}) {
    const json* const value = Find(document, field);
    if (value == nullptr) continue;
    ASSIGN_OR_RETURN(*target, Number(*value, field));
  }
  return {};
}

absl::Status ReadCarrier(const json& document, Plan& plan) {
  const json* const value = Find(document, "transport");
  if (value == nullptr) return {};
  ASSIGN_OR_RETURN(const std::string name, Text(*value, "transport"));
  if (name != "tcp" && name != "nccl") {
    return Invalid("transport is \"", name, "\"; it is tcp or nccl");
  }
  plan.carrier = name == "nccl" ? Carrier::kNccl : Carrier::kTcp;
  return {};
}

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMatch:
      return "match";
    case Verdict::kMismatch:
      return "mismatch";
    case Verdict::kUnverified:
      break;
  }
  return "unverified";
}

template <typename Value>
ordered_json OrNull(const std::optional<Value>& value) {
  return value.has_value() ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json ToJson(const Plan& plan, const TaskReport& report,
                    const Schedule::Slot& slot) {
  const Task& task = plan.tasks[report.task];
  ordered_json json;
  json["id"] = task.id;
  json["role"] = report.sender ? "sender" : "receiver";
  json["strategy"] = StrategyName(task.strategy);
  json["chunk_bytes"] = ChunkBytes(plan, task);
  json["scheduled_start_s"] = slot.start_seconds;
  json["scheduled_end_s"] = slot.end_seconds;
  json["start_s"] = OrNull(report.start_seconds);
  json["end_s"] = OrNull(report.end_seconds);
  json["bytes_sent"] = report.bytes_sent;
  json["bytes_received"] = report.bytes_received;
  json["checksum"] = nullptr;
  if (report.checksum.has_value()) {
    json["checksum"] =
        absl::StrCat("xxh3:", absl::Hex(*report.checksum, absl::kZeroPad16));
  }
  json["verdict"] = VerdictName(report.verdict);
  return json;
}

}  // namespace

absl::StatusOr<PlanFile> PlanFromJson(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) return Invalid("the plan is not JSON");
  if (!document.is_object()) return Invalid("the plan is not an object");
  PlanFile file;
  Plan& plan = file.plan;
  ASSIGN_OR_RETURN(const json* hosts, NeedList(document, "", "hosts"));
  for (size_t i = 0; i < hosts->size(); ++i) {
    ASSIGN_OR_RETURN(Host host,
                     ReadHost((*hosts)[i], absl::StrCat("hosts[", i, "]")));
    plan.hosts.push_back(std::move(host));
  }
  RETURN_IF_ERROR(ReadLink(document, plan));
  RETURN_IF_ERROR(ReadCarrier(document, plan));
  RETURN_IF_ERROR(ReadTimes(document, plan));
  ASSIGN_OR_RETURN(const json* tasks, NeedList(document, "", "tasks"));
  for (size_t i = 0; i < tasks->size(); ++i) {
    ASSIGN_OR_RETURN(
        Task task, ReadTask((*tasks)[i], plan, absl::StrCat("tasks[", i, "]")));
    plan.tasks.push_back(std::move(task));
  }
  if (const json* const host = Find(document, "host")) {
    ASSIGN_OR_RETURN(file.host, Text(*host, "host"));
  }
  RETURN_IF_ERROR(Validate(plan));
  return file;
}

std::string ReportJson(const Plan& plan, int self, const Outcome& outcome) {
  const Schedule schedule = ScheduleOf(plan);
  ordered_json answer;
  answer["host"] = plan.hosts[self].id;
  answer["ok"] = outcome.status.ok();
  answer["error"] = nullptr;
  if (!outcome.status.ok()) {
    answer["error"] = std::string(outcome.status.message());
  }
  answer["makespan_s"] = OrNull(outcome.makespan_seconds);
  answer["scheduled_makespan_s"] = schedule.makespan_seconds;
  answer["tasks"] = ordered_json::array();
  for (const TaskReport& report : outcome.tasks) {
    answer["tasks"].push_back(
        ToJson(plan, report, schedule.slots[report.task]));
  }
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace meshwright::worker::comm
