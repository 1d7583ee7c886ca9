#include "planner/pipeline/pipeline_json.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "planner/pipeline/timeline.h"
#include "planner/pipeline/validate.h"
#include "planner/problem/json_fields.h"
#include "planner/problem/parse_json.h"

namespace meshwright::pipeline {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using problem::Member;

// The member, or null where it is absent or null.
const json* Optional(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

template <typename Element, typename Read>
absl::StatusOr<std::vector<Element>> ReadList(const json& list,
                                              const std::string& field,
                                              const Read& read) {
  RETURN_IF_ERROR(problem::CheckArray(list, field));
  if (list.size() > kMostStages) {
    return absl::InvalidArgumentError(absl::StrCat(field, " has ", list.size(),
                                                   " entries; at most ",
                                                   kMostStages, " are read"));
  }
  std::vector<Element> elements;
  for (size_t i = 0; i < list.size(); ++i) {
    ASSIGN_OR_RETURN(Element element,
                     read(list[i], absl::StrCat(field, "[", i, "]")));
    elements.push_back(std::move(element));
  }
  return elements;
}

absl::Status ReadTime(const json& object, const std::string& field,
                      const char* name, Picoseconds& time) {
  ASSIGN_OR_RETURN(const json* value, Member(object, field, name));
  ASSIGN_OR_RETURN(
      time, problem::ReadSeconds(*value, absl::StrCat(field, ".", name)));
  return {};
}

absl::Status ReadBytes(const json& object, const std::string& field,
                       const char* name, int64_t& bytes) {
  ASSIGN_OR_RETURN(const json* value, Member(object, field, name));
  ASSIGN_OR_RETURN(
      bytes, problem::ReadInteger(*value, absl::StrCat(field, ".", name)));
  return {};
}

absl::StatusOr<Stage> ReadStage(const json& object, const std::string& field) {
  Stage stage;
  RETURN_IF_ERROR(ReadTime(object, field, "forward_seconds", stage.forward));
  RETURN_IF_ERROR(
      ReadTime(object, field, "backward_input_seconds", stage.backward_input));
  RETURN_IF_ERROR(ReadTime(object, field, "backward_weight_seconds",
                           stage.backward_weight));
  if (Optional(object, "backward_seconds") != nullptr) {
    Picoseconds both{0};
    RETURN_IF_ERROR(ReadTime(object, field, "backward_seconds", both));
    stage.backward = both;
  }
  RETURN_IF_ERROR(
      ReadBytes(object, field, "activation_bytes", stage.activation_bytes));
  RETURN_IF_ERROR(
      ReadBytes(object, field, "persistent_bytes", stage.persistent_bytes));
  if (Optional(object, "delayed_bytes") != nullptr) {
    int64_t bytes = 0;
    RETURN_IF_ERROR(ReadBytes(object, field, "delayed_bytes", bytes));
    stage.delayed_bytes = bytes;
  }
  return stage;
}

absl::StatusOr<Transfer> ReadTransfer(const json& object,
                                      const std::string& field) {
  Transfer transfer;
  RETURN_IF_ERROR(ReadTime(object, field, "forward_seconds", transfer.forward));
  RETURN_IF_ERROR(
      ReadTime(object, field, "backward_seconds", transfer.backward));
  return transfer;
}

// Between `things`, of which a single one has none.
absl::StatusOr<std::vector<Transfer>> ReadTransfers(const json& document,
                                                    const char* name,
                                                    size_t things) {
  if (things <= 1 && Optional(document, name) == nullptr) {
    return std::vector<Transfer>();
  }
  ASSIGN_OR_RETURN(const json* list, Member(document, "", name));
  return ReadList<Transfer>(*list, name, ReadTransfer);
}

absl::StatusOr<MeshShape> ReadMesh(const json& object,
                                   const std::string& field) {
  MeshShape mesh;
  RETURN_IF_ERROR(ReadBytes(object, field, "devices", mesh.devices));
  if (const json* name = Optional(object, "name"); name != nullptr) {
    if (!name->is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ".name is not a string"));
    }
    mesh.name = name->get<std::string>();
  }
  return mesh;
}

using OnMeshes = std::vector<std::optional<Stage>>;

absl::StatusOr<OnMeshes> ReadSegment(const json& object,
                                     const std::string& field) {
  ASSIGN_OR_RETURN(const json* list, Member(object, field, "on"));
  return ReadList<std::optional<Stage>>(
      *list, field + ".on",
      [](const json& cost,
         const std::string& at) -> absl::StatusOr<std::optional<Stage>> {
        if (cost.is_null()) return std::nullopt;
        ASSIGN_OR_RETURN(const Stage stage, ReadStage(cost, at));
        return stage;
      });
}

absl::StatusOr<int> ReadMicroBatches(const json& document) {
  ASSIGN_OR_RETURN(const json* value, Member(document, "", "micro_batches"));
  ASSIGN_OR_RETURN(const int64_t count,
                   problem::ReadInteger(*value, "micro_batches"));
  RETURN_IF_ERROR(ValidateMicroBatches(count));
  return static_cast<int>(count);
}

absl::StatusOr<bool> ReadOverlap(const json& document) {
  ASSIGN_OR_RETURN(const json* value, Member(document, "", "overlap"));
  return problem::ReadBool(*value, "overlap");
}

absl::StatusOr<std::optional<Schedule>> ReadSchedule(const json& document) {
  const json* value = Optional(document, "schedule");
  if (value == nullptr) return std::nullopt;
  ASSIGN_OR_RETURN(
      const Schedule schedule,
      ScheduleNamed(
          value->is_string()
              ? value->get<std::string>()
              : value->dump(-1, ' ', true, json::error_handler_t::replace)));
  return schedule;
}

absl::StatusOr<PipelineProblem> ReadStages(const json& document,
                                           bool& one_limit) {
  PipelineProblem made;
  ASSIGN_OR_RETURN(const json* stages, Member(document, "", "stages"));
  ASSIGN_OR_RETURN(made.stages, ReadList<Stage>(*stages, "stages", ReadStage));
  ASSIGN_OR_RETURN(made.transfers,
                   ReadTransfers(document, "transfers", made.stages.size()));
  ASSIGN_OR_RETURN(made.micro_batches, ReadMicroBatches(document));
  ASSIGN_OR_RETURN(made.overlap, ReadOverlap(document));
  const json* limit = Optional(document, "memory_limit_bytes");
  one_limit = limit == nullptr || !limit->is_array();
  if (limit != nullptr && one_limit) {
    ASSIGN_OR_RETURN(const int64_t bytes,
                     problem::ReadInteger(*limit, "memory_limit_bytes"));
    made.memory_limit_bytes.assign(made.stages.size(), bytes);
  } else if (limit != nullptr) {
    ASSIGN_OR_RETURN(
        made.memory_limit_bytes,
        ReadList<int64_t>(*limit, "memory_limit_bytes", problem::ReadInteger));
    if (made.memory_limit_bytes.empty()) {
      return absl::InvalidArgumentError(
          "memory_limit_bytes is empty; leave it out, or give one number or "
          "one per stage");
    }
  }
  RETURN_IF_ERROR(Validate(made));
  return made;
}

absl::StatusOr<PartitionProblem> ReadPartition(const json& document) {
  if (document.contains("stages")) {
    return absl::InvalidArgumentError(
        "the document has stages and segments; give stages to be simulated, "
        "or segments to be cut into stages");
  }
  PartitionProblem made;
  ASSIGN_OR_RETURN(const json* meshes, Member(document, "", "meshes"));
  ASSIGN_OR_RETURN(made.meshes,
                   ReadList<MeshShape>(*meshes, "meshes", ReadMesh));
  ASSIGN_OR_RETURN(const json* segments, Member(document, "", "segments"));
  ASSIGN_OR_RETURN(made.segments,
                   ReadList<OnMeshes>(*segments, "segments", ReadSegment));
  ASSIGN_OR_RETURN(made.borders,
                   ReadTransfers(document, "borders", made.segments.size()));
  ASSIGN_OR_RETURN(const json* devices, Member(document, "", "devices"));
  ASSIGN_OR_RETURN(made.devices, problem::ReadInteger(*devices, "devices"));
  ASSIGN_OR_RETURN(made.micro_batches, ReadMicroBatches(document));
  ASSIGN_OR_RETURN(made.overlap, ReadOverlap(document));
  if (const json* limit = Optional(document, "memory_limit_bytes");
      limit != nullptr) {
    ASSIGN_OR_RETURN(made.memory_limit_bytes,
                     problem::ReadInteger(*limit, "memory_limit_bytes"));
  }
  RETURN_IF_ERROR(Validate(made));
  return made;
}

void KeepLargest(std::vector<int64_t>& bytes) {
  if (bytes.empty()) return;
  std::nth_element(bytes.begin(), bytes.begin(), bytes.end(), std::greater<>());
  bytes.erase(bytes.begin() + 1, bytes.end());
}

ordered_json OneOrList(const std::vector<int64_t>& bytes) {
  if (bytes.empty()) return nullptr;
  return bytes.size() == 1 ? ordered_json(bytes[0]) : ordered_json(bytes);
}

ordered_json ToJson(const Figures& figures) {
  ordered_json made;
  made["schedule"] = Name(figures.schedule);
  made["feasible"] = figures.fits;
  made["step_seconds"] = problem::ToSeconds(figures.step);
  made["bubble"] = figures.bubble;
  made["peak_bytes"] = figures.peak_bytes;
  return made;
}

ordered_json ToJson(const PartitionAnswer& partition,
                    const std::vector<MeshShape>& meshes) {
  ordered_json made;
  auto& stages = made["stages"] = ordered_json::array();
  for (const StageOnMesh& stage : *partition.partition) {
    ordered_json one;
    one["first_segment"] = stage.first;
    one["segments"] = stage.end - stage.first;
    one["mesh"] = stage.mesh;
    one["devices"] = meshes[stage.mesh].devices;
    stages.push_back(std::move(one));
  }
  made["step_seconds"] = problem::ToSeconds(partition.step);
  made["lower_bound_seconds"] = problem::ToSeconds(partition.lower_bound);
  made["optimal"] = partition.Optimal();
  return made;
}

}  // namespace

absl::StatusOr<PipelineFile> FileFromJson(std::string_view text) {
  ASSIGN_OR_RETURN(const json document, problem::ParseJson(text));
  PipelineFile file;
  if (document.is_object() && document.contains("segments")) {
    ASSIGN_OR_RETURN(file.problem, ReadPartition(document));
  } else {
    ASSIGN_OR_RETURN(file.problem, ReadStages(document, file.one_limit));
  }
  ASSIGN_OR_RETURN(file.schedule, ReadSchedule(document));
  return file;
}

absl::StatusOr<PipelineAnswer> Answer(const PipelineFile& file,
                                      const problem::Interrupt& interrupt) {
  PipelineAnswer answer;
  if (const auto* stages = std::get_if<PipelineProblem>(&file.problem)) {
    answer.problem = *stages;
    ASSIGN_OR_RETURN(answer.choice,
                     Choose(answer.problem, file.schedule, interrupt));
    answer.limit_bytes = stages->memory_limit_bytes;
    answer.least_bytes = answer.choice.least_bytes;
    if (file.one_limit) {
      KeepLargest(answer.limit_bytes);
      KeepLargest(answer.least_bytes);
    }
    return answer;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto& segments = std::get<PartitionProblem>(file.problem);
  ASSIGN_OR_RETURN(StagesChoice made,
                   ChooseStages(segments, file.schedule, interrupt));
  answer.meshes = segments.meshes;
  if (segments.memory_limit_bytes.has_value()) {
    answer.limit_bytes.assign(1, *segments.memory_limit_bytes);
  }
  if (made.least_bytes.has_value())
    answer.least_bytes.assign(1, *made.least_bytes);
  answer.partition.emplace();
  if (made.chosen.has_value()) {
    answer.partition = std::move(made.chosen->partition);
    answer.problem = std::move(made.chosen->stages);
    answer.choice = std::move(made.chosen->choice);
  }
  answer.choice.elapsed = std::chrono::steady_clock::now() - begin;
  return answer;
}

std::string AnswerToJson(const PipelineAnswer& answer) {
  ordered_json document;
  const auto& chosen = answer.choice.chosen;
  document["feasible"] = chosen.has_value();
  if (chosen.has_value()) {
    document["schedule"] = Name(chosen->figures.schedule);
    document["step_seconds"] = problem::ToSeconds(chosen->figures.step);
    document["lower_bound_seconds"] =
        problem::ToSeconds(answer.choice.lower_bound);
    document["bubble"] = chosen->figures.bubble;
    document["peak_bytes"] = chosen->figures.peak_bytes;
    auto& order = document["order"] = ordered_json::array();
    for (const auto& spans : chosen->timeline.stages) {
      ordered_json names = ordered_json::array();
      for (const Span& span : spans) names.push_back(Name(span.operation));
      order.push_back(std::move(names));
    }
  } else {
    for (const char* figure :
         {"schedule", "step_seconds", "lower_bound_seconds", "bubble",
          "peak_bytes", "order"}) {
      document[figure] = nullptr;
    }
    document["least_memory_bytes"] = OneOrList(answer.least_bytes);
    document["limit_bytes"] = OneOrList(answer.limit_bytes);
  }
  auto& schedules = document["schedules"] = ordered_json::array();
  for (const Figures& figures : answer.choice.tried) {
    schedules.push_back(ToJson(figures));
  }
  if (answer.partition.has_value()) {
    document["partition"] = answer.partition->partition.has_value()
                                ? ToJson(*answer.partition, answer.meshes)
                                : ordered_json();
  }
  document["solve_seconds"] = answer.choice.elapsed.count();
  return document.dump();
}

}  // namespace meshwright::pipeline
