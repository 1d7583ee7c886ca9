#include "tests/integration/plan_outputs.h"

#include <map>
#include <random>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/export/whole_model.h"
#include "coordinator/ir/load/load.h"
#include "worker/sandbox/runner_process.h"

namespace meshwright {
namespace {

std::vector<exporting::NamedChoice> Plans(const segmenter::Analysis& analysis,
                                          const space::ProfileSpace& space,
                                          int random_plans, uint64_t seed) {
  std::vector<exporting::NamedChoice> plans =
      exporting::MakeBaselines(analysis, space);
  std::mt19937_64 random(seed);
  for (int i = 0; i < random_plans; ++i) {
    exporting::NamedChoice plan{"random", {}};
    for (segmenter::SegmentTypeId type : analysis.type_of_segment) {
      plan.choice.push_back(
          static_cast<int>(random() % space.types[type].configurations.size()));
    }
    // The first random plan keeps ends that fit nothing around them.
    if (i > 0) exporting::MakeConsistent(analysis, space, plan.choice);
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace

v1::RunnerRequest OneRun(const space::Mesh& mesh) {
  v1::RunnerRequest request;
  request.mutable_device()->set_platform("cpu");
  request.mutable_device()->set_device_count(
      static_cast<int>(space::CountDevices(mesh)));
  v1::MeasureOptions& options = *request.mutable_options();
  options.set_version(1);
  options.set_warm_up_runs(1);
  options.set_minimum_samples(1);
  options.set_maximum_samples(1);
  options.set_minimum_time_ns(1);
  return request;
}

absl::Status SetReference(const std::string& module,
                          v1::RunnerRequest& request) {
  ASSIGN_OR_RETURN(const auto source, ir::ParseModule(module));
  v1::Program& reference = *request.mutable_reference();
  reference.set_key("reference");
  reference.set_hlo_module(source.SerializeAsString());
  reference.set_num_partitions(1);
  *reference.mutable_inputs() = request.programs(0).inputs();
  return absl::OkStatus();
}

segmenter::StrategyRequest EverythingOpen() {
  segmenter::StrategyRequest request;
  request.open_outer_axes = true;
  request.switches = {segmenter::SegmentSwitch::kFullySharded,
                      segmenter::SegmentSwitch::kOptimizerSharded,
                      segmenter::SegmentSwitch::kSequence,
                      segmenter::SegmentSwitch::kRecompute};
  return request;
}

absl::StatusOr<OpenedStep> OpenForPlans(
    const std::string& module, const space::Mesh& mesh,
    const segmenter::StrategyRequest& request, int random_plans,
    uint64_t seed) {
  OpenedStep step;
  ASSIGN_OR_RETURN(ir::Module loaded, ir::LoadModule(module));
  ASSIGN_OR_RETURN(step.analysis,
                   segmenter::Analyze(std::move(loaded), mesh, request));
  space::KeyContext context;
  context.mesh = mesh;
  context.keeps_barriers = false;
  step.space = BuildProfileSpace(step.analysis, context);
  step.plans = Plans(step.analysis, step.space, random_plans, seed);
  return step;
}

absl::StatusOr<StepOutputs> RunPlans(const std::string& module,
                                     const space::Mesh& mesh,
                                     const segmenter::StrategyRequest& request,
                                     int random_plans, uint64_t seed) {
  ASSIGN_OR_RETURN(OpenedStep step,
                   OpenForPlans(module, mesh, request, random_plans, seed));
  StepOutputs out;
  v1::RunnerRequest job = OneRun(mesh);
  std::map<std::string, std::string> names;
  for (const exporting::NamedChoice& plan : step.plans) {
    v1::Program program =
        exporting::MakeWholeProgram(step.analysis, step.space, plan.choice);
    if (!names.emplace(program.key(), plan.name).second) continue;
    *job.add_programs() = std::move(program);
  }
  RETURN_IF_ERROR(SetReference(module, job));
  RETURN_IF_ERROR(worker::sandbox::RunBatch(
      job,
      [&](const v1::RunnerEvent& event) {
        if (!event.has_result()) return;
        out.plans.push_back({names[event.result().key()], event.result()});
      },
      {}));
  out.analysis = std::move(step.analysis);
  return out;
}

}  // namespace meshwright
