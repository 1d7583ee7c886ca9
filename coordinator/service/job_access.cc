#include "coordinator/service/job_access.h"

#include "coordinator/service/plan_access.h"

namespace meshwright::service {

v1::JobSummary ShowTo(const security::Caller& caller, v1::JobSummary job) {
  v1::PlanRecord plan;
  plan.set_namespace_(job.namespace_());
  if (CheckMaySee(caller, plan).ok()) return job;
  job.clear_owner();
  job.clear_namespace_();
  job.clear_model();
  job.clear_plan();
  job.clear_reason();
  return job;
}

}  // namespace meshwright::service
