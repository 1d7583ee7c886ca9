#include <grpcpp/grpcpp.h>

#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/service/rpc_status.h"
#include "coordinator/service/services.h"
#include "coordinator/service/unary_answer.h"
#include "proto/v1/admin.grpc.pb.h"

namespace meshwright::service {
namespace {

// What is asked of jobs waits for no disk, and is answered on gRPC's threads.
class AdminService : public v1::Admin::CallbackService {
 public:
  AdminService(jobs::JobQueue* queue, plans::PlanRunner* runner,
               base::ThreadPool* calls, const plans::Leadership* leadership)
      : queue_(queue),
        runner_(runner),
        calls_(calls),
        leadership_(leadership) {}

  grpc::ServerUnaryReactor* DrainWorker(grpc::CallbackServerContext* context,
                                        const v1::WorkerRequest* request,
                                        v1::WorkerSummary* worker) override {
    return Order(context, *request, v1::WorkerOrder::DRAIN, worker);
  }
  grpc::ServerUnaryReactor* QuarantineWorker(
      grpc::CallbackServerContext* context, const v1::WorkerRequest* request,
      v1::WorkerSummary* worker) override {
    return Order(context, *request, v1::WorkerOrder::QUARANTINE, worker);
  }
  grpc::ServerUnaryReactor* ResumeWorker(grpc::CallbackServerContext* context,
                                         const v1::WorkerRequest* request,
                                         v1::WorkerSummary* worker) override {
    return Order(context, *request, v1::WorkerOrder::RESUME, worker);
  }

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::JobRequest* request,
                                   v1::JobDetails* details) override {
    return Answer(context, details, [&]() -> absl::StatusOr<v1::JobDetails> {
      ASSIGN_OR_RETURN(const jobs::JobId id, jobs::ParseJobId(request->job()));
      return queue_->GetJob(id);
    });
  }
  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const v1::JobRequest* request,
                                      v1::JobSummary* job) override {
    return Answer(context, job, [&]() -> absl::StatusOr<v1::JobSummary> {
      ASSIGN_OR_RETURN(const jobs::JobId id, jobs::ParseJobId(request->job()));
      return queue_->EndJob(id, request->reason());
    });
  }
  grpc::ServerUnaryReactor* RetryJob(grpc::CallbackServerContext* context,
                                     const v1::JobRequest* request,
                                     v1::JobSummary* job) override {
    return Answer(context, job, [&]() -> absl::StatusOr<v1::JobSummary> {
      ASSIGN_OR_RETURN(const jobs::JobId id, jobs::ParseJobId(request->job()));
      return queue_->RetryJob(id);
    });
  }

 private:
  template <typename Response, typename Work>
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   Response* response, const Work& work) const {
    absl::Status status = plans::CheckHoldsWorkers(leadership_);
    if (status.ok()) {
      absl::StatusOr<Response> made = work();
      status = made.status();
      if (made.ok()) *response = *std::move(made);
    }
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(ToRpc(status));
    return reactor;
  }

  grpc::ServerUnaryReactor* Order(grpc::CallbackServerContext* context,
                                  const v1::WorkerRequest& request,
                                  v1::WorkerOrder::Kind kind,
                                  v1::WorkerSummary* worker) {
    v1::WorkerOrder order;
    order.set_worker(request.worker());
    order.set_kind(kind);
    order.set_reason(request.reason());
    return AnswerUnary(calls_, context, worker,
                       [this, order]() -> absl::StatusOr<v1::WorkerSummary> {
                         RETURN_IF_ERROR(plans::CheckHoldsWorkers(leadership_));
                         return runner_->Order(order);
                       });
  }

  jobs::JobQueue* const queue_;
  plans::PlanRunner* const runner_;
  base::ThreadPool* const calls_;
  const plans::Leadership* const leadership_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewAdminService(
    jobs::JobQueue* queue, plans::PlanRunner* runner, base::ThreadPool* calls,
    const plans::Leadership* leadership) {
  return std::make_unique<AdminService>(queue, runner, calls, leadership);
}

}  // namespace meshwright::service
