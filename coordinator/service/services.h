// The gRPC services, as the coordinator puts them into its server.
//
// Ownership: what the arguments point to outlives the services, and the server
// is shut down before the services go.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_SERVICES_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_SERVICES_H_

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/thread_pool.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/jobs/queue_measurer.h"
#include "coordinator/plans/leadership.h"
#include "coordinator/plans/plan_questions.h"
#include "coordinator/security/guard.h"
#include "coordinator/service/server_limits.h"
#include "coordinator/service/service_context.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/plan_record.pb.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace meshwright::service {

// Of one run that the caller asks for, of a plan that is done, on devices like
// those that it was made for, where it names them. The caller is charged.
// Errors: those of Guard::Identify.
absl::StatusOr<jobs::QueueMeasurer> NewPlanMeasurer(
    const ServiceContext& context, const security::Call& call,
    const v1::PlanRecord& plan, std::stop_token stop);

// A coordinator that follows lists the workers that the leader has written.
// Jobs are the leader's, as with NewAdminService. A client that takes nothing
// of a watched plan, a run or a file for a while has its call cancelled, here
// and in the services below.
std::unique_ptr<grpc::Service> NewPlanningService(const ServiceContext& context,
                                                  const ServerLimits& limits);

std::unique_ptr<grpc::Service> NewReshardingService(
    const ServiceContext& context);

std::unique_ptr<grpc::Service> NewPlansService(const ServiceContext& context,
                                               const ServerLimits& limits,
                                               plans::PlanQuestions questions);

// A file of measurements that comes holds a stream, and ends as a module does.
std::unique_ptr<grpc::Service> NewProfilesService(
    const ServiceContext& context, const ServerLimits& limits,
    plans::PlanQuestions questions);

// A module that comes counts with the bytes that are there, and holds a stream.
// One that brings no chunk for a while ends with kDeadlineExceeded.
std::unique_ptr<grpc::Service> NewModulesService(const ServiceContext& context,
                                                 const ServerLimits& limits);

// Workers and jobs are the leader's: elsewhere what concerns them gives
// kUnavailable, with the leader's address in the status' details. The store is
// everybody's. `store`: its path or URL, of which backups are made; empty: it
// has none, and they are not implemented.
std::unique_ptr<grpc::Service> NewAdminService(const ServiceContext& context,
                                               const ServerLimits& limits,
                                               const std::string& store);

// A coordinator that does not lead sends workers away: kUnavailable, with the
// leader's address in the status' details. One that does not say who it is for
// `patience` is sent away with kDeadlineExceeded.
std::unique_ptr<grpc::Service> NewWorkersService(
    jobs::JobQueue* queue, const security::Guard* guard,
    const plans::Leadership* leadership, absl::Duration patience);

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_SERVICES_H_
