#include "coordinator/service/plan_pipeline.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "coordinator/ir/constants.h"
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

// Shows how far the measuring is, from one callback at a time.
class MeasureProgress {
 public:
  MeasureProgress(const PlanProgressFunction& report, int64_t total,
                  int64_t cached)
      : report_(report), total_(total), cached_(cached) {}

  void Started(const v1::RunnerEvent::Started& started) {
    if (started.phase() != v1::RunnerEvent::Started::COMPILE) return;
    Show("compile", std::min(++compiled_, total_));
  }

  void Finished(const v1::ProfileResult& result) {
    if (result.outcome() == v1::MEASURED) {
      const double seconds =
          static_cast<double>(result.measurement().minimum_ns()) * 1e-9;
      if (best_seconds_ == 0 || seconds < best_seconds_) {
        best_seconds_ = seconds;
      }
      compile_ns_ += result.measurement().compile_ns();
    }
    Show("measure", ++finished_);
  }

  int64_t compile_ns() const { return compile_ns_; }

 private:
  void Show(const char* phase, int64_t done) {
    v1::PlanProgress progress;
    progress.set_phase(phase);
    progress.set_done(done);
    progress.set_total(total_);
    progress.set_cached(cached_);
    progress.set_best_seconds(best_seconds_);
    report_(progress);
  }

  const PlanProgressFunction& report_;
  int64_t total_;
  int64_t cached_;
  int64_t compiled_ = 0;
  int64_t finished_ = 0;
  int64_t compile_ns_ = 0;
  double best_seconds_ = 0;
};

void Report(const PlanProgressFunction& report, const char* phase, int64_t done,
            int64_t total, const std::string& message = "") {
  v1::PlanProgress progress;
  progress.set_phase(phase);
  progress.set_done(done);
  progress.set_total(total);
  progress.set_message(message);
  report(progress);
}

absl::Status MeasureMissing(const v1::PlanRequest& request,
                            const PlanDependencies& dependencies,
                            const PlanProgressFunction& report,
                            MeasuredStep& step) {
  v1::RunnerRequest batch;
  *batch.mutable_device() = DeviceOf(request, step.space.context.mesh);
  *batch.mutable_options() = step.space.context.options;
  for (const v1::Program& program : step.space.programs) {
    if (step.results.contains(program.key())) continue;
    *batch.add_programs() = program;
  }
  const int64_t cached = static_cast<int64_t>(step.results.size());
  step.programs.set_cached(static_cast<int>(cached));
  if (batch.programs().empty() || request.no_wait()) return absl::OkStatus();
  std::map<std::string, const v1::Program*> by_key;
  for (const v1::Program& program : batch.programs()) {
    by_key[program.key()] = &program;
  }
  MeasureProgress progress(report, batch.programs_size(), cached);
  absl::Status stored;
  store::Origin origin;
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) == 0) origin.host = host;
  int failed = 0;
  const absl::Status status = dependencies.measurer->Measure(
      batch,
      [&](const v1::ProfileResult& result) {
        progress.Finished(result);
        origin.recorded = std::chrono::system_clock::now();
        if (stored.ok()) {
          stored = dependencies.store->Record(result, origin);
          if (stored.ok()) {
            stored = dependencies.store->RecordProgram(
                result.key(), by_key.at(result.key())->hlo_module());
          }
        }
        step.results[result.key()] = result;
        if (result.outcome() != v1::MEASURED) {
          ++failed;
          step.notes.push_back(absl::StrCat(
              by_key.at(result.key())->label(), ": ",
              v1::Outcome_Name(result.outcome()), ", ", result.reason()));
        }
      },
      [&](const v1::RunnerEvent::Started& started) {
        progress.Started(started);
      });
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(stored);
  step.programs.set_profiled(batch.programs_size() - failed);
  step.programs.set_failed(failed);
  step.seconds.set_compile(static_cast<double>(progress.compile_ns()) * 1e-9);
  return absl::OkStatus();
}

void NoteReplicated(MeasuredStep& step) {
  const auto& strategies = step.analysis.strategies;
  const bool nothing =
      std::all_of(strategies.begin(), strategies.end(), [](const auto& set) {
        return set.strategies[0].kind == segmenter::StrategyKind::kReplicated;
      });
  if (!nothing) return;
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
    if (!configuration.strategies.empty()) {
      for (const auto& name : absl::StrSplit(configuration.describe, ", ")) {
        segment.add_strategies(std::string(name));
      }
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
  options.set_version(1);
  options.set_warm_up_runs(2);
  options.set_minimum_samples(12);
  options.set_minimum_passes(4);
  options.set_maximum_samples(60);
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
  ASSIGN_OR_RETURN(step.analysis, segmenter::Analyze(std::move(module), mesh));
  ASSIGN_OR_RETURN(step.device,
                   dependencies.measurer->Describe(DeviceOf(request, mesh)));
  space::KeyContext context;
  context.mesh = mesh;
  context.device_kind = step.device.device_kind;
  context.platform_version = step.device.platform_version;
  context.options = DefaultMeasureOptions();
  step.space = BuildProfileSpace(step.analysis, context);
  step.programs.set_total(step.space.segment_programs +
                          step.space.resharding_programs);
  step.programs.set_distinct(static_cast<int>(step.space.programs.size()));
  std::vector<std::string> keys;
  for (const v1::Program& program : step.space.programs) {
    keys.push_back(program.key());
  }
  ASSIGN_OR_RETURN(step.results, dependencies.store->Lookup(keys));
  // A program that does not compile never will; one that crashed or timed out
  // may have met a bad moment of its machine.
  absl::erase_if(step.results, [](const auto& row) {
    return row.second.outcome() == v1::CRASHED ||
           row.second.outcome() == v1::TIMED_OUT;
  });
  Report(progress, "analyze", 1, 1,
         absl::StrCat(step.space.programs.size(), " programs, ",
                      step.results.size(), " known"));
  step.seconds.set_analyze(watch.Lap());

  RETURN_IF_ERROR(MeasureMissing(request, dependencies, progress, step));
  NoteReplicated(step);
  std::optional<int64_t> limit;
  if (request.device_memory_bytes() > 0) limit = request.device_memory_bytes();
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

absl::StatusOr<v1::Plan> MakePlan(const v1::PlanRequest& request,
                                  const PlanDependencies& dependencies,
                                  const PlanProgressFunction& progress) {
  Stopwatch total;
  ASSIGN_OR_RETURN(MeasuredStep step,
                   MeasureStep(request, dependencies, progress));
  Stopwatch watch;
  Report(progress, "search", 0, 1);
  ASSIGN_OR_RETURN(const search::Answer answer,
                   search::Solve(step.measured.problem));
  v1::Plan plan;
  plan.set_schema_version(kSchemaVersion);
  plan.mutable_model()->set_fingerprint(base::Sha256Hex(request.hlo_module()));
  plan.mutable_model()->set_name(request.model_name());
  for (int64_t size : step.space.context.mesh) plan.add_mesh(size);
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
  step.seconds.set_search(watch.Lap());
  step.seconds.set_total(total.Lap());
  *plan.mutable_seconds() = step.seconds;
  Report(progress, "search", 1, 1);
  return plan;
}

}  // namespace meshwright::service
