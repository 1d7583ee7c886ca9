// ServiceContext: what the services of one coordinator share.
//
// Ownership: it outlives the services. Threads: what it points to is for any.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_SERVICE_CONTEXT_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_SERVICE_CONTEXT_H_

#include <atomic>
#include <string>

#include "base/clock.h"
#include "base/thread_pool.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/plans/leadership.h"
#include "coordinator/plans/plan_runner.h"
#include "coordinator/resharding/answer_cache.h"
#include "coordinator/security/guard.h"
#include "coordinator/service/call_slots.h"
#include "coordinator/service/prediction_observer.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::service {

struct ServiceContext {
  jobs::JobQueue* queue = nullptr;
  base::ThreadPool* calls = nullptr;
  plans::PlanRunner* runner = nullptr;
  const std::atomic<bool>* draining = nullptr;
  resharding::AnswerCache* reshardings = nullptr;
  const security::Guard* guard = nullptr;
  PredictionObserver* predictions = nullptr;  // null: none
  // Of several coordinators over one store; null: this is the only one.
  const plans::Leadership* leadership = nullptr;
  CallSlots* held = nullptr;          // of streams
  CallSlots* measurements = nullptr;  // of calls that have programs measured
  CallSlots* computations = nullptr;  // of others that take long
  CallSlots* answers = nullptr;       // of bytes that wait for their clients
  store::ProfileStore* profiles = nullptr;  // has the modules that were put
  const base::Clock* clock = nullptr;
  std::string name;  // as rows of the audit log name it; empty: it keeps none
};

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_SERVICE_CONTEXT_H_
