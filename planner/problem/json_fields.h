// Reading typed fields out of foreign JSON, each failure in one sentence.
//
// Errors: kInvalidArgument that names the field by its path in the document.
// Nothing here throws; nlohmann's exceptions end inside.
#ifndef MESHWRIGHT_PLANNER_PROBLEM_JSON_FIELDS_H_
#define MESHWRIGHT_PLANNER_PROBLEM_JSON_FIELDS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "planner/problem/duration.h"

namespace meshwright::problem {

// An integer, also when written as 3.0 or 3e9.
absl::StatusOr<int64_t> ReadInteger(const nlohmann::json& value,
                                    const std::string& field);
absl::StatusOr<Picoseconds> ReadSeconds(const nlohmann::json& value,
                                        const std::string& field);
absl::StatusOr<bool> ReadBool(const nlohmann::json& value,
                              const std::string& field);
absl::Status CheckArray(const nlohmann::json& value, const std::string& field);

// The member `name` of `object`, which `field` describes ("types[0]").
absl::StatusOr<const nlohmann::json*> Member(const nlohmann::json& object,
                                             const std::string& field,
                                             const char* name);

}  // namespace meshwright::problem

#endif  // MESHWRIGHT_PLANNER_PROBLEM_JSON_FIELDS_H_
