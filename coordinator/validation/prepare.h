// PrepareValidation: what a validation of a plan on one mesh runs.
//
// Concept: the whole model annotated with the plan, with baselines and with
// random plans, beside programs of its segments that are timed again (drift.h).
// The prediction of the plan is that of its file. Of another plan, it is the
// sum of the times in the file (planning/program_times.h). Programs without a
// time there count as the store's rows say, on the plan's time base; the
// prediction is then no older than the validation. The drift is relative to the
// same times. In -> Out: a model and a plan -> a comparison and what is
// predicted of it. Errors: kInvalidArgument, one sentence, for a model or plan
// that is none.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_PREPARE_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_PREPARE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/ir/module.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/validation/drift.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/services.pb.h"

namespace meshwright::validation {

// How far outputs may differ: 1e-3 of the largest; where the step computes with
// 16 bits or fewer, 3e-2.
double ChooseTolerance(const ir::Module& module);

// One plan of a validation: a program of its comparison.
struct ValidationPlan {
  std::string name;        // "chosen", "dp", "alpa-like", "random 3"
  std::string key;         // of its program; two plans may share one
  bool predicted = false;  // all of its programs were measured
  double predicted_seconds = 0;
  int64_t predicted_peak_bytes = 0;
  // The plan's file has all of its times: the prediction is as old as the plan.
  bool planned = true;
};

struct Validation {
  v1::CompareRequest request;
  std::vector<ValidationPlan> plans;  // the chosen one first
  std::vector<Probe> probes;          // timed again by the request
  double tolerance = 0;
  std::string machine;  // digest of the device fingerprint
  bool on_plans_devices = true;
  // Numbers of the plans that are baselines: what takes the reference's place
  // where no device holds the whole step (reference.h).
  std::vector<int> baselines;
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
    jobs::Measurer* measurer, const jobs::ProgressFunction& progress);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_PREPARE_H_
