#include "planner/pipeline/pipeline_json.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json/read_json.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "planner/pipeline/timeline.h"
#include "planner/pipeline/validate.h"
#include "planner/problem/duration_json.h"

namespace meshwright::pipeline {
namespace {

using nlohmann::ordered_json;

// Transfers between `things`; a single one has none.
template <typename Thing>
void DescribeBetween(base::JsonFields& it, const char* name,
                     const std::vector<Thing>& things,
                     std::vector<Transfer>& transfers) {
  if (things.size() <= 1) {
    it.Optional(name, transfers);
  } else {
    it.Required(name, transfers);
  }
}

void DescribeMicroBatches(base::JsonFields& it, int& micro_batches) {
  it.Required("micro_batches", [&](const base::JsonValue& value) {
    int64_t count = 0;
    base::ReadJsonValue(value, count);
    if (value.HasFailed()) return;
    value.FailUnlessOk(ValidateMicroBatches(count));
    micro_batches = static_cast<int>(count);
  });
}

void ReadLimits(const base::JsonValue& value, size_t stages,
                std::vector<int64_t>& limits) {
  if (!value.IsList()) {
    int64_t bytes = 0;
    base::ReadJsonValue(value, bytes);
    limits.assign(stages, bytes);
    return;
  }
  base::ReadJsonValue(value, limits);
  if (!value.HasFailed() && limits.empty()) {
    value.Fail("is empty; leave it out, or give one number or one per stage");
  }
}

void DescribeStages(base::JsonFields& it, PipelineProblem& problem,
                    bool& one_limit) {
  it.Required("stages", problem.stages);
  DescribeBetween(it, "transfers", problem.stages, problem.transfers);
  DescribeMicroBatches(it, problem.micro_batches);
  it.Required("overlap", problem.overlap);
  it.Optional("memory_limit_bytes", [&](const base::JsonValue& value) {
    one_limit = !value.IsList();
    ReadLimits(value, problem.stages.size(), problem.memory_limit_bytes);
  });
  if (!it.object().HasFailed()) it.object().FailUnlessOk(Validate(problem));
}

void DescribePartition(base::JsonFields& it, PartitionProblem& problem) {
  it.Required("meshes", problem.meshes);
  it.Required("segments", [&](const base::JsonValue& list) {
    list.ForEach([&](const base::JsonValue& segment) {
      auto& costs = problem.segments.emplace_back();
      base::ReadJsonObject(
          segment, [&](base::JsonFields& of) { of.Required("on", costs); });
    });
  });
  DescribeBetween(it, "boundaries", problem.segments, problem.boundaries);
  it.Required("devices", problem.devices);
  DescribeMicroBatches(it, problem.micro_batches);
  it.Required("overlap", problem.overlap);
  it.Optional("memory_limit_bytes", problem.memory_limit_bytes);
  if (!it.object().HasFailed()) it.object().FailUnlessOk(Validate(problem));
}

void ReadSchedule(const base::JsonValue& value,
                  std::optional<Schedule>& schedule) {
  std::string name = value.Dump();
  if (value.IsText()) base::ReadJsonValue(value, name);
  const auto named = ParseSchedule(name);
  value.FailUnlessOk(named.status());
  if (named.ok()) schedule = *named;
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

void Describe(base::JsonFields& it, Stage& stage) {
  it.Required("forward_seconds", stage.forward);
  it.Required("backward_input_seconds", stage.backward_input);
  it.Required("backward_weight_seconds", stage.backward_weight);
  it.Optional("backward_seconds", stage.backward);
  it.Required("activation_bytes", stage.activation_bytes);
  it.Required("persistent_bytes", stage.persistent_bytes);
  it.Optional("delayed_bytes", stage.delayed_bytes);
}

void Describe(base::JsonFields& it, Transfer& transfer) {
  it.Required("forward_seconds", transfer.forward);
  it.Required("backward_seconds", transfer.backward);
}

void Describe(base::JsonFields& it, MeshShape& mesh) {
  it.Required("devices", mesh.devices);
  it.Optional("name", mesh.name);
}

void Describe(base::JsonFields& it, PipelineFile& file) {
  const bool has_stages = it.Has("stages");
  if (!it.Has("segments")) {
    DescribeStages(it, file.problem.emplace<PipelineProblem>(), file.one_limit);
  } else if (has_stages) {
    it.object().FailUnlessOk(absl::InvalidArgumentError(
        "the document has stages and segments; give stages to be simulated, "
        "or segments to be cut into stages"));
  } else {
    DescribePartition(it, file.problem.emplace<PartitionProblem>());
  }
  it.Optional("schedule", [&](const base::JsonValue& value) {
    ReadSchedule(value, file.schedule);
  });
}

absl::StatusOr<PipelineFile> ParseFile(std::string_view text) {
  PipelineFile file;
  RETURN_IF_ERROR(base::ReadJson(text, file));
  return file;
}

absl::StatusOr<PipelineAnswer> Answer(const PipelineFile& file,
                                      const base::Deadline& deadline) {
  PipelineAnswer answer;
  if (const auto* stages = std::get_if<PipelineProblem>(&file.problem)) {
    answer.problem = *stages;
    ASSIGN_OR_RETURN(answer.choice,
                     Choose(answer.problem, file.schedule, deadline));
    answer.limit_bytes = stages->memory_limit_bytes;
    answer.min_bytes = answer.choice.min_bytes;
    if (file.one_limit) {
      KeepLargest(answer.limit_bytes);
      KeepLargest(answer.min_bytes);
    }
    return answer;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto& segments = std::get<PartitionProblem>(file.problem);
  ASSIGN_OR_RETURN(StagesChoice made,
                   ChooseStages(segments, file.schedule, deadline));
  answer.meshes = segments.meshes;
  if (segments.memory_limit_bytes.has_value()) {
    answer.limit_bytes.assign(1, *segments.memory_limit_bytes);
  }
  if (made.min_bytes.has_value()) answer.min_bytes.assign(1, *made.min_bytes);
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
    document["least_memory_bytes"] = OneOrList(answer.min_bytes);
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
