#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "coordinator/service/server_credentials.h"
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
            v1::PutModuleResponse* response, size_t max_bytes)
      : profiles_(profiles),
        calls_(calls),
        response_(response),
        max_bytes_(max_bytes) {
    StartRead(&chunk_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      calls_->Post([this] { Finish(base::ToRpc(Keep())); });
      return;
    }
    if (sha256_.empty()) sha256_ = chunk_.sha256();
    const size_t stated = std::max<int64_t>(chunk_.module_bytes(), 0);
    if (std::max(stated, module_.size() + chunk_.data().size()) > max_bytes_) {
      Finish(base::ToRpc(absl::ResourceExhaustedError(absl::StrCat(
          "the module is larger than the ", max_bytes_,
          " bytes that it may have here; ask the coordinator's administrator "
          "for a larger quota"))));
      return;
    }
    module_.reserve(stated);  // one that grows takes twice its size
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
  const size_t max_bytes_;
  v1::ModuleChunk chunk_;
  std::string sha256_;
  std::string module_;
};

class ModulesService : public v1::Modules::CallbackService {
 public:
  ModulesService(store::ProfileStore* profiles, base::ThreadPool* calls,
                 const security::Guard* guard)
      : profiles_(profiles), calls_(calls), guard_(guard) {}

  grpc::ServerUnaryReactor* Has(grpc::CallbackServerContext* context,
                                const v1::HasModuleRequest* request,
                                v1::HasModuleResponse* response) override {
    return AnswerUnary(
        calls_, context, response,
        [this, request]() -> absl::StatusOr<v1::HasModuleResponse> {
          v1::HasModuleResponse response;
          ASSIGN_OR_RETURN(const std::optional<int64_t> bytes,
                           profiles_->FindProgramBytes(request->sha256()));
          response.set_has(bytes.has_value());
          return response;
        });
  }

  grpc::ServerReadReactor<v1::ModuleChunk>* Put(
      grpc::CallbackServerContext* context,
      v1::PutModuleResponse* response) override {
    return new ModulePut(
        profiles_, calls_, response,
        FindMaxBytes(DescribeCall(*context, "/meshwright.v1.Modules/Put")));
  }

 private:
  // A caller that is none is turned away elsewhere.
  size_t FindMaxBytes(const security::Call& call) const {
    const auto caller = guard_->Identify(call);
    if (!caller.ok()) return kMaxModuleBytes;
    const auto quota = guard_->FindQuota(
        caller->name_space.empty() ? store::kSharedPool : caller->name_space);
    return std::min(
        kMaxModuleBytes,
        static_cast<size_t>(quota.module_bytes.value_or(kMaxModuleBytes)));
  }

  store::ProfileStore* const profiles_;
  base::ThreadPool* const calls_;
  const security::Guard* const guard_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewModulesService(store::ProfileStore* profiles,
                                                 base::ThreadPool* calls,
                                                 const security::Guard* guard) {
  return std::make_unique<ModulesService>(profiles, calls, guard);
}

}  // namespace meshwright::service
