// CheckNames: a member whose name is nearly that of an optional one.
//
// Concept: members that a format does not know are not read, so that files may
// carry notes. But "memory_limit" where "memory_limit_bytes" is meant would
// silently plan without a limit; so a name that is the beginning of a known
// name that is missing, or begins with it, or differs in two letters, is
// refused. Case and underscores do not count.
// Errors: kInvalidArgument that names both.
#ifndef MESHWRIGHT_PLANNER_PROBLEM_KNOWN_NAMES_H_
#define MESHWRIGHT_PLANNER_PROBLEM_KNOWN_NAMES_H_

#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace meshwright::problem {

// `field` is the path of `object`, empty for the document. What is no object
// is left to who reads it.
absl::Status CheckNames(const nlohmann::json& object, const std::string& field,
                        std::initializer_list<std::string_view> known);

}  // namespace meshwright::problem

#endif  // MESHWRIGHT_PLANNER_PROBLEM_KNOWN_NAMES_H_
