// Runs whole steps with plans beside the step on one device, once each.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_PLAN_OUTPUTS_H_
#define MESHWRIGHT_TESTS_INTEGRATION_PLAN_OUTPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/export/baselines.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/segmenter/strategy_request.h"
#include "coordinator/space/annotation/sharding.h"
#include "proto/v1/job.pb.h"

namespace meshwright {

// A step and the plans of it that a comparison takes.
struct OpenedStep {
  segmenter::Analysis analysis;
  space::ProfileSpace space;
  std::vector<exporting::NamedChoice> plans;
};

// The baselines and `random_plans` more. Errors: those of the analysis.
absl::StatusOr<OpenedStep> OpenForPlans(
    const std::string& module, const space::Mesh& mesh,
    const segmenter::StrategyRequest& request, int random_plans, uint64_t seed);

struct PlanOutputs {
  std::string plan;  // names of baselines, or "random"
  v1::ProfileResult result;
};

struct StepOutputs {
  segmenter::Analysis analysis;
  std::vector<PlanOutputs> plans;  // equal ones once
};

// Of the baselines and `random_plans` more. Errors: those of the analysis, and
// of the runner where the step does not run at all; a plan that does not is a
// row.
absl::StatusOr<StepOutputs> RunPlans(const std::string& module,
                                     const space::Mesh& mesh,
                                     const segmenter::StrategyRequest& request,
                                     int random_plans, uint64_t seed);

// For programs that run once.
v1::RunnerRequest OneRun(const space::Mesh& mesh);

// The module on one device, with the inputs of the request's first program.
absl::Status SetReference(const std::string& module,
                          v1::RunnerRequest& request);

// All switches and the outer axes.
segmenter::StrategyRequest EverythingOpen();

}  // namespace meshwright

#endif  // MESHWRIGHT_TESTS_INTEGRATION_PLAN_OUTPUTS_H_
