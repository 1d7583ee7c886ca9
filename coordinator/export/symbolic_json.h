// The `symbolic` section of `meshwright analyze` (docs/formats/analyze.md).
//
// Errors: those of the symbolic profile (planner/symbolic/profile.h).
// Threads: pure.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_SYMBOLIC_JSON_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_SYMBOLIC_JSON_H_

#include <nlohmann/json_fwd.hpp>

#include "absl/status/statusor.h"
#include "coordinator/segmenter/analysis.h"
#include "planner/symbolic/roofline.h"

namespace meshwright::exporting {

absl::StatusOr<nlohmann::ordered_json> FormatSymbolicJson(
    const segmenter::Analysis& analysis, const symbolic::Device& device);

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_SYMBOLIC_JSON_H_
