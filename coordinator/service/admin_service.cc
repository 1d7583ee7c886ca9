#include <grpcpp/grpcpp.h>

#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/service/rpc_status.h"
#include "coordinator/service/services.h"
#include "proto/v1/admin.grpc.pb.h"

namespace meshwright::service {
namespace {

// None of these waits for a disk, so all are answered on gRPC's threads.
class AdminService : public v1::Admin::CallbackService {
 public:
  explicit AdminService(jobs::JobQueue* queue) : queue_(queue) {}

  grpc::ServerUnaryReactor* DrainWorker(grpc::CallbackServerContext* context,
                                        const v1::WorkerRequest* request,
                                        v1::WorkerSummary* worker) override {
    return Order(context, *request, jobs::WorkerOrder::kDrain, worker);
  }
  grpc::ServerUnaryReactor* QuarantineWorker(
      grpc::CallbackServerContext* context, const v1::WorkerRequest* request,
      v1::WorkerSummary* worker) override {
    return Order(context, *request, jobs::WorkerOrder::kQuarantine, worker);
  }
  grpc::ServerUnaryReactor* ResumeWorker(grpc::CallbackServerContext* context,
                                         const v1::WorkerRequest* request,
                                         v1::WorkerSummary* worker) override {
    return Order(context, *request, jobs::WorkerOrder::kResume, worker);
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
  static grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                          Response* response,
                                          const Work& work) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    absl::StatusOr<Response> made = work();
    const absl::Status status = made.status();
    if (made.ok()) *response = *std::move(made);
    reactor->Finish(ToRpc(status));
    return reactor;
  }

  grpc::ServerUnaryReactor* Order(grpc::CallbackServerContext* context,
                                  const v1::WorkerRequest& request,
                                  jobs::WorkerOrder order,
                                  v1::WorkerSummary* worker) {
    return Answer(context, worker, [&] {
      return queue_->Order(request.worker(), order, request.reason());
    });
  }

  jobs::JobQueue* const queue_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewAdminService(jobs::JobQueue* queue) {
  return std::make_unique<AdminService>(queue);
}

}  // namespace meshwright::service
