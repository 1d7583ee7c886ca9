#include "coordinator/validation/validate_plan.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/jobs/progress.h"
#include "coordinator/validation/evidence.h"
#include "coordinator/validation/other_inputs.h"
#include "coordinator/validation/reference.h"
#include "coordinator/validation/report.h"

namespace meshwright::validation {
namespace {

constexpr char kOtherDevices[] =
    "the plan was measured on other devices than these: it is predicted from "
    "its segments as measured here, and has no error as planned; validate it "
    "where it was made to see that error";

absl::StatusOr<Results> Compare(const v1::CompareRequest& request,
                                jobs::Measurer* measurer,
                                const jobs::ProgressFunction& on_progress) {
  v1::RunnerRequest run;
  *run.mutable_device() = request.device();
  *run.mutable_options() = request.options();
  *run.mutable_reference() = request.reference();
  *run.mutable_programs() = request.programs();
  Results results;
  RETURN_IF_ERROR(jobs::MeasureWithProgress(
      measurer, run,
      [&](const v1::ProfileResult& result) {
        results[result.key()] = result;
        return absl::OkStatus();
      },
      on_progress));
  return results;
}

}  // namespace

absl::Status ValidatePlan(const ValidationRequest& request,
                          store::ProfileStore* store, jobs::Measurer* measurer,
                          const ValidationListener& listener) {
  ASSIGN_OR_RETURN(
      Validation validation,
      PrepareValidation(request, store, measurer, listener.progress));
  if (validation.plans.empty()) {
    return absl::InternalError("the validation holds no plan");
  }
  if (!validation.on_plans_devices) listener.note(kOtherDevices);
  const auto compare = [&](const v1::CompareRequest& it) {
    return Compare(it, measurer, listener.progress);
  };
  ASSIGN_OR_RETURN(const Compared compared,
                   CompareWithFirstThatFits(validation, compare));
  const std::vector<std::string> differing =
      ListDiffering(validation.request, compared.results, validation.tolerance);
  Results on_others;
  if (!differing.empty()) {
    absl::StatusOr<Results> results =
        compare(MakeOtherInputs(validation.request, differing));
    if (absl::IsCancelled(results.status())) return results.status();
    if (results.ok()) {
      on_others = *std::move(results);
    } else {  // what was compared is reported all the same
      listener.note(absl::StrCat(
          "the outputs that differ were not compared on other inputs: ",
          results.status().message()));
    }
  }
  listener.report(
      MakeReport(validation, compared.results, on_others, compared.reference));
  return RecordEvidence(validation.probes, compared.results, validation.machine,
                        store);
}

}  // namespace meshwright::validation
