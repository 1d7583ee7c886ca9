// What the verbs ask of the planning pipeline: the seam between the command
// line and coordinator/{ir,segmenter,space,export,service}.
//
// Errors: kInvalidArgument, one sentence, for a model or plan that is none.
#ifndef MESHWRIGHT_CLI_PLANNING_H_
#define MESHWRIGHT_CLI_PLANNING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/drift.h"
#include "coordinator/ir/module.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/service/coordinator.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/services.pb.h"

namespace meshwright::cli {

// The coordinator's plan function over `store`, which outlives it.
service::PlanFunction PlanWith(store::ProfileStore* store);

// The JSON of `analyze` (design, section 9).
absl::StatusOr<std::string> AnalyzeJson(const std::string& hlo_module,
                                        const v1::MeshSpec& mesh,
                                        const v1::StrategyRequest& strategies);

// The whole step as a serialized HloModuleProto in which every instruction
// carries the sharding the plan gives it. The plan's mesh has been checked.
absl::StatusOr<std::string> AnnotatedModel(const std::string& hlo_module,
                                           const v1::Plan& plan);

// How far outputs may differ: 1e-3 of the largest; where the step computes with
// 16 bits or fewer, 3e-2.
double ToleranceOf(const ir::Module& module);

// One plan of a validation: a program of its comparison.
struct ValidationPlan {
  std::string name;        // "chosen", "dp", "alpa-like", "random 3"
  std::string key;         // of its program; two plans may share one
  bool predicted = false;  // all of its programs were measured
  double predicted_seconds = 0;
  int64_t predicted_peak_bytes = 0;
};

struct Validation {
  v1::CompareRequest request;
  std::vector<ValidationPlan> plans;  // the chosen one first
  std::vector<Anchor> anchors;        // timed again by the request
  double tolerance = 0;
};

struct ValidationRequest {
  std::string hlo_module;
  std::string model_name;
  v1::Plan plan;
  int random_plans = 0;
  uint64_t seed = 0;
  v1::DeviceSpec device;
};

// The whole model annotated with the plan, the baselines and random plans.
// `measurer` fills gaps of the store. Where the plan was made under rules, the
// baselines are those of the step without rules, predicted if the store has
// what they need.
absl::StatusOr<Validation> PrepareValidation(
    const ValidationRequest& request, store::ProfileStore* store,
    jobs::Measurer* measurer, const service::ProgressFunction& progress);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_PLANNING_H_
