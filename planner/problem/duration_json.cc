#include "planner/problem/duration_json.h"

#include <string>

namespace meshwright::base {

void ReadJsonValue(const JsonValue& value, problem::Picoseconds& target) {
  if (!value.IsNumber()) return value.FailAsNot("a number of seconds");
  double seconds = 0;
  ReadJsonValue(value, seconds);
  const auto time = problem::FromSeconds(seconds, "");
  if (time.ok()) {
    target = *time;
  } else {
    value.FailUnlessOk(problem::FromSeconds(seconds, value.Path()).status());
  }
}

}  // namespace meshwright::base
