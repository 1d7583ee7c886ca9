#include "cli/local/plan_function.h"

#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/stages/staged_plan.h"

namespace meshwright::cli {

service::PlanFunction MakePlanFunction(store::ProfileStore* store) {
  return [store](const v1::PlanRequest& request, jobs::Measurer* measurer,
                 const jobs::ProgressFunction& progress) {
    return request.has_stages()
               ? stages::MakeStagedPlan(request, {store, measurer}, progress)
               : planning::MakePlan(request, {store, measurer}, progress);
  };
}

}  // namespace meshwright::cli
