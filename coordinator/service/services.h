// The gRPC services, as the coordinator puts them into its server.
//
// Ownership: what the arguments point to outlives the services, and the server
// is shut down before the services go.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_SERVICES_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_SERVICES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/thread_pool.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/jobs/queue_measurer.h"
#include "coordinator/plans/leadership.h"
#include "coordinator/plans/plan_questions.h"
#include "coordinator/plans/plan_runner.h"
#include "coordinator/resharding/answer_cache.h"
#include "coordinator/security/guard.h"
#include "coordinator/service/call_slots.h"
#include "coordinator/service/prediction_observer.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan_record.pb.h"

namespace grpc {
class Service;
}  // namespace grpc

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
  store::ProfileStore* profiles = nullptr;  // has the modules that were put
  const base::Clock* clock = nullptr;
};

// For a call that has programs measured. Errors: kUnavailable while the
// coordinator drains, those of CallSlots::Take and Leadership::CheckLeads.
absl::StatusOr<CallSlots::Slot> TakeMeasuringSlot(
    const ServiceContext& context);

// Of one run for a plan that is done, on devices like those that it was made
// for, where it names them.
jobs::QueueMeasurer NewPlanMeasurer(const ServiceContext& context,
                                    const v1::PlanRecord& plan,
                                    std::stop_token stop);

std::unique_ptr<grpc::Service> NewPlanningService(
    const ServiceContext& context);

std::unique_ptr<grpc::Service> NewPlansService(const ServiceContext& context,
                                               plans::PlanQuestions questions);

// `import_bytes`: of a file of measurements, at the most.
std::unique_ptr<grpc::Service> NewProfilesService(
    const ServiceContext& context, int64_t import_bytes,
    plans::PlanQuestions questions);

std::unique_ptr<grpc::Service> NewModulesService(store::ProfileStore* profiles,
                                                 base::ThreadPool* calls,
                                                 const security::Guard* guard);

// Workers and jobs are the leader's: elsewhere every call gives kUnavailable.
std::unique_ptr<grpc::Service> NewAdminService(
    jobs::JobQueue* queue, plans::PlanRunner* runner, base::ThreadPool* calls,
    const plans::Leadership* leadership);

// A coordinator that does not lead sends workers away: kUnavailable, with the
// leader's address in the status' details.
std::unique_ptr<grpc::Service> NewWorkersService(
    jobs::JobQueue* queue, const security::Guard* guard,
    const plans::Leadership* leadership);

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_SERVICES_H_
