#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/interrupt.h"
#include "base/rpc/local_address.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/plan_file.h"
#include "cli/local/cluster.h"
#include "cli/local/local_devices.h"
#include "cli/local/store.h"
#include "cli/text/progress.h"
#include "cli/text/validation_text.h"
#include "cli/verbs/verbs.h"
#include "coordinator/validation/prepare.h"
#include "coordinator/validation/reference.h"
#include "coordinator/validation/report.h"
#include "coordinator/validation/staged_report.h"
#include "coordinator/validation/staged_validation.h"
#include "coordinator/validation/validate_plan.h"
#include "coordinator/validation/validate_staged_plan.h"
#include "worker/sandbox/runner_process.h"
#include "worker/service/runner_batches.h"
#include "worker/service/worker.h"

namespace meshwright::cli {
namespace {

struct ValidateFlags {
  std::string model;
  std::string plan;
  std::string store;
  int random = 0;
  uint64_t seed = 0;
  DeviceFlags devices;
};

absl::StatusOr<validation::StagedResults> RunSequence(
    const v1::RunnerRequest& request, const std::stop_token& stop) {
  validation::StagedResults results;
  worker::sandbox::RunOptions options;
  options.stop = stop;
  const absl::Status status = worker::sandbox::RunBatch(
      request,
      [&](const v1::RunnerEvent& event) {
        if (event.has_result()) {
          v1::ProfileResult& result = results.modules[event.result().key()];
          result = event.result();
          // No coordinator handed it out, and says where it ran.
          result.set_host(base::ReadHostName());
          result.set_worker(worker::MakeWorkerName());
        }
        if (!event.has_compared()) return;
        const auto& all = event.compared().relative_differences();
        results.differences.assign(all.begin(), all.end());
      },
      options);
  RETURN_IF_ERROR(status);
  return results;
}

absl::Status ValidateStaged(const Context& context, const ValidateFlags& flags,
                            const v1::Plan& plan) {
  if (flags.random > 0) {
    return absl::InvalidArgumentError(
        "random plans have no stages; leave out --random");
  }
  ASSIGN_OR_RETURN(const std::string model, LoadModel(flags.model));
  ASSIGN_OR_RETURN(
      const v1::DeviceSpec device,
      TakeLocalDevices(flags.devices, validation::CountStageDevices(plan)));
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const std::unique_ptr<store::ProfileStore> store,
                   OpenNamedStore(flags.store));
  v1::StagedValidationReport report;
  const absl::Status status = validation::ValidateStagedPlan(
      model, plan, device, store.get(),
      {.run =
           [&](const v1::RunnerRequest& request) {
             return RunSequence(request, interrupt.token());
           },
       .describe = [&]() -> absl::StatusOr<v1::DeviceFingerprint> {
         v1::DeviceSpec used = device;
         used.set_device_count(validation::CountStageDevices(plan));
         ASSIGN_OR_RETURN(
             const v1::RunnerEvent::Ready ready,
             worker::DescribeDevices(used, worker::RunnerBatches()));
         return ready.fingerprint();
       },
       .note = [&](const std::string& note) { *context.err << note << "\n"; },
       .report =
           [&](const v1::StagedValidationReport& it) {
             report = it;
             *context.out << FormatValidation(it, context.json);
           }});
  if (!status.ok()) return NameModel(status, flags.model);
  return validation::CheckOutputs(report);
}

absl::Status Validate(const Context& context, const ValidateFlags& flags) {
  validation::ValidationRequest request;
  ASSIGN_OR_RETURN(request.plan, LoadPlan(flags.plan));
  if (request.plan.has_pipeline()) {
    return ValidateStaged(context, flags, request.plan);
  }
  ASSIGN_OR_RETURN(request.hlo_module, LoadModel(flags.model));
  // The plan may come from anyone: its mesh is checked like one that is typed.
  ASSIGN_OR_RETURN(const v1::MeshSpec mesh,
                   ParseMesh(absl::StrJoin(request.plan.mesh(), "x")));
  ASSIGN_OR_RETURN(request.device,
                   TakeLocalDevices(flags.devices, CountDevices(mesh)));
  request.model_name = ParseModelName(flags.model);
  request.random_plans = flags.random;
  request.seed = flags.seed;

  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const std::unique_ptr<store::ProfileStore> store,
                   OpenNamedStore(flags.store));
  LocalCluster::Options options;
  options.clock = context.clock;
  options.store = store.get();
  options.devices = request.device;
  ASSIGN_OR_RETURN(const std::unique_ptr<LocalCluster> cluster,
                   LocalCluster::Start(std::move(options)));
  const auto measurer = cluster->coordinator().NewMeasurer(interrupt.token());
  ProgressDisplay display(context.err, context.terminal, context.clock);
  v1::ValidationReport report;
  RETURN_IF_ERROR(validation::ValidatePlan(
      request, store.get(), measurer.get(),
      {.progress =
           [&](const v1::PlanProgress& progress) { display.Show(progress); },
       .note =
           [&](const std::string& note) {
             display.Close();
             *context.err << note << "\n";
           },
       .report =
           [&](const v1::ValidationReport& it) {
             display.Close();
             report = it;
             *context.out << FormatValidation(it, context.json);
           }}));
  return validation::CheckReport(report);
}

}  // namespace

void AddValidateVerb(CLI::App& app, Context& context) {
  const auto [verb, flags] =
      AddVerb(app, context, "validate",
              "run the whole step with a plan and with baselines", Validate);
  verb->add_option("model", flags->model, "MODEL.hlo.pb, HLO text or StableHLO")
      ->required();
  verb->add_option("plan", flags->plan, "a plan written by plan -o")
      ->required();
  verb->add_option("--store", flags->store,
                   "profile store (default: in the user's data folder)");
  verb->add_option("--random", flags->random, "number of random plans to add")
      ->check(CLI::Range(0, 1000));
  verb->add_option("--seed", flags->seed, "seed of the random plans");
  AddDeviceFlags(*verb, &flags->devices);
}

}  // namespace meshwright::cli
