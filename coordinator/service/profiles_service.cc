#include <grpcpp/grpcpp.h>

#include <memory>

#include "coordinator/service/services.h"
#include "coordinator/service/unary_answer.h"
#include "proto/v1/profiles.grpc.pb.h"

namespace meshwright::service {
namespace {

class ProfilesService : public v1::Profiles::CallbackService {
 public:
  ProfilesService(plans::PlanRunner* runner, base::ThreadPool* calls)
      : runner_(runner), calls_(calls) {}

  grpc::ServerUnaryReactor* Coverage(grpc::CallbackServerContext* context,
                                     const v1::CoverageRequest* request,
                                     v1::CoverageReport* report) override {
    return AnswerUnary(calls_, context, report,
                       [this, request] { return runner_->Cover(*request); });
  }

 private:
  plans::PlanRunner* const runner_;
  base::ThreadPool* const calls_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewProfilesService(plans::PlanRunner* runner,
                                                  base::ThreadPool* calls) {
  return std::make_unique<ProfilesService>(runner, calls);
}

}  // namespace meshwright::service
