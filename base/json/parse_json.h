// ParseJson: a foreign document, or one sentence that says where it is none.
//
// Concept: some inputs that nlohmann's reader takes are refused beside syntax
// errors. These are a name that stands twice in one object (the reader would
// keep the last), numbers beyond a double's range, and needlessly deep nesting.
// Errors: kInvalidArgument that names the place by its path
// ("types[0].configs[2].seconds").
#ifndef MESHWRIGHT_BASE_JSON_PARSE_JSON_H_
#define MESHWRIGHT_BASE_JSON_PARSE_JSON_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace meshwright::base {

inline constexpr int kMaxNesting = 64;

absl::StatusOr<nlohmann::json> ParseJson(std::string_view text);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_JSON_PARSE_JSON_H_
