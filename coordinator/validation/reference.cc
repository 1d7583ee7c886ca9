#include "coordinator/validation/reference.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::validation {
namespace {

std::optional<v1::Program> FindProgram(const v1::CompareRequest& request,
                                       const std::string& key) {
  for (const v1::Program& program : request.programs()) {
    if (program.key() == key) return program;
  }
  return std::nullopt;
}

// A result that says the comparison did not run, as its reference needs more
// memory than its devices have.
const v1::ProfileResult* FindRefusal(const Results& results) {
  for (const auto& [key, result] : results) {
    if (result.reference_too_large()) return &result;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<Compared> CompareWithFirstThatFits(Validation& validation,
                                                  const Comparer& compare) {
  Compared compared{.reference = kOneDevice};
  ASSIGN_OR_RETURN(compared.results, compare(validation.request));
  for (const int number : validation.baselines) {
    if (FindRefusal(compared.results) == nullptr) break;
    const ValidationPlan& baseline = validation.plans[number];
    auto program = FindProgram(validation.request, baseline.key);
    if (!program.has_value()) continue;
    compared.reference = baseline.name;
    // Of its own: the program of this key is compared as well.
    program->set_key(absl::StrCat(baseline.key, " as reference"));
    program->set_label("reference");
    *validation.request.mutable_reference() = *std::move(program);
    ASSIGN_OR_RETURN(compared.results, compare(validation.request));
  }
  if (const auto* refusal = FindRefusal(compared.results)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("neither one device nor a baseline holds the step that "
                     "the plans are compared with: ",
                     refusal->reason()));
  }
  return compared;
}

}  // namespace meshwright::validation
