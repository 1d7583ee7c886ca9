#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "coordinator/service/services.h"
#include "coordinator/service/unary_answer.h"
#include "proto/v1/plans.grpc.pb.h"

namespace meshwright::service {
namespace {

constexpr size_t kMaxModuleBytes = size_t{512} << 20;

// One module that comes in chunks. It deletes itself in OnDone.
class ModulePut : public grpc::ServerReadReactor<v1::ModuleChunk> {
 public:
  ModulePut(store::ProfileStore* profiles, base::ThreadPool* calls,
            v1::PutModuleResponse* response)
      : profiles_(profiles), calls_(calls), response_(response) {
    StartRead(&chunk_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      calls_->Post([this] { Finish(ToRpc(Keep())); });
      return;
    }
    if (sha256_.empty()) sha256_ = chunk_.sha256();
    if (module_.size() + chunk_.data().size() > kMaxModuleBytes) {
      Finish(ToRpc(absl::ResourceExhaustedError(absl::StrCat(
          "the module is larger than ", kMaxModuleBytes >> 20, " MiB"))));
      return;
    }
    module_.append(chunk_.data());
    StartRead(&chunk_);
  }
  void OnDone() override { delete this; }

 private:
  absl::Status Keep() {
    if (base::Sha256Hex(module_) != sha256_) {
      return absl::InvalidArgumentError(
          "the chunks are not the module that the first of them names; put it "
          "again");
    }
    response_->set_bytes(static_cast<int64_t>(module_.size()));
    return profiles_->RecordProgram(sha256_, module_);
  }

  store::ProfileStore* const profiles_;
  base::ThreadPool* const calls_;
  v1::PutModuleResponse* const response_;
  v1::ModuleChunk chunk_;
  std::string sha256_;
  std::string module_;
};

class ModulesService : public v1::Modules::CallbackService {
 public:
  ModulesService(store::ProfileStore* profiles, base::ThreadPool* calls)
      : profiles_(profiles), calls_(calls) {}

  grpc::ServerUnaryReactor* Has(grpc::CallbackServerContext* context,
                                const v1::HasModuleRequest* request,
                                v1::HasModuleResponse* response) override {
    return AnswerUnary(
        calls_, context, response,
        [this, request]() -> absl::StatusOr<v1::HasModuleResponse> {
          v1::HasModuleResponse response;
          ASSIGN_OR_RETURN(const bool has,
                           profiles_->HasProgram(request->sha256()));
          response.set_has(has);
          return response;
        });
  }

  grpc::ServerReadReactor<v1::ModuleChunk>* Put(
      grpc::CallbackServerContext* /*context*/,
      v1::PutModuleResponse* response) override {
    return new ModulePut(profiles_, calls_, response);
  }

 private:
  store::ProfileStore* const profiles_;
  base::ThreadPool* const calls_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewModulesService(store::ProfileStore* profiles,
                                                 base::ThreadPool* calls) {
  return std::make_unique<ModulesService>(profiles, calls);
}

}  // namespace meshwright::service
