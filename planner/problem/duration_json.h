// Times in JSON: seconds, read to the nearest picosecond.
//
// Errors: those of FromSeconds, with the path of the field.
#ifndef MESHWRIGHT_PLANNER_PROBLEM_DURATION_JSON_H_
#define MESHWRIGHT_PLANNER_PROBLEM_DURATION_JSON_H_

#include "base/json/read_json.h"
#include "planner/problem/duration.h"

namespace meshwright::base {

// Here, as ReadJson looks up the overloads of its own namespace.
void ReadJsonValue(const JsonValue& value, problem::Picoseconds& target);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_PLANNER_PROBLEM_DURATION_JSON_H_
