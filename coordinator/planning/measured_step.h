// MeasuredStep: the result of everything before the search, so that a
// validation can score other plans of the same step.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_MEASURED_STEP_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_MEASURED_STEP_H_

#include <string>
#include <vector>

#include "coordinator/estimation/time_base.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/problem/plan_problem.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::planning {

struct MeasuredStep {
  segmenter::Analysis analysis;
  space::ProfileSpace space;
  store::Results results;  // on one time base
  estimation::TimeBase time_base;
  formulation::MeasuredProblem measured;
  jobs::DeviceDescription device;
  v1::PlanPrograms programs;
  std::vector<v1::PlanEstimates> estimates;
  std::vector<v1::PlanPruned> pruned;
  v1::PlanSeconds seconds;
  std::vector<std::string> notes;
};

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_MEASURED_STEP_H_
