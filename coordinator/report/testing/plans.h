// Small plans for the tests of reports and traces, with figures that add up.
#ifndef MESHWRIGHT_COORDINATOR_REPORT_TESTING_PLANS_H_
#define MESHWRIGHT_COORDINATOR_REPORT_TESTING_PLANS_H_

#include "coordinator/explain/plan_basis.h"
#include "proto/v1/plan.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::report {

// Three segments of 30, 40 and 50 ms on a mesh 1x2; 4 ms of each are
// communication, and the last two have 2 ms of resharding.
v1::Plan MakeMeshPlan();

// Its segments hold 100 bytes, save 10 and take 1 while they run. One program,
// which all-reduces 1 KiB.
explain::PlanBasis MakeBasis(const v1::Plan& plan);

// Two stages on a device each, four micro-batches by 1f1b; a quarter of a
// stage's time is communication.
v1::Plan MakeStagedPlan();

// Each pass took so many times as long as the plan predicts.
v1::StagedValidationReport MakeStagedValidation(const v1::Plan& plan,
                                                double factor);

}  // namespace meshwright::report

#endif  // MESHWRIGHT_COORDINATOR_REPORT_TESTING_PLANS_H_
