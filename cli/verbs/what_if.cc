#include "coordinator/explain/what_if.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "cli/flags/change_flags.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/links_file.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/stage_flags.h"
#include "cli/local/store.h"
#include "cli/text/difference_text.h"
#include "cli/text/format.h"
#include "cli/text/plan_text.h"
#include "cli/verbs/verbs.h"
#include "coordinator/explain/recall.h"
#include "worker/service/runner_batches.h"
#include "worker/service/worker.h"

namespace meshwright::cli {
namespace {

struct WhatIfFlags {
  std::string source;  // a plan or a model
  ChangeFlags change;
  std::string links;
  std::string store;
  std::string model;
  std::string output;
  StageFlags stages;
  DeviceFlags device;
};

// A plan is JSON; a module is not.
absl::StatusOr<std::optional<v1::Plan>> LoadIfPlan(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  const auto stripped = absl::StripLeadingAsciiWhitespace(text);
  if (stripped.empty() || stripped[0] != '{') return std::nullopt;
  ASSIGN_OR_RETURN(v1::Plan plan, LoadPlan(path));
  return plan;
}

// Estimated from the nearest mesh that the store knows.
absl::StatusOr<explain::WhatIfQuestion> AskOfModel(const WhatIfFlags& flags) {
  if (flags.change.mesh.empty() && flags.change.devices == 0) {
    return absl::InvalidArgumentError(
        "a model alone names no mesh; add --mesh or --devices, or give a plan");
  }
  explain::WhatIfQuestion question;
  v1::PlanRequest& request = question.request;
  ASSIGN_OR_RETURN(*request.mutable_hlo_module(), LoadModel(flags.source));
  request.set_model_name(ParseModelName(flags.source));
  request.mutable_mesh()->add_shape(1);
  request.mutable_mesh()->add_shape(1);
  ASSIGN_OR_RETURN(const v1::DeviceSpec device,
                   ToDeviceSpec(flags.device, 1, true));
  ASSIGN_OR_RETURN(const v1::RunnerEvent::Ready ready,
                   worker::DescribeDevices(device, worker::RunnerBatches()));
  question.device = {device.platform(),   ready.platform_version(),
                     ready.device_kind(), ready.device_count(),
                     ready.fingerprint(), ready.memory_bytes()};
  return question;
}

absl::Status ChangeLimitAndMesh(const WhatIfFlags& flags,
                                v1::PlanRequest& request) {
  ASSIGN_OR_RETURN(const v1::WhatIfChange change, ParseChange(flags.change));
  return explain::ApplyChange(change, request);
}

absl::Status ApplyFlags(const WhatIfFlags& flags,
                        explain::WhatIfQuestion* question) {
  v1::PlanRequest& request = question->request;
  RETURN_IF_ERROR(ChangeLimitAndMesh(flags, request));
  if (question->measured.empty()) {
    question->measured = explain::ListMeshesNear(request.mesh());
    question->measured.insert(question->measured.begin(), request.mesh());
  }
  if (!flags.links.empty()) {
    ASSIGN_OR_RETURN(question->links, LoadLinks(flags.links, request.mesh()));
  }
  return absl::OkStatus();
}

void Print(const Context& context, const std::optional<v1::Plan>& before,
           const v1::Plan& plan) {
  if (context.json) {
    nlohmann::ordered_json json = PlanToJson(plan);
    json["difference"] = nullptr;
    if (before.has_value()) {
      json["difference"] = DifferenceToJson(*before, plan);
    }
    *context.out << json.dump(2) << "\n";
    return;
  }
  *context.out << DescribePlan(plan);
  if (!before.has_value()) return;
  *context.out << "compared with the given plan\n"
               << DescribeDifference(*before, plan);
}

// From measurements on all meshes of the plan's cluster.
absl::StatusOr<v1::Plan> AnswerForStages(const WhatIfFlags& flags,
                                         const v1::Plan& plan,
                                         store::ProfileStore* store) {
  if (!flags.links.empty()) {
    return absl::InvalidArgumentError(
        "--links describes the axes of one mesh, but the plan has stages; use "
        "--bandwidth and --device-bandwidth");
  }
  ASSIGN_OR_RETURN(std::string model, FindModel(plan, flags.model, store));
  ASSIGN_OR_RETURN(explain::WhatIfQuestion question,
                   explain::AskOfPlan(plan, std::move(model)));
  RETURN_IF_ERROR(ChangeLimitAndMesh(flags, question.request));
  RETURN_IF_ERROR(
      TakeStageTerms(flags.stages, question.request.mutable_stages()));
  return explain::RecallStagedPlan(question.request, question.device, store);
}

absl::StatusOr<v1::Plan> AnswerForMesh(const WhatIfFlags& flags,
                                       const std::optional<v1::Plan>& before,
                                       store::ProfileStore* store) {
  if (HasStageTerms(flags.stages)) {
    return absl::InvalidArgumentError(absl::StrCat(
        flags.source,
        " is no plan with stages, which micro-batches, schedule and bandwidths "
        "belong to; make one with `meshwright plan --stages`"));
  }
  explain::WhatIfQuestion question;
  if (before.has_value()) {
    ASSIGN_OR_RETURN(std::string model, FindModel(*before, flags.model, store));
    ASSIGN_OR_RETURN(question, explain::AskOfPlan(*before, std::move(model)));
  } else {
    ASSIGN_OR_RETURN(question, AskOfModel(flags));
  }
  RETURN_IF_ERROR(ApplyFlags(flags, &question));
  return explain::AnswerWhatIf(question, store);
}

absl::Status WhatIf(const Context& context, const WhatIfFlags& flags) {
  ASSIGN_OR_RETURN(const std::optional<v1::Plan> before,
                   LoadIfPlan(flags.source));
  if (!flags.output.empty()) RETURN_IF_ERROR(CheckWritable(flags.output));
  ASSIGN_OR_RETURN(const std::unique_ptr<store::ProfileStore> store,
                   OpenExistingStore(flags.store));
  const absl::Time start = context.clock->Now();
  auto plan = before.has_value() && before->has_pipeline()
                  ? AnswerForStages(flags, *before, store.get())
                  : AnswerForMesh(flags, before, store.get());
  if (!plan.ok()) return NameModel(plan.status(), flags.source);
  plan->mutable_seconds()->set_total(
      absl::ToDoubleSeconds(context.clock->Now() - start));
  if (!flags.output.empty()) {
    RETURN_IF_ERROR(base::WriteFile(flags.output, PlanToJsonText(*plan)));
    *context.err << "wrote " << flags.output << "\n";
  }
  Print(context, before, *plan);
  return absl::OkStatus();
}

}  // namespace

void AddWhatIfVerb(CLI::App& app, Context& context) {
  const auto [verb, flags] = AddVerb(
      app, context, "what-if",
      "plan for another memory limit, mesh or links without measuring", WhatIf);
  verb->add_option("plan", flags->source,
                   "a plan written by plan -o, or a model")
      ->required();
  AddChangeFlags(*verb, &flags->change);
  verb->add_option(
      "--links", flags->links,
      "alpha and beta of every mesh axis as JSON, or a cluster file");
  verb->add_option("--store", flags->store,
                   "profile store (default: in the user's data folder)");
  verb->add_option("--model", flags->model,
                   "the plan's model, if the store does not hold it");
  verb->add_option("-o,--output", flags->output, "file to write the plan to");
  for (CLI::Option* const it : AddStageTerms(*verb, &flags->stages)) {
    it->group("For a plan with stages");
  }
  AddDeviceFlags(*verb, &flags->device);
}

}  // namespace meshwright::cli
