// OtherInputs: whether a difference is the plan's, or that of a kink.
//
// Concept: where a step is not smooth (a ReLU at zero, a top-k of equal
// scores), rounding decides which way a value goes, and a correct plan may
// differ by more than rounding; which values lie there depends on the inputs. A
// wrong plan differs whatever the inputs are. So plans that differ by more than
// the tolerance run once more, on other inputs, beside the reference on the
// same.
#ifndef MESHWRIGHT_COORDINATOR_VALIDATION_OTHER_INPUTS_H_
#define MESHWRIGHT_COORDINATOR_VALIDATION_OTHER_INPUTS_H_

#include <map>
#include <string>
#include <vector>

#include "proto/v1/job.pb.h"
#include "proto/v1/services.pb.h"

namespace meshwright::validation {

// Keys of the plans that ran and differ by more.
std::vector<std::string> Differing(
    const v1::CompareRequest& request,
    const std::map<std::string, v1::ProfileResult>& results, double tolerance);

// For outputs, not times.
void RunOnce(v1::MeasureOptions& options);

// The comparison of `keys` alone, run once, on other inputs.
v1::CompareRequest OnOtherInputs(const v1::CompareRequest& request,
                                 const std::vector<std::string>& keys);

}  // namespace meshwright::validation

#endif  // MESHWRIGHT_COORDINATOR_VALIDATION_OTHER_INPUTS_H_
