#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/fingerprint.h"
#include "base/rpc/idle_limit.h"
#include "base/status_macros.h"
#include "coordinator/service/caller_slots.h"
#include "coordinator/service/plan_access.h"
#include "coordinator/service/server_credentials.h"
#include "coordinator/service/services.h"
#include "coordinator/service/unary_answer.h"
#include "proto/v1/plans.grpc.pb.h"

namespace meshwright::service {
namespace {

constexpr size_t kMaxModuleBytes = size_t{512} << 20;

// The bytes of all modules that are on their way, bounded. Whoever has some
// gives them back when it goes.
class UploadBudget {
 public:
  class Share {
   public:
    explicit Share(UploadBudget* budget) : budget_(budget) {}
    ~Share() { Clear(); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // kResourceExhausted where that many are not left; the share is as before.
    absl::Status Grow(int64_t bytes) {
      if (budget_->taken_.fetch_add(bytes) + bytes > budget_->maximum_) {
        budget_->taken_ -= bytes;
        return absl::ResourceExhaustedError(absl::StrCat(
            "the modules that others put fill the ", budget_->maximum_,
            " bytes that this coordinator has "
            "for them; put it again in a minute"));
      }
      bytes_ += bytes;
      return absl::OkStatus();
    }
    void Clear() {
      if (bytes_ > 0) budget_->taken_ -= std::exchange(bytes_, 0);
    }

   private:
    UploadBudget* const budget_;
    int64_t bytes_ = 0;
  };

  explicit UploadBudget(int64_t maximum) : maximum_(maximum) {}

 private:
  const int64_t maximum_;
  std::atomic<int64_t> taken_ = 0;
};

// A capacity for `needed` bytes of a module that has `stated` in the end: the
// whole once a sixteenth is there, since an allocator may keep what a growing
// string leaves behind, and before that a power of two below it.
size_t ChooseCapacity(size_t needed, size_t stated) {
  if (needed > stated / 16) return std::max(needed, stated);
  size_t capacity = stated / 16;
  while (capacity / 2 >= needed) capacity /= 2;
  return capacity;
}

// One module that comes in chunks. It holds itself until gRPC is done with it;
// the limit, which may end it later, holds it weakly.
class ModulePut : public grpc::ServerReadReactor<v1::ModuleChunk> {
 public:
  struct Terms {
    plans::PlanRunner* runner;
    base::ThreadPool* calls;
    const security::Guard* guard;
    UploadBudget* budget;
    std::string name_space;
    plans::PlanQuota quota;
    absl::Duration patience;  // for the next chunk
  };

  static ModulePut* Begin(const Terms& terms, security::Call call,
                          const absl::StatusOr<CallSlots::Slot>& slot,
                          v1::PutModuleResponse* response) {
    auto put = std::make_shared<ModulePut>(terms, std::move(call), response);
    put->self_ = put;
    if (!slot.ok()) {
      put->End(slot.status());
      return put.get();
    }
    put->slot_ = *slot;
    put->LimitIdleTime();
    put->StartRead(&put->chunk_);
    return put.get();
  }

  ModulePut(const Terms& terms, security::Call call,
            v1::PutModuleResponse* response)
      : terms_(terms),
        call_(std::move(call)),
        response_(response),
        share_(terms.budget) {}

  void OnReadDone(bool ok) override {
    if (!ok) {
      idle_->Note();  // what is left is done here
      if (!is_ended_) {
        terms_.calls->Post([put = self_] { put->EndReading(put->Keep()); });
      }
      return;
    }
    const absl::Status status = Take();
    if (status.ok()) {
      idle_->Await();
      StartRead(&chunk_);
    } else {
      EndReading(status);
    }
  }
  void OnDone() override {
    share_.Clear();  // the limit may hold this longer than the service lives
    self_.reset();
  }

 private:
  void LimitIdleTime() {
    idle_ = std::make_unique<base::IdleLimit>(terms_.patience, self_, [this] {
      End(absl::DeadlineExceededError(absl::StrCat(
          "no chunk of the module came for ",
          absl::FormatDuration(terms_.patience), "; put it again")));
    });
    idle_->Await();
  }

  absl::Status Take() {
    RETURN_IF_ERROR(terms_.guard->MayGoOn(call_));
    if (!chunk_.data().empty()) idle_->Note();
    if (sha256_.empty()) sha256_ = chunk_.sha256();
    const size_t stated = std::max<int64_t>(chunk_.module_bytes(), 0);
    if (stated_ == 0) stated_ = stated;
    const size_t bytes = module_.size() + chunk_.data().size();
    const size_t maximum = std::min(
        kMaxModuleBytes,
        static_cast<size_t>(
            terms_.quota.limits.module_bytes.value_or(kMaxModuleBytes)));
    if (std::max(stated, bytes) > maximum) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "the module is larger than the ", maximum,
          " bytes that it may have here; ask the coordinator's administrator "
          "for a larger quota"));
    }
    RETURN_IF_ERROR(share_.Grow(static_cast<int64_t>(chunk_.data().size())));
    if (bytes > module_.capacity()) {
      module_.reserve(ChooseCapacity(bytes, stated_));
    }
    module_.append(chunk_.data());
    return absl::OkStatus();
  }

  absl::Status Keep() {
    if (base::Sha256Hex(module_) != sha256_) {
      return absl::InvalidArgumentError(
          "the chunks are not the module that the first of them names; put it "
          "again");
    }
    response_->set_bytes(static_cast<int64_t>(module_.size()));
    return terms_.runner->unclaimed().Put(terms_.name_space, sha256_, module_,
                                          terms_.quota.limits);
  }

  void EndReading(const absl::Status& status) {
    std::string().swap(module_);
    share_.Clear();
    End(status);
  }

  // The first call counts: a chunk may come while the time ends.
  void End(const absl::Status& status) {
    if (is_ended_.exchange(true)) return;
    slot_.reset();  // whoever sees the end may put the next one
    Finish(base::ToRpc(status));
  }

  const Terms terms_;
  const security::Call call_;
  v1::PutModuleResponse* const response_;
  std::shared_ptr<ModulePut> self_;
  CallSlots::Slot slot_;
  UploadBudget::Share share_;
  std::unique_ptr<base::IdleLimit> idle_;
  std::atomic<bool> is_ended_ = false;
  v1::ModuleChunk chunk_;
  std::string sha256_;
  size_t stated_ = 0;
  std::string module_;
};

class ModulesService : public v1::Modules::CallbackService {
 public:
  ModulesService(const ServiceContext& context, const ServerLimits& limits)
      : context_(context),
        patience_(limits.stream_idle),
        budget_(limits.upload_bytes) {}

  grpc::ServerUnaryReactor* Has(grpc::CallbackServerContext* context,
                                const v1::HasModuleRequest* request,
                                v1::HasModuleResponse* response) override {
    return AnswerUnary(
        context_, DescribeCall(*context, "/meshwright.v1.Modules/Has"), context,
        response, [this, request]() -> absl::StatusOr<v1::HasModuleResponse> {
          v1::HasModuleResponse response;
          ASSIGN_OR_RETURN(
              const std::optional<int64_t> bytes,
              context_.profiles->FindProgramBytes(request->sha256()));
          response.set_has(bytes.has_value());
          return response;
        });
  }

  grpc::ServerReadReactor<v1::ModuleChunk>* Put(
      grpc::CallbackServerContext* context,
      v1::PutModuleResponse* response) override {
    const security::Call call =
        DescribeCall(*context, "/meshwright.v1.Modules/Put");
    // A caller that is none is turned away elsewhere.
    const auto caller = context_.guard->Identify(call);
    const std::string name_space =
        caller.ok() ? FindNamespace(*caller) : store::kSharedPool;
    return ModulePut::Begin(
        {.runner = context_.runner,
         .calls = context_.calls,
         .guard = context_.guard,
         .budget = &budget_,
         .name_space = name_space,
         .quota = FindPlanQuota(*context_.guard, name_space),
         .patience = patience_},
        call, TakeStream(context_, call), response);
  }

 private:
  const ServiceContext context_;
  const absl::Duration patience_;
  UploadBudget budget_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewModulesService(const ServiceContext& context,
                                                 const ServerLimits& limits) {
  return std::make_unique<ModulesService>(context, limits);
}

}  // namespace meshwright::service
