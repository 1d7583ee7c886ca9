#include "worker/comm/executor/executor_json.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json/read_json.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "worker/comm/protocol/chunks.h"
#include "worker/comm/protocol/schedule.h"

namespace meshwright::worker::comm {
namespace {

using base::JsonFields;
using base::JsonValue;
using nlohmann::json;
using nlohmann::ordered_json;

// A host of the plan, by its id.
void ReadHostId(const JsonValue& value, const Plan& plan, int& host) {
  std::string id;
  base::ReadJsonValue(value, id);
  if (value.HasFailed()) return;
  const absl::StatusOr<int> found = FindHostNamed(plan, id);
  if (found.ok()) {
    host = *found;
  } else {
    value.FailUnlessOk(absl::InvalidArgumentError(
        absl::StrCat(value.Path(), ": ", found.status().message())));
  }
}

void ReadStrategy(const JsonValue& value, Strategy& strategy) {
  std::string name;
  base::ReadJsonValue(value, name);
  if (value.HasFailed()) return;
  const std::optional<Strategy> named = ParseStrategy(name);
  if (!named.has_value()) {
    return value.Fail(
        absl::StrCat("is \"", name,
                     "\"; it is broadcast, send_receive, local_all_gather or "
                     "global_all_gather"));
  }
  strategy = *named;
}

void ReadCarrier(const JsonValue& value, Carrier& carrier) {
  std::string name;
  base::ReadJsonValue(value, name);
  if (value.HasFailed()) return;
  if (name != "tcp" && name != "nccl") {
    return value.Fail(absl::StrCat("is \"", name, "\"; it is tcp or nccl"));
  }
  carrier = name == "nccl" ? Carrier::kNccl : Carrier::kTcp;
}

void DescribeTask(JsonFields& it, const Plan& plan, Task& task) {
  it.Required("id", task.id);
  it.Required("size_bytes", task.size_bytes);
  it.Required("sender", [&](const JsonValue& value) {
    ReadHostId(value, plan, task.sender);
  });
  it.Required("receivers", [&](const JsonValue& list) {
    list.ForEach([&](const JsonValue& value) {
      ReadHostId(value, plan, task.receivers.emplace_back());
    });
  });
  it.Optional("strategy", [&](const JsonValue& value) {
    ReadStrategy(value, task.strategy);
  });
  it.Optional("chunks", [&](const JsonValue& value) {
    base::ReadJsonValue(value, task.chunks);
    if (task.chunks == 0) value.Fail("is 0; leave it out to have it chosen");
  });
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
  json["strategy"] = NameStrategy(task.strategy);
  json["chunk_bytes"] = FindChunkBytes(plan, task);
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

static void Describe(JsonFields& it, Host& host) {
  it.Required("id", host.id);
  it.Required("address", host.address);
  host.node = host.id;
  it.Optional("node", host.node);
}

static void Describe(JsonFields& it, PlanFile& file) {
  Plan& plan = file.plan;
  it.Required("hosts", plan.hosts);
  it.Required("link", [&](const JsonValue& value) {
    base::ReadJsonObject(value, [&](JsonFields& fields) {
      fields.Required("alpha", plan.link.alpha);
      fields.Required("beta", plan.link.beta);
    });
  });
  it.Optional("transport", [&](const JsonValue& value) {
    ReadCarrier(value, plan.carrier);
  });
  it.Optional("deadline_seconds", plan.deadline_seconds);
  it.Optional("connect_seconds", plan.connect_seconds);
  it.Required("tasks", [&](const JsonValue& list) {
    list.ForEach([&](const JsonValue& value) {
      base::ReadJsonObject(value, [&](JsonFields& fields) {
        DescribeTask(fields, plan, plan.tasks.emplace_back());
      });
    });
  });
  it.Optional("host", file.host);
}

absl::StatusOr<PlanFile> PlanFromJson(std::string_view text) {
  PlanFile file;
  RETURN_IF_ERROR(base::ReadJson(text, file));
  RETURN_IF_ERROR(Validate(file.plan));
  return file;
}

std::string FormatReport(const Plan& plan, int self, const Outcome& outcome) {
  const Schedule schedule = ComputeSchedule(plan);
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
