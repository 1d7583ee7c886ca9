// The JSON of `meshwright analyze` (docs/formats/analyze.md).
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_ANALYSIS_JSON_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_ANALYSIS_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "coordinator/segmenter/strategy_request.h"
#include "coordinator/space/annotation/sharding.h"

namespace meshwright::exporting {

// Loads, analyses and describes a module. Errors: those of LoadModule and
// Analyze.
absl::StatusOr<std::string> AnalyzeToJson(
    std::string_view module_bytes, const space::Mesh& mesh,
    const segmenter::StrategyRequest& request = {});

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_ANALYSIS_JSON_H_
