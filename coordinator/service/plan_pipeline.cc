#include "coordinator/service/plan_pipeline.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "coordinator/export/notes.h"
#include "coordinator/ir/constants.h"
#include "coordinator/service/selection.h"
#include "coordinator/space/read_request.h"
#include "planner/problem/evaluate.h"
#include "planner/search/search.h"

namespace meshwright::service {
namespace {

constexpr int64_t kMaxDevices = 4096;
constexpr int kSchemaVersion = 1;

class Stopwatch {
 public:
  // Seconds since the last call.
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ =
      std::chrono::steady_clock::now();
};

absl::StatusOr<space::Mesh> ReadMesh(const v1::MeshSpec& spec) {
  space::Mesh mesh(spec.shape().begin(), spec.shape().end());
  if (mesh.empty()) {
    return absl::InvalidArgumentError(
        "the mesh has no axis; pass one like 1x2");
  }
  int64_t devices = 1;
  for (int64_t size : mesh) {
    if (size < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("a mesh axis of ", size, " devices is none"));
    }
    if (size > kMaxDevices / devices) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the mesh has more than the ", kMaxDevices, " devices of the limit"));
    }
    devices *= size;
  }
  return mesh;
}

v1::DeviceSpec DeviceOf(const v1::PlanRequest& request,
                        const space::Mesh& mesh) {
  v1::DeviceSpec device;
  device.set_platform(request.platform().empty() ? "cpu" : request.platform());
  device.set_plugin_path(request.plugin_path());
  device.set_device_count(static_cast<int>(space::DeviceCount(mesh)));
  return device;
}

void Report(const PlanProgressFunction& report, const char* phase, int64_t done,
            int64_t total, const std::string& message = "") {
  v1::PlanProgress progress;
  progress.set_phase(phase);
  progress.set_done(done);
  progress.set_total(total);
  progress.set_message(message);
  report(progress);
}

// How many of `programs` the space does not have.
int CountBeside(const space::ProfileSpace& space,
                const std::vector<v1::Program>& programs) {
  std::set<std::string> keys;
  for (const v1::Program& program : programs) keys.insert(program.key());
  for (const v1::Program& program : space.programs) keys.erase(program.key());
  return static_cast<int>(keys.size());
}

std::vector<const v1::Program*> Everything(const space::ProfileSpace& space) {
  std::vector<const v1::Program*> programs;
  for (const v1::Program& program : space.programs) {
    programs.push_back(&program);
  }
  return programs;
}

// What another plan measured is no less known for not being asked for here.
void TakeVerdicts(const Decision& decision, MeasuredStep& step) {
  std::set<int> pruned;
  int over_budget = 0;
  for (const v1::PlanPruned& it : decision.pruned) {
    const auto& type = step.space.types[it.type()];
    std::vector<int> programs = ProgramsOf(type.configurations[it.config()]);
    std::erase_if(programs, [&](int program) {
      return step.results.contains(step.space.programs[program].key());
    });
    if (programs.empty()) continue;
    pruned.insert(programs.begin(), programs.end());
    step.pruned.push_back(it);
    over_budget += it.rival().empty() && it.estimate_seconds() > 0;
  }
  step.programs.set_pruned(static_cast<int>(pruned.size()));
  step.estimates = decision.estimates;
  if (over_budget > 0) {
    step.notes.push_back(absl::StrCat(
        over_budget,
        " configurations may be as fast as those measured, and were left out "
        "to keep the number of programs; --full-space measures them"));
  }
}

absl::StatusOr<Decision> MeasureSelected(const v1::PlanRequest& request,
                                         const Selection& selection,
                                         Measuring& measuring) {
  while (true) {
    ASSIGN_OR_RETURN(Decision decision, selection.Next(measuring.results()));
    if (decision.measure.empty() || request.no_wait()) return decision;
    RETURN_IF_ERROR(measuring.Measure(decision.measure));
  }
}

// Fills results and counts of `step`.
absl::Status Measure(const v1::PlanRequest& request,
                     const PlanDependencies& dependencies,
                     const PlanProgressFunction& progress,
                     std::optional<int64_t> memory_limit, Stopwatch& watch,
                     MeasuredStep& step) {
  Measuring measuring(dependencies, DeviceOf(request, step.space.context.mesh),
                      step.space.context.options, progress);
  RETURN_IF_ERROR(measuring.Lookup(step.space.programs));
  const bool all_known =
      measuring.results().size() == step.space.programs.size();
  std::optional<Selection> selection;
  if (!request.full_space() && !all_known) {
    selection.emplace(step.analysis, step.space, memory_limit);
    RETURN_IF_ERROR(measuring.Lookup(selection->halves()));
    step.programs.set_halves(CountBeside(step.space, selection->halves()));
  }
  Report(progress, "analyze", 1, 1,
         absl::StrCat(step.space.programs.size() + step.programs.halves(),
                      " programs, ", measuring.cached(), " known"));
  step.seconds.set_analyze(watch.Lap());
  Decision decision;
  if (selection.has_value()) {
    ASSIGN_OR_RETURN(decision, MeasureSelected(request, *selection, measuring));
  } else if (!request.no_wait()) {
    RETURN_IF_ERROR(measuring.Measure(Everything(step.space)));
  }
  step.results = measuring.results();
  TakeVerdicts(decision, step);
  step.programs.set_cached(measuring.cached());
  step.programs.set_profiled(measuring.profiled());
  step.programs.set_failed(measuring.failed());
  step.seconds.set_compile(measuring.compile_seconds());
  step.notes.insert(step.notes.end(), measuring.notes().begin(),
                    measuring.notes().end());
  return absl::OkStatus();
}

bool IsReplicated(const segmenter::Strategy& strategy) {
  return std::all_of(strategy.axes.begin(), strategy.axes.end(),
                     [](const segmenter::AxisStrategy& axis) {
                       return axis.kind == segmenter::StrategyKind::kReplicated;
                     });
}

void NoteReplicated(MeasuredStep& step) {
  const auto& strategies = step.analysis.strategies;
  const bool nothing = std::all_of(
      strategies.begin(), strategies.end(),
      [](const auto& set) { return IsReplicated(set.strategies[0]); });
  if (!nothing || !step.analysis.request.blocks.empty()) return;
  if (space::DeviceCount(step.space.context.mesh) == 1) return;
  step.notes.push_back(absl::StrCat(
      "the mesh divides no dimension of any block: the plan is replicated",
      strategies.empty() || strategies[0].lost.empty()
          ? ""
          : absl::StrCat(" (", strategies[0].lost[0].reason, ")")));
}

void FillSegments(const MeasuredStep& step,
                  const exporting::SegmentChoice& choice, v1::Plan& plan) {
  double communication = 0;
  double high = 0;
  for (size_t s = 0; s < choice.size(); ++s) {
    const int type = step.analysis.type_of_segment[s];
    const space::Configuration& configuration =
        step.space.types[type].configurations[choice[s]];
    v1::PlanSegment& segment = *plan.add_segments();
    segment.set_type(type);
    segment.set_config(choice[s]);
    segment.set_describe(configuration.describe);
    segment.set_switch_(segmenter::SwitchName(configuration.segment_switch));
    segment.set_recompute(configuration.recompute);
    const int first = step.analysis.plan.segments[s].first_block;
    for (size_t b = 0; b < configuration.strategies.size(); ++b) {
      segment.add_strategies(step.analysis.strategies[first + b]
                                 .strategies[configuration.strategies[b]]
                                 .name);
    }
    if (configuration.program < 0) continue;
    const v1::Measurement& measurement =
        step.results.at(step.space.programs[configuration.program].key())
            .measurement();
    communication += static_cast<double>(measurement.communication_ns()) * 1e-9;
    high += static_cast<double>(measurement.median_ns()) * 1e-9;
  }
  v1::PlanPrediction& predicted = *plan.mutable_predicted();
  predicted.set_communication_seconds(communication +
                                      predicted.resharding_seconds());
  predicted.set_compute_seconds(predicted.step_seconds() -
                                predicted.communication_seconds());
  predicted.add_interval_seconds(predicted.step_seconds());
  predicted.add_interval_seconds(std::max(
      predicted.step_seconds(), high + predicted.resharding_seconds()));
}

}  // namespace

v1::MeasureOptions DefaultMeasureOptions() {
  v1::MeasureOptions options;
  // 2: CPUs without XNNPACK. 3: a quarter second of samples, one per turn.
  options.set_version(3);
  options.set_warm_up_runs(2);
  options.set_minimum_samples(12);
  options.set_maximum_samples(60);
  options.set_minimum_time_ns(250'000'000);
  options.set_program_time_limit_ns(120'000'000'000);
  options.set_compile_time_limit_ns(300'000'000'000);
  // Programs of a batch do not compete: a resharding is no rival of a layer.
  options.set_dynamic_limit_ratio(0);
  return options;
}

absl::StatusOr<MeasuredStep> MeasureStep(const v1::PlanRequest& request,
                                         const PlanDependencies& dependencies,
                                         const PlanProgressFunction& progress) {
  MeasuredStep step;
  Stopwatch watch;
  ASSIGN_OR_RETURN(const space::Mesh mesh, ReadMesh(request.mesh()));
  if (request.device_memory_bytes() < 0) {
    return absl::InvalidArgumentError("the device memory is negative");
  }
  Report(progress, "analyze", 0, 1);
  ASSIGN_OR_RETURN(ir::Module module, ir::LoadModule(request.hlo_module()));
  RETURN_IF_ERROR(ir::RequireLiterals(module));
  ASSIGN_OR_RETURN(const segmenter::StrategyRequest strategies,
                   space::ReadRequest(request.strategies()));
  ASSIGN_OR_RETURN(step.analysis,
                   segmenter::Analyze(std::move(module), mesh, strategies));
  ASSIGN_OR_RETURN(step.device,
                   dependencies.measurer->Describe(DeviceOf(request, mesh)));
  space::KeyContext context;
  context.mesh = mesh;
  context.keeps_barriers = step.device.platform != "cpu";
  context.device_kind = step.device.device_kind;
  context.platform_version = step.device.platform_version;
  context.options = DefaultMeasureOptions();
  step.space = BuildProfileSpace(step.analysis, context);
  RETURN_IF_ERROR(CheckConfigurations(step.analysis, step.space));
  step.notes = exporting::SwitchNotes(step.analysis, step.space);
  step.programs.set_total(step.space.segment_programs +
                          step.space.resharding_programs);
  step.programs.set_distinct(static_cast<int>(step.space.programs.size()));
  std::optional<int64_t> limit;
  if (request.device_memory_bytes() > 0) limit = request.device_memory_bytes();
  RETURN_IF_ERROR(Measure(request, dependencies, progress, limit, watch, step));
  NoteReplicated(step);
  ASSIGN_OR_RETURN(step.measured, BuildProblem(step.analysis, step.space,
                                               step.results, limit));
  step.seconds.set_profile(watch.Lap());
  return step;
}

absl::StatusOr<Score> ScoreChoice(const MeasuredStep& step,
                                  const exporting::SegmentChoice& choice) {
  ASSIGN_OR_RETURN(const problem::Choice nodes,
                   FromSegments(step.analysis, step.measured, choice));
  ASSIGN_OR_RETURN(const problem::Evaluation evaluation,
                   problem::Evaluate(step.measured.problem, nodes));
  Score score;
  score.seconds = problem::ToSeconds(evaluation.time);
  score.resharding_seconds = problem::ToSeconds(evaluation.resharding_time);
  score.peak_bytes = evaluation.peak_bytes;
  return score;
}

namespace {

struct Planned {
  MeasuredStep step;
  search::Answer answer;
};

absl::StatusOr<Planned> MeasureAndSearch(const v1::PlanRequest& request,
                                         const PlanDependencies& dependencies,
                                         const PlanProgressFunction& progress) {
  Planned planned;
  ASSIGN_OR_RETURN(planned.step, MeasureStep(request, dependencies, progress));
  Stopwatch watch;
  Report(progress, "search", 0, 1);
  ASSIGN_OR_RETURN(planned.answer,
                   search::Solve(planned.step.measured.problem));
  planned.step.seconds.set_search(watch.Lap());
  return planned;
}

// Who opens any says which ones.
bool OpensSwitches(const v1::PlanRequest& request) {
  const auto& open = request.strategies().open();
  return std::any_of(open.begin(), open.end(), [](const std::string& name) {
    return segmenter::SwitchNamed(name).has_value();
  });
}

// Whether the limit costs time, or leaves no plan at all.
absl::StatusOr<bool> IsMemoryShort(const Planned& planned) {
  if (!planned.step.measured.problem.memory_limit_bytes.has_value()) {
    return false;
  }
  if (!planned.answer.plan.has_value()) return true;
  problem::PlanProblem free = planned.step.measured.problem;
  free.memory_limit_bytes.reset();
  ASSIGN_OR_RETURN(const search::Answer answer, search::Solve(free));
  return answer.plan->time < planned.answer.plan->time;
}

// What the first attempt measured is known to the second.
void AddEffort(const MeasuredStep& first, MeasuredStep& second) {
  v1::PlanPrograms& programs = second.programs;
  programs.set_profiled(programs.profiled() + first.programs.profiled());
  programs.set_cached(programs.cached() - first.programs.profiled());
  v1::PlanSeconds& seconds = second.seconds;
  seconds.set_analyze(seconds.analyze() + first.seconds.analyze());
  seconds.set_compile(seconds.compile() + first.seconds.compile());
  seconds.set_profile(seconds.profile() + first.seconds.profile());
  seconds.set_search(seconds.search() + first.seconds.search());
}

}  // namespace

absl::StatusOr<v1::Plan> MakePlan(const v1::PlanRequest& asked,
                                  const PlanDependencies& dependencies,
                                  const PlanProgressFunction& progress) {
  Stopwatch total;
  v1::PlanRequest request = asked;
  ASSIGN_OR_RETURN(Planned planned,
                   MeasureAndSearch(request, dependencies, progress));
  if (!OpensSwitches(request)) {
    ASSIGN_OR_RETURN(const bool is_short, IsMemoryShort(planned));
    if (is_short) {
      request.mutable_strategies()->add_open(
          segmenter::SwitchName(segmenter::SegmentSwitch::kRecompute));
      ASSIGN_OR_RETURN(Planned wider,
                       MeasureAndSearch(request, dependencies, progress));
      AddEffort(planned.step, wider.step);
      planned = std::move(wider);
    }
  }
  MeasuredStep& step = planned.step;
  const search::Answer& answer = planned.answer;
  v1::Plan plan;
  plan.set_schema_version(kSchemaVersion);
  plan.mutable_model()->set_fingerprint(base::Sha256Hex(request.hlo_module()));
  plan.mutable_model()->set_name(request.model_name());
  for (int64_t size : step.space.context.mesh) plan.add_mesh(size);
  *plan.mutable_strategies() = request.strategies();
  plan.set_device(
      step.device.device_kind == step.device.platform
          ? step.device.platform
          : absl::StrCat(step.device.platform, " ", step.device.device_kind));
  plan.set_limit_bytes(request.device_memory_bytes());
  plan.set_feasible(answer.plan.has_value());
  plan.set_lower_bound_seconds(problem::ToSeconds(answer.lower_bound));
  plan.set_gap(answer.Gap());
  if (answer.plan.has_value()) {
    const exporting::SegmentChoice choice =
        ToSegments(step.analysis, step.measured, answer.plan->choice);
    ASSIGN_OR_RETURN(const Score score, ScoreChoice(step, choice));
    v1::PlanPrediction& predicted = *plan.mutable_predicted();
    predicted.set_step_seconds(score.seconds);
    predicted.set_resharding_seconds(score.resharding_seconds);
    predicted.set_peak_bytes(score.peak_bytes);
    FillSegments(step, choice, plan);
    exporting::DescribeArguments(step.analysis, step.space, choice, &plan);
  } else if (answer.least_memory_bytes.has_value()) {
    plan.set_least_memory_bytes(*answer.least_memory_bytes);
    step.notes.push_back(
        absl::StrCat("no plan fits ", request.device_memory_bytes(),
                     " bytes per device; the most frugal one needs ",
                     *answer.least_memory_bytes));
  }
  for (const std::string& note : step.notes) plan.add_notes(note);
  *plan.mutable_programs() = step.programs;
  plan.mutable_pruned()->Assign(step.pruned.begin(), step.pruned.end());
  plan.mutable_estimates()->Assign(step.estimates.begin(),
                                   step.estimates.end());
  step.seconds.set_total(total.Lap());
  *plan.mutable_seconds() = step.seconds;
  Report(progress, "search", 1, 1);
  return plan;
}

}  // namespace meshwright::service
