// MeasuredStep: the result of everything before the search, so that a
// validation can score other plans of the same step.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_MEASURED_STEP_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_MEASURED_STEP_H_

#include <set>
#include <string>
#include <vector>

#include "coordinator/estimation/estimate.h"
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
  store::Results rows;                 // as the store has them
  store::Results results;              // the same, on one time base
  std::set<std::string> measured_now;  // of these, keys that the store lacked
  estimation::TimeBase time_base;
  formulation::MeasuredProblem measured;
  jobs::DeviceDescription device;
  v1::PlanPrograms programs;
  std::vector<v1::PlanEstimates> estimates;
  // Of configurations without rows (verdicts.h).
  std::vector<v1::PlanExcluded> excluded;
  std::vector<v1::PlanNotReached> not_reached;
  std::vector<v1::PlanFailed> failed;
  estimation::Estimates low_ends;  // of those not reached
  std::vector<std::string> verdict_notes;
  int failed_programs = 0;  // that were run; programs.failed counts more
  v1::PlanSeconds seconds;
  std::vector<std::string> notes;
};

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_MEASURED_STEP_H_
