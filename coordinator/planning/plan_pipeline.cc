#include "coordinator/planning/plan_pipeline.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "coordinator/estimation/time_base.h"
#include "coordinator/export/notes.h"
#include "coordinator/ir/constants.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/jobs/device_digest.h"
#include "coordinator/planning/choose_plan.h"
#include "coordinator/planning/memory_pressure.h"
#include "coordinator/planning/plan_metadata.h"
#include "coordinator/planning/program_times.h"
#include "coordinator/planning/remeasure.h"
#include "coordinator/planning/verdicts.h"
#include "coordinator/problem/memory_limit.h"
#include "coordinator/selection/measurement_order.h"
#include "coordinator/selection/selection.h"
#include "coordinator/space/read_request.h"

namespace meshwright::planning {
namespace {

// The version of rows from the time before device fingerprints.
constexpr int kLastVersionOfUnknownMachines = 6;

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

void Report(const jobs::ProgressFunction& report, const char* phase,
            int64_t done, int64_t total, const std::string& message = "") {
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

// Measures what can matter, in batches; without a selection, everything.
absl::StatusOr<selection::Decision> MeasureSelected(
    const v1::PlanRequest& request, const MeasuredStep& step,
    std::optional<int64_t> memory_limit,
    const std::optional<selection::Selection>& selection,
    const PlanDependencies& dependencies, Measuring& measuring) {
  // What a run that was ended measured once and would have measured again.
  if (!request.no_wait()) RETURN_IF_ERROR(measuring.Measure({}));
  std::optional<selection::MeasurementOrder>
      order;  // made only where it is needed
  const auto measure = [&](std::vector<const v1::Program*> wanted) {
    if (!order.has_value()) {
      order = selection::FindMeasurementOrder(step.analysis, step.space,
                                              memory_limit);
    }
    return measuring.Measure(order->Sort(std::move(wanted)));
  };
  selection::Decision decision;
  if (!selection.has_value()) {
    const auto& programs = step.space.programs;
    const bool is_known = measuring.results().size() == programs.size();
    if (is_known || request.no_wait()) return decision;
    std::vector<const v1::Program*> all;
    all.reserve(programs.size());
    for (const v1::Program& program : programs) all.push_back(&program);
    RETURN_IF_ERROR(measure(std::move(all)));
    return decision;
  }
  while (true) {
    store::Results rows = measuring.results();
    estimation::BringToOneTimeBase(rows);
    ASSIGN_OR_RETURN(decision, selection->Next(rows));
    RETURN_IF_ERROR(CheckWanted(dependencies));
    if (decision.measure.empty() || request.no_wait()) return decision;
    RETURN_IF_ERROR(measure(decision.measure));
  }
}

// Fills results and counts of `step`.
void TakeResults(const Measuring& measuring,
                 const selection::Decision& decision, MeasuredStep& step) {
  step.rows = measuring.results();
  step.results = step.rows;
  step.time_base = estimation::BringToOneTimeBase(step.results);
  step.measured_now = measuring.measured_now();
  step.programs.set_cached(measuring.cached());
  step.programs.set_profiled(measuring.profiled());
  step.programs.set_remeasured(measuring.remeasured());
  step.failed_programs = measuring.failed();
  TakeVerdicts(decision, step);
  step.seconds.set_compile(measuring.compile_seconds());
  // In no order of measuring, which a plan that is run again does not repeat.
  std::vector<std::string> notes = measuring.notes();
  std::sort(notes.begin(), notes.end());
  step.notes.insert(step.notes.end(), notes.begin(), notes.end());
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
  if (space::CountDevices(step.space.context.mesh) == 1) return;
  step.notes.push_back(absl::StrCat(
      "the mesh divides no dimension of any block: the plan is replicated",
      strategies.empty() || strategies[0].lost.empty()
          ? ""
          : absl::StrCat(" (", strategies[0].lost[0].reason, ")")));
}

absl::Status CheckSolo(const v1::PlanRequest& request) {
  if (request.solo() && request.links_size() != request.mesh().shape_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a plan in which one device stands for the mesh needs the "
                     "links of its ",
                     request.mesh().shape_size(), " axes, not of ",
                     request.links_size(), "; give them with --links"));
  }
  if (!request.solo() && request.links_size() > 0) {
    return absl::InvalidArgumentError(
        "links are measured on a mesh that is there; give them with --solo "
        "only");
  }
  if (request.solo() && request.has_stages()) {
    return absl::InvalidArgumentError(
        "one device stands for one mesh, not for those of stages; leave "
        "--solo or the stages out");
  }
  return absl::OkStatus();
}

}  // namespace

v1::DeviceSpec MakeDeviceSpec(const v1::PlanRequest& request,
                              const space::Mesh& mesh) {
  v1::DeviceSpec device;
  device.set_platform(request.platform().empty() ? "cpu" : request.platform());
  device.set_solo(request.solo());
  device.set_plugin_path(request.plugin_path());
  device.set_device_count(static_cast<int>(space::CountDevices(mesh)));
  return device;
}

void KeepModel(const v1::PlanRequest& request,
               const PlanDependencies& dependencies, v1::Plan& plan) {
  const absl::Status kept = dependencies.store->RecordProgram(
      plan.model().module_sha256(), request.hlo_module());
  if (kept.ok()) return;
  plan.add_notes(absl::StrCat(
      "the store did not keep the model (", std::string(kept.message()),
      "): explain and what-if need it named with --model"));
}

v1::MeasureOptions MakeMeasureOptions() {
  v1::MeasureOptions options;
  options.set_version(base::kMeasuringProtocol);
  options.set_warm_up_runs(1);
  options.set_minimum_samples(12);
  options.set_maximum_samples(60);
  options.set_minimum_time_ns(250'000'000);
  options.set_program_time_limit_ns(120'000'000'000);
  options.set_compile_time_limit_ns(300'000'000'000);
  // Programs of a batch do not compete: a resharding is no rival of a layer.
  options.set_dynamic_limit_ratio(0);
  return options;
}

absl::StatusOr<segmenter::Analysis> AnalyzeStep(
    const v1::PlanRequest& request) {
  ASSIGN_OR_RETURN(const space::Mesh mesh, space::ReadMesh(request.mesh()));
  if (request.device_memory_bytes() < 0) {
    return absl::InvalidArgumentError("the device memory is negative");
  }
  ASSIGN_OR_RETURN(ir::Module module, ir::LoadModule(request.hlo_module()));
  RETURN_IF_ERROR(ir::RequireLiterals(module));
  ASSIGN_OR_RETURN(const segmenter::StrategyRequest strategies,
                   space::ReadRequest(request.strategies()));
  return segmenter::Analyze(std::move(module), mesh, strategies);
}

absl::StatusOr<MeasuredStep> OpenAnalyzed(const v1::PlanRequest& request,
                                          segmenter::Analysis analysis,
                                          jobs::Measurer* measurer) {
  if (request.unknown_machine() && !request.no_wait()) {
    return absl::InvalidArgumentError(
        "rows of an unknown machine are read, never measured; ask for them "
        "without waiting for measurements");
  }
  RETURN_IF_ERROR(CheckSolo(request));
  MeasuredStep step;
  step.analysis = std::move(analysis);
  const space::Mesh& mesh = step.analysis.mesh;
  ASSIGN_OR_RETURN(step.device,
                   measurer->Describe(MakeDeviceSpec(request, mesh)));
  space::KeyContext context;
  context.mesh = mesh;
  context.keeps_barriers = step.device.platform != "cpu";
  context.device_kind = step.device.device_kind;
  context.platform_version = step.device.platform_version;
  context.device_digest = jobs::DigestFingerprint(step.device.fingerprint);
  context.options = MakeMeasureOptions();
  context.options.set_xla_flags(request.xla_flags());
  for (const v1::AxisLink& link : request.links()) {
    context.links.push_back({link.alpha(), link.beta()});
  }
  if (request.unknown_machine()) {
    context.device_digest.clear();
    context.options.set_version(kLastVersionOfUnknownMachines);
  }
  step.space = BuildProfileSpace(step.analysis, context);
  RETURN_IF_ERROR(CheckConfigurations(step.analysis, step.space));
  step.notes = exporting::ListNotes(step.analysis, step.space);
  if (request.solo()) {
    step.notes.emplace_back(
        "one device stood for the mesh: compute and memory are measured on it, "
        "communication is estimated from the links");
  }
  step.programs.set_total(step.space.segment_programs +
                          step.space.resharding_programs);
  step.programs.set_distinct(static_cast<int>(step.space.programs.size()));
  return step;
}

absl::StatusOr<MeasuredStep> OpenStep(const v1::PlanRequest& request,
                                      jobs::Measurer* measurer) {
  ASSIGN_OR_RETURN(segmenter::Analysis analysis, AnalyzeStep(request));
  return OpenAnalyzed(request, std::move(analysis), measurer);
}

absl::StatusOr<MeasuredStep> MeasureAnalyzed(
    const v1::PlanRequest& request, segmenter::Analysis analysis,
    const PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress) {
  Stopwatch watch;
  Report(progress, "analyze", 0, 1);
  ASSIGN_OR_RETURN(MeasuredStep step, OpenAnalyzed(request, std::move(analysis),
                                                   dependencies.measurer));
  const space::KeyContext& context = step.space.context;
  Measuring measuring(dependencies, MakeDeviceSpec(request, context.mesh),
                      context, progress);
  RETURN_IF_ERROR(
      measuring.Lookup(step.space.programs, request.retry_failures()));
  const std::optional<int64_t> limit =
      formulation::FindUsableBytes(request.device_memory_bytes());
  std::optional<selection::Selection> selection;
  if (!request.full_space() &&
      measuring.results().size() != step.space.programs.size()) {
    selection.emplace(step.analysis, step.space, limit,
                      MakeSearchOptions(dependencies));
    RETURN_IF_ERROR(
        measuring.Lookup(selection->halves(), request.retry_failures()));
    if (!request.no_wait()) {
      RETURN_IF_ERROR(measuring.Heal(selection->First()));
    }
    step.programs.set_halves(CountBeside(step.space, selection->halves()));
  }
  Report(progress, "analyze", 1, 1,
         absl::StrCat(step.space.programs.size() + step.programs.halves(),
                      " programs, ", measuring.cached(), " known"));
  step.seconds.set_analyze(watch.Lap());
  ASSIGN_OR_RETURN(const selection::Decision decision,
                   MeasureSelected(request, step, limit, selection,
                                   dependencies, measuring));
  TakeResults(measuring, decision, step);
  NoteReplicated(step);
  ASSIGN_OR_RETURN(step.measured,
                   formulation::BuildProblem(step.analysis, step.space,
                                             step.results, limit));
  step.seconds.set_profile(watch.Lap());
  return step;
}

absl::StatusOr<MeasuredStep> MeasureStep(
    const v1::PlanRequest& request, const PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress) {
  Stopwatch watch;
  ASSIGN_OR_RETURN(segmenter::Analysis analysis, AnalyzeStep(request));
  const double analyzed = watch.Lap();
  ASSIGN_OR_RETURN(
      MeasuredStep step,
      MeasureAnalyzed(request, std::move(analysis), dependencies, progress));
  step.seconds.set_analyze(step.seconds.analyze() + analyzed);
  return step;
}

namespace {

// Chooses, and chooses again where rows of the choice were noisy.
absl::StatusOr<v1::Plan> ChooseSteadyPlan(
    const v1::PlanRequest& request, const PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress, MeasuredStep& step) {
  const v1::DeviceSpec device =
      MakeDeviceSpec(request, step.space.context.mesh);
  const search::Options options = MakeSearchOptions(dependencies);
  for (int round = 0;; ++round) {
    absl::StatusOr<v1::Plan> plan = ChoosePlan(request, step, options);
    RETURN_IF_ERROR(CheckWanted(dependencies));
    RETURN_IF_ERROR(plan.status());
    bool changed = false;
    if (round < kMaxRemeasuringRounds) {
      ASSIGN_OR_RETURN(
          changed, RemeasureNoisy(request, *plan, /*with_rivals=*/round == 0,
                                  device, dependencies, progress, step));
    }
    if (changed) continue;
    AddQuality(ListUsedPrograms(*plan, step), step, *plan);
    AddAnchors(step.time_base, *plan->mutable_anchors());
    AddProgramTimes(step, *plan);
    return plan;
  }
}

}  // namespace

absl::StatusOr<v1::Plan> FindPlan(const v1::PlanRequest& request,
                                  const PlanDependencies& dependencies,
                                  const jobs::ProgressFunction& progress) {
  std::optional<v1::Plan> plan;
  std::optional<v1::PlanRequest> asked = request;
  while (asked.has_value()) {
    ASSIGN_OR_RETURN(MeasuredStep step,
                     MeasureStep(*asked, dependencies, progress));
    if (plan.has_value()) {
      AddWork(plan->programs(), plan->seconds(), step.programs, step.seconds);
    }
    Report(progress, "search", 0, 1);
    ASSIGN_OR_RETURN(v1::Plan found,
                     ChooseSteadyPlan(*asked, dependencies, progress, step));
    plan = plan.has_value()
               ? SelectPlan(*asked, *std::move(plan), std::move(found))
               : std::move(found);
    ASSIGN_OR_RETURN(asked, WidenForMemory(*asked, step, *plan,
                                           MakeSearchOptions(dependencies)));
    RETURN_IF_ERROR(CheckWanted(dependencies));
  }
  return *std::move(plan);
}

absl::StatusOr<v1::Plan> MakePlan(const v1::PlanRequest& request,
                                  const PlanDependencies& dependencies,
                                  const jobs::ProgressFunction& progress) {
  Stopwatch total;
  ASSIGN_OR_RETURN(v1::Plan plan, FindPlan(request, dependencies, progress));
  KeepModel(request, dependencies, plan);
  v1::PlanSeconds& seconds = *plan.mutable_seconds();
  seconds.set_total(total.Lap());
  seconds.set_search(
      std::max(0.0, seconds.total() - seconds.analyze() - seconds.profile()));
  Report(progress, "search", 1, 1);
  return plan;
}

}  // namespace meshwright::planning
