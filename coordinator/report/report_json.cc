#include "coordinator/report/report_json.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_replace.h"
#include "base/enum_words.h"
#include "profiledb/store/row_time.h"

namespace meshwright::report {
namespace {

using Json = nlohmann::ordered_json;

// What an optional field holds, or null.
#define VALUE_OR_NULL(message, field) \
  ((message).has_##field() ? Json((message).field()) : Json())

template <typename Items, typename Describe>
Json ToArray(const Items& items, Describe describe) {
  Json array = Json::array();
  for (const auto& it : items) array.push_back(describe(it));
  return array;
}

Json DescribeRun(const Run& run) {
  return {{"first", run.first},
          {"count", run.count},
          {"type", run.type},
          {"describe", run.describe},
          {"estimated", run.estimated},
          {"seconds", run.seconds},
          {"communication_seconds", run.communication_seconds},
          {"resharding_seconds", run.resharding_seconds},
          {"memory_bytes", run.memory_bytes}};
}

Json DescribeSegments(const std::vector<StageSegments>& stages) {
  return ToArray(stages, [](const StageSegments& stage) -> Json {
    return {
        {"stage", stage.stage},
        {"groups", ToArray(stage.groups, [](const RepeatedRuns& group) -> Json {
           return {{"repeat", group.repeat},
                   {"runs", ToArray(group.runs, DescribeRun)}};
         })}};
  });
}

Json DescribePrediction(const v1::Plan& plan) {
  if (!plan.has_predicted()) return nullptr;
  const v1::PlanPrediction& it = plan.predicted();
  Json interval;
  if (it.interval_seconds_size() == 2) {
    interval = {it.interval_seconds(0), it.interval_seconds(1)};
  }
  // A plan's communication includes resharding.
  return {{"step_seconds", it.step_seconds()},
          {"compute_seconds", it.compute_seconds()},
          {"communication_seconds",
           it.communication_seconds() - it.resharding_seconds()},
          {"resharding_seconds", it.resharding_seconds()},
          {"peak_bytes", it.peak_bytes()},
          {"interval_seconds", interval},
          {"lower_bound_seconds", plan.lower_bound_seconds()},
          {"gap", plan.gap()}};
}

Json DescribePipeline(const ReportData& data) {
  const v1::Plan& plan = data.inputs.plan;
  if (!plan.has_pipeline()) return nullptr;
  const v1::PlanPipeline& pipeline = plan.pipeline();
  Json stages = Json::array();
  for (int i = 0; i < plan.stages_size(); ++i) {
    const v1::PlanStage& it = plan.stages(i);
    Json stage = {{"mesh", it.mesh()},
                  {"devices", it.devices()},
                  {"first_segment", it.first_segment()},
                  {"segments", it.segments_size()},
                  {"forward_seconds", it.forward_seconds()},
                  {"backward_seconds", it.has_backward_seconds()
                                           ? it.backward_seconds()
                                           : it.backward_input_seconds() +
                                                 it.backward_weight_seconds()},
                  {"update_seconds", it.update_seconds()},
                  {"split_estimated", it.split_estimated()},
                  {"peak_bytes", it.predicted().peak_bytes()}};
    if (data.waits.has_value() && i < data.waits->stages_size()) {
      const v1::StageWaits& waits = data.waits->stages(i);
      stage["busy_seconds"] = waits.busy_seconds();
      stage["idle_seconds"] = waits.idle_seconds();
      stage["tenth_saves_seconds"] = waits.tenth_saves_seconds();
    }
    stages.push_back(std::move(stage));
  }
  Json boundaries = Json::array();
  for (int i = 0; i < plan.boundaries_size(); ++i) {
    const v1::PlanBoundary& it = plan.boundaries(i);
    Json boundary = {{"within_host", it.within_host()},
                     {"forward_bytes", it.forward().bytes()},
                     {"forward_seconds", it.forward().makespan_seconds()},
                     {"backward_bytes", it.backward().bytes()},
                     {"backward_seconds", it.backward().makespan_seconds()}};
    if (data.waits.has_value() && i < data.waits->boundary_seconds_size()) {
      boundary["adds_seconds"] = data.waits->boundary_seconds(i);
    }
    boundaries.push_back(std::move(boundary));
  }
  return {{"schedule", pipeline.schedule()},
          {"micro_batches", pipeline.micro_batches()},
          {"bubble", pipeline.bubble()},
          {"stages", std::move(stages)},
          {"boundaries", std::move(boundaries)},
          {"tried", ToArray(pipeline.tried(), [](const auto& it) -> Json {
             return {{"schedule", it.schedule()},
                     {"feasible", it.feasible()},
                     {"step_seconds", it.step_seconds()},
                     {"bubble", it.bubble()}};
           })}};
}

Json DescribeAlternative(const v1::PlanAlternative& it) {
  return {{"more_seconds", it.more_seconds()},
          {"more_share", it.more_share()},
          {"noise_seconds", it.noise_seconds()},
          {"within_noise", it.within_noise()},
          {"peak_bytes", it.peak_bytes()},
          {"changes", ToArray(it.changes(), [](const auto& change) -> Json {
             return {{"to", change.to()}, {"segments", change.segments()}};
           })}};
}

Json DescribeChoices(const std::optional<v1::PlanExplanation>& explanation) {
  if (!explanation.has_value()) return nullptr;
  return ToArray(explanation->choices(), [](const auto& it) -> Json {
    return {
        {"describe", it.describe()},
        {"segments", it.segments()},
        {"next_best",
         it.has_next_best() ? DescribeAlternative(it.next_best()) : Json()}};
  });
}

// Empty where a row is older than the rule.
std::string NameQuality(v1::Quality quality) {
  return quality == v1::QUALITY_UNSPECIFIED
             ? ""
             : base::ToWords(v1::Quality_Name(quality));
}

template <typename Noises>
Json NameNoises(const Noises& noises) {
  return ToArray(noises, [](int noise) {
    return Json(base::ToWords(v1::Noise_Name(static_cast<v1::Noise>(noise))));
  });
}

Json DescribeProgram(const explain::UsedProgram& it) {
  const v1::Measurement& row = it.row.measurement();
  const auto seconds = [](int64_t ns) {
    return static_cast<double>(ns) * 1e-9;
  };
  return {{"label", it.label},
          {"key", it.row.key()},
          {"runs", it.runs},
          {"seconds", seconds(store::GetTimeNs(row))},
          {"spread_seconds", seconds(row.spread_ns())},
          {"communication_seconds", seconds(row.communication_ns())},
          {"peak_bytes", row.memory().peak_bytes()},
          {"quality", NameQuality(row.quality())},
          {"samples", row.sample_count() > 0 ? row.sample_count()
                                             : row.samples_ns_size()}};
}

Json DescribeBasis(const ReportData& data) {
  if (!data.inputs.basis.has_value()) return nullptr;
  const explain::PlanBasis& basis = *data.inputs.basis;
  return {{"step_seconds", basis.step_seconds},
          {"peak_bytes", basis.peak_bytes},
          {"front", ToArray(basis.front,
                            [](const explain::FrontPlan& it) -> Json {
                              return {{"step_seconds", it.step_seconds},
                                      {"peak_bytes", it.peak_bytes}};
                            })},
          {"collectives", ToArray(data.collectives,
                                  [](const CollectiveSum& it) -> Json {
                                    return {{"kind", it.kind},
                                            {"axis", it.axis},
                                            {"devices", it.devices},
                                            {"count", it.count},
                                            {"bytes", it.bytes}};
                                  })},
          {"programs", ToArray(basis.programs, DescribeProgram)}};
}

Json DescribeTimeline(const Timeline& timeline) {
  return {
      {"name", timeline.name},
      {"basis", timeline.basis},
      {"step_seconds", timeline.step_seconds},
      {"groups", ToArray(timeline.groups, [](const DeviceGroup& group) -> Json {
         return {
             {"name", group.name},
             {"lanes",
              ToArray(group.lanes,
                      [](const Lane& lane) -> Json {
                        return {
                            {"name", lane.name},
                            {"communication", lane.is_communication},
                            {"slices",
                             ToArray(lane.slices, [](const Slice& it) -> Json {
                               return {it.start_seconds, it.seconds, it.name,
                                       it.kind, it.detail};
                             })}};
                      })},
             {"memory",
              ToArray(group.memory, [](const MemoryLevel& it) -> Json {
                return {it.seconds, it.bytes};
              })}};
       })}};
}

// True of NaN. JSON holds no infinity, so the page is not told the difference.
bool Differs(double difference, double tolerance) {
  return !(difference <= tolerance);
}

Json DescribeValidation(const ReportInputs& inputs) {
  if (inputs.validation.has_value()) {
    const v1::ValidationReport& it = *inputs.validation;
    return {
        {"chosen", it.chosen()},
        {"reference", it.reference()},
        {"tolerance", it.tolerance()},
        {"plans", ToArray(it.plans(), [&](const auto& plan) -> Json {
           return {
               {"name", plan.name()},
               {"predicted_seconds", VALUE_OR_NULL(plan, predicted_seconds)},
               {"measured_seconds", VALUE_OR_NULL(plan, measured_seconds)},
               {"error_now", VALUE_OR_NULL(plan, error_now)},
               {"predicted_peak_bytes",
                VALUE_OR_NULL(plan, predicted_peak_bytes)},
               {"measured_peak_bytes",
                VALUE_OR_NULL(plan, measured_peak_bytes)},
               {"differs", plan.has_max_relative_difference()
                               ? Json(Differs(plan.max_relative_difference(),
                                              it.tolerance()))
                               : Json()},
               {"failure", VALUE_OR_NULL(plan, failure)}};
         })}};
  }
  if (!inputs.staged_validation.has_value()) return nullptr;
  const v1::StagedValidationReport& it = *inputs.staged_validation;
  const v1::ValidatedStep& step = it.step();
  return {{"reference", it.reference()},
          {"tolerance", it.tolerance()},
          {"predicted_seconds", step.predicted_seconds()},
          {"measured_seconds", VALUE_OR_NULL(step, simulated_seconds)},
          {"error_now", VALUE_OR_NULL(step, error_now)},
          {"differs",
           it.has_failure()
               ? Json()
               : Json(Differs(it.max_relative_difference(), it.tolerance()))},
          {"failure", VALUE_OR_NULL(it, failure)}};
}

Json DescribeVerdicts(const v1::Plan& plan) {
  return {
      {"excluded", ToArray(plan.excluded(),
                           [](const v1::PlanExcluded& it) -> Json {
                             return {
                                 {"type", it.type()},
                                 {"describe", it.describe()},
                                 {"estimate_seconds", it.estimate_seconds()},
                                 {"margin", it.margin()},
                                 {"rival", it.rival()},
                                 {"rival_seconds", it.rival_seconds()}};
                           })},
      {"not_reached", ToArray(plan.not_reached(),
                              [](const v1::PlanNotReached& it) -> Json {
                                return {
                                    {"type", it.type()},
                                    {"describe", it.describe()},
                                    {"estimate_seconds", it.estimate_seconds()},
                                    {"margin", it.margin()}};
                              })},
      {"failed", ToArray(plan.failed(), [](const v1::PlanFailed& it) -> Json {
         return {{"type", it.type()},
                 {"describe", it.describe()},
                 {"reason", it.reason()}};
       })}};
}

Json DescribeEstimates(const v1::Plan& plan) {
  return ToArray(plan.estimates(), [](const v1::PlanEstimates& it) -> Json {
    return {
        {"type", it.type()},           {"configurations", it.configurations()},
        {"compared", it.compared()},   {"scale", it.scale()},
        {"deviation", it.deviation()}, {"margin", it.margin()}};
  });
}

Json DescribeCounts(const v1::PlanPrograms& it) {
  return {{"total", it.total()},
          {"distinct", it.distinct()},
          {"halves", it.halves()},
          {"profiled", it.profiled()},
          {"cached", it.cached()},
          {"excluded", it.excluded()},
          {"not_reached", it.not_reached()},
          {"failed", it.failed()},
          {"remeasured", it.remeasured()}};
}

Json DescribeArguments(const std::vector<ArgumentGroup>& groups) {
  return ToArray(groups, [](const ArgumentGroup& it) -> Json {
    return {{"name", it.name},
            {"role", it.role},
            {"shape", it.shape},
            {"sharding", it.sharding},
            {"count", it.count}};
  });
}

#undef VALUE_OR_NULL

Json DescribeReport(const ReportData& data) {
  const v1::Plan& plan = data.inputs.plan;
  Json tie;
  if (plan.has_tie()) {
    tie = {{"fastest_seconds", plan.tie().fastest_seconds()},
           {"noise_seconds", plan.tie().noise_seconds()}};
  }
  return {{"model",
           {{"name", plan.model().name()},
            {"fingerprint", plan.model().fingerprint()}}},
          {"mesh", plan.mesh()},
          {"device", plan.device()},
          {"platform_version", plan.platform_version()},
          {"xla_flags", plan.xla_flags()},
          {"feasible", plan.feasible()},
          {"limit_bytes", plan.limit_bytes()},
          {"usable_bytes", plan.usable_bytes()},
          {"least_memory_bytes", plan.least_memory_bytes()},
          {"open", plan.strategies().open()},
          {"predicted", DescribePrediction(plan)},
          {"tie", std::move(tie)},
          {"quality", NameQuality(plan.quality())},
          {"noise", NameNoises(plan.noise())},
          {"segments", DescribeSegments(data.segments)},
          {"pipeline", DescribePipeline(data)},
          {"choices", DescribeChoices(data.inputs.explanation)},
          {"basis", DescribeBasis(data)},
          {"timelines", ToArray(data.timelines, DescribeTimeline)},
          {"validation", DescribeValidation(data.inputs)},
          {"verdicts", DescribeVerdicts(plan)},
          {"estimates", DescribeEstimates(plan)},
          {"counts", DescribeCounts(plan.programs())},
          {"seconds",
           {{"analyze", plan.seconds().analyze()},
            {"compile", plan.seconds().compile()},
            {"profile", plan.seconds().profile()},
            {"search", plan.seconds().search()},
            {"total", plan.seconds().total()}}},
          {"arguments", DescribeArguments(data.arguments)},
          {"outputs", DescribeArguments(data.outputs)},
          {"notes", plan.notes()}};
}

}  // namespace

std::string FormatReportJson(const ReportData& data) {
  const std::string text = DescribeReport(data).dump(
      -1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  return absl::StrReplaceAll(text, {{"<", "\\u003c"}});
}

}  // namespace meshwright::report
