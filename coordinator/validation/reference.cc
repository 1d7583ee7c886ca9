#include "coordinator/validation/reference.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace meshwright::validation {
namespace {

std::optional<v1::Program> FindProgram(const v1::CompareRequest& request,
                                       const std::string& key) {
  for (const v1::Program& program : request.programs()) {
    if (program.key() == key) return program;
  }
  return std::nullopt;
}

}  // namespace

bool IsReferenceTooLarge(const absl::Status& status) {
  return absl::StrContains(status.message(),
                           "the reference run needs more memory than");
}

absl::StatusOr<Compared> CompareWithFirstThatFits(Validation& validation,
                                                  const Comparer& compare) {
  std::string name = kOneDevice;
  absl::StatusOr<Results> results = compare(validation.request);
  for (const int number : validation.baselines) {
    if (results.ok() || !IsReferenceTooLarge(results.status())) break;
    const ValidationPlan& baseline = validation.plans[number];
    auto program = FindProgram(validation.request, baseline.key);
    if (!program.has_value()) continue;
    name = baseline.name;
    // Of its own: the program of this key is compared as well.
    program->set_key(absl::StrCat(baseline.key, " as reference"));
    program->set_label("reference");
    *validation.request.mutable_reference() = *std::move(program);
    results = compare(validation.request);
  }
  if (!results.ok()) return results.status();
  return Compared{*std::move(results), name};
}

}  // namespace meshwright::validation
