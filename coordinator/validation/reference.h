// Reference: what the outputs of a validation's plans are compared with.
//
// Concept: the module as it came, on one device. Where no single device holds
// the whole step, the first baseline that fits takes its place. It splits the
// step another way, by other programs, so a wrong plan still differs.
// In → Out: a validation and a way to run a comparison → its results, and the
// name of the reference.
// Errors: those of the run; kResourceExhausted where nothing fits.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_REFERENCE_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_REFERENCE_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/validation/prepare.h"

namespace meshwright::validation {

inline constexpr char kOneDevice[] = "one device";

// By key of their programs.
using Results = std::map<std::string, v1::ProfileResult>;
using Comparer =
    std::function<absl::StatusOr<Results>(const v1::CompareRequest&)>;

struct Compared {
  Results results;
  std::string reference;  // kOneDevice, or the name of a baseline
};

// Leaves the reference that fitted in `validation.request`.
absl::StatusOr<Compared> CompareWithFirstThatFits(Validation& validation,
                                                  const Comparer& compare);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_REFERENCE_H_
