// The coordinator's plan function over a profile store.
#ifndef MESHWRIGHT_CLI_LOCAL_PLAN_FUNCTION_H_
#define MESHWRIGHT_CLI_LOCAL_PLAN_FUNCTION_H_

#include "coordinator/daemon/coordinator.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::cli {

// `store` outlives it.
service::PlanFunction MakePlanFunction(store::ProfileStore* store);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_LOCAL_PLAN_FUNCTION_H_
