#include <grpcpp/grpcpp.h>

#include <iterator>
#include <stop_token>
#include <utility>

#include "absl/time/clock.h"
#include "base/fingerprint.h"
#include "base/rpc/channel.h"
#include "base/rpc/rpc_status.h"
#include "base/status_macros.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "proto/v1/plans.grpc.pb.h"
#include "tests/integration/soak_caller.h"

namespace meshwright::integration {
namespace {

using client::PlanningClient;

constexpr const char* kModels[] = {"t5_tiny", "scan_tiny", "convnet_tiny"};
constexpr int kKnownPlans = 4;  // of each model, beside new ones
constexpr absl::Duration kPlanTime = absl::Minutes(5);
constexpr int kModules = 8;            // that are put and never planned
constexpr size_t kCopies = 12;         // of a model, in such a module
constexpr int kKeys = 200;             // of a look-up
constexpr uint64_t kReaderSeed = 100;  // planners have their numbers
constexpr absl::Duration kUploadTime = absl::Seconds(30);

class Planner : public SoakCaller {
 public:
  Planner(SoakRecord* record, int number,
          std::unique_ptr<PlanningClient> client)
      : SoakCaller(record, number),
        number_(number),
        client_(std::move(client)) {}

  void Call() override {
    const auto submitted = client_->SubmitPlan(MakeRequest());
    record_.Expect(submitted.status(), "a submission");
    if (!submitted.ok()) return;
    const std::string id = submitted->id();
    switch (Below(6)) {
      case 0:
        Cancel(id);
        break;
      case 1:
        LeaveWatch(id);
        Cancel(id);
        break;
      default:
        break;
    }
    Await(id);
  }

 private:
  v1::SubmitPlanRequest MakeRequest() {
    v1::SubmitPlanRequest submission;
    v1::PlanRequest& request = *submission.mutable_request();
    const char* const model = kModels[Below(std::size(kModels))];
    request.set_model_name(model);
    request.set_hlo_module(segmenter::ReadSample(model));
    request.mutable_mesh()->add_shape(1);
    request.mutable_mesh()->add_shape(2);
    // Part of every key.
    request.set_xla_flags(absl::StrCat(
        "--xla_made_up=", Below(2) == 0
                              ? absl::StrCat("known.", Below(kKnownPlans))
                              : absl::StrCat("new.", number_, ".", plans_)));
    submission.set_timeout_ns(absl::ToInt64Nanoseconds(kPlanTime));
    submission.set_request_id(absl::StrCat(number_, ".", plans_++));
    return submission;
  }

  void Cancel(const std::string& id) {
    record_.Expect(client_->CancelPlan(id).status(), "a cancellation");
  }

  absl::Status Watch(const std::string& id, v1::PlanState* state,
                     std::stop_source* leave) {
    v1::WatchPlanRequest watch;
    watch.set_id(id);
    return client_->WatchPlan(
        watch,
        [&](const v1::PlanUpdate& update) {
          if (update.state() != v1::PLAN_STATE_UNSPECIFIED) {
            *state = update.state();
          }
          if (leave != nullptr) leave->request_stop();
        },
        leave != nullptr ? leave->get_token() : std::stop_token());
  }

  void LeaveWatch(const std::string& id) {
    // On the heap: GCC 12 takes one on the stack for uninitialized.
    const auto leave = std::make_unique<std::stop_source>();
    v1::PlanState state = v1::PLAN_STATE_UNSPECIFIED;
    const absl::Status left = Watch(id, &state, leave.get());
    if (!left.ok()) {
      record_.Expect(left, "a watch that was left",
                     absl::StatusCode::kCancelled);
    }
    record_.Count([](SoakTally& tally) { ++tally.left_watches; });
  }

  void Await(const std::string& id) {
    v1::PlanState state = v1::PLAN_STATE_UNSPECIFIED;
    record_.Expect(Watch(id, &state, nullptr), "a watch");
    if (state == v1::DONE) {
      record_.Expect(client_->GetPlan(id).status(), "a plan's look-up");
    }
    record_.Count([&](SoakTally& tally) {
      ++tally.plans;
      tally.done += state == v1::DONE ? 1 : 0;
      tally.cancelled += state == v1::CANCELLED ? 1 : 0;
    });
  }

  const int number_;
  const std::unique_ptr<PlanningClient> client_;
  int64_t plans_ = 0;
};

class Reader : public SoakCaller {
 public:
  Reader(SoakRecord* record, std::unique_ptr<PlanningClient> client,
         std::unique_ptr<PlanningClient> admin,
         const std::shared_ptr<grpc::Channel>& channel)
      : SoakCaller(record, kReaderSeed),
        client_(std::move(client)),
        admin_(std::move(admin)),
        modules_(v1::Modules::NewStub(channel)) {}

  void Call() override {
    if (Below(3) == 0) {
      Put();
      record_.Count([](SoakTally& tally) { ++tally.uploads; });
    } else {
      Read();
      record_.Count([](SoakTally& tally) { ++tally.reads; });
    }
  }

 private:
  std::string MakeModule() {
    std::string module = absl::StrCat("module ", Below(kModules));
    const std::string model = segmenter::ReadSample(kModels[0]);
    for (size_t i = 0; i < kCopies; ++i) module += model;
    return module;
  }

  // Whole, damaged, or half of it.
  void Put() {
    const std::string module = MakeModule();
    const std::string half = module.substr(0, module.size() / 2);
    const size_t kind = Below(4);
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + kUploadTime));
    v1::PutModuleResponse response;
    const auto writer = modules_->Put(&context, &response);
    v1::ModuleChunk chunk;
    chunk.set_sha256(base::Sha256Hex(module));
    chunk.set_module_bytes(static_cast<int64_t>(module.size()));
    chunk.set_data(half);
    writer->Write(chunk);
    if (kind == 0) {
      context.TryCancel();
    } else {
      chunk.Clear();
      chunk.set_data(kind == 1 ? half : module.substr(half.size()));
      writer->Write(chunk);
      writer->WritesDone();
    }
    const absl::Status status = base::FromRpc(writer->Finish());
    if (kind == 0) {
      record_.Expect(status, "a module that was left",
                     absl::StatusCode::kCancelled);
    } else if (kind == 1) {
      record_.Expect(status, "a damaged module",
                     absl::StatusCode::kInvalidArgument);
    } else {
      record_.Expect(status, "a module");
    }
  }

  void Read() {
    switch (Below(6)) {
      case 0:
        return record_.Expect(client_->ListPlans({}).status(), "plans");
      case 1:
        return record_.Expect(client_->ListWorkers().status(), "workers");
      case 2:
        return record_.Expect(client_->ListJobs().status(), "jobs");
      case 3:
        return record_.Expect(admin_->DescribeStore().status(), "the store");
      case 4:
        return Export();
      default:
        return LookUp();
    }
  }

  void LookUp() {
    v1::LookUpRequest request;
    for (int i = 0; i < kKeys; ++i) {
      request.add_keys(base::Sha256Hex(absl::StrCat("row ", Below(1000))));
    }
    record_.Expect(client_->LookUpRows(request).status(), "a look-up");
  }

  // Half of the time it leaves at the first bytes.
  void Export() {
    const bool leaves = Below(2) == 0;
    const auto take = [&](const std::string& /*data*/) {
      return leaves ? absl::AbortedError("enough") : absl::OkStatus();
    };
    const absl::Status status = admin_->ExportProfiles("", take, {}).status();
    if (!leaves || !absl::IsAborted(status)) {
      record_.Expect(status, "an export");
    }
  }

  const std::unique_ptr<PlanningClient> client_;
  const std::unique_ptr<PlanningClient> admin_;
  const std::unique_ptr<v1::Modules::Stub> modules_;
};

absl::StatusOr<std::unique_ptr<PlanningClient>> Connect(
    const std::string& address, const std::string& token) {
  return PlanningClient::Connect(address, {.token = token}, kSoakPatience);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SoakCaller>> MakePlanner(
    SoakRecord* record, int number, const std::string& address,
    const std::string& submit) {
  ASSIGN_OR_RETURN(auto client, Connect(address, submit));
  return std::make_unique<Planner>(record, number, std::move(client));
}

absl::StatusOr<std::unique_ptr<SoakCaller>> MakeReader(
    SoakRecord* record, const std::string& address, const std::string& submit,
    const std::string& admin) {
  ASSIGN_OR_RETURN(auto reading, Connect(address, submit));
  ASSIGN_OR_RETURN(auto administering, Connect(address, admin));
  ASSIGN_OR_RETURN(auto channel, base::OpenChannel(address, {.token = submit}));
  return std::make_unique<Reader>(record, std::move(reading),
                                  std::move(administering), channel);
}

}  // namespace meshwright::integration
