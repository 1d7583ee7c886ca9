// OtherInputs: separates wrong plans from steps that are not smooth.
//
// Concept: where a step is not smooth (a ReLU at zero, a top-k of equal
// scores), rounding decides a value. A correct plan may then differ by more
// than rounding. Which values are affected depends on the inputs, whereas a
// wrong plan differs on any inputs. So plans that differ by more than the
// tolerance run once more on other inputs, beside the reference on the same
// inputs.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_OTHER_INPUTS_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_OTHER_INPUTS_H_

#include <map>
#include <string>
#include <vector>

#include "proto/v1/job.pb.h"
#include "proto/v1/services.pb.h"

namespace meshwright::validation {

// Keys of the plans that ran and differ by more.
std::vector<std::string> ListDiffering(
    const v1::CompareRequest& request,
    const std::map<std::string, v1::ProfileResult>& results, double tolerance);

// For outputs, not times.
void RunOnce(v1::MeasureOptions& options);

// The comparison of `keys` alone, run once, on other inputs.
v1::CompareRequest MakeOtherInputs(const v1::CompareRequest& request,
                                   const std::vector<std::string>& keys);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_OTHER_INPUTS_H_
