#include "planner/problem/json_fields.h"

#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace meshwright::problem {
namespace {

using nlohmann::json;

absl::Status Wrong(const std::string& field, const char* expected,
                   const json& value) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is ", value.type_name(), ", not ", expected));
}

}  // namespace

absl::StatusOr<int64_t> ReadInteger(const json& value,
                                    const std::string& field) {
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > std::numeric_limits<int64_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " is larger than 63 bits hold"));
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return Wrong(field, "an integer", value);
  const double number = value.get<double>();
  if (std::trunc(number) != number || std::abs(number) > 9.2e18) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " is ", number, ", not an integer of 63 bits"));
  }
  return static_cast<int64_t>(number);
}

absl::StatusOr<Picoseconds> ReadSeconds(const json& value,
                                        const std::string& field) {
  if (!value.is_number()) return Wrong(field, "a number of seconds", value);
  return FromSeconds(value.get<double>(), field);
}

absl::StatusOr<bool> ReadBool(const json& value, const std::string& field) {
  if (!value.is_boolean()) return Wrong(field, "true or false", value);
  return value.get<bool>();
}

absl::Status CheckArray(const json& value, const std::string& field) {
  if (value.is_array()) return {};
  return Wrong(field, "a list", value);
}

absl::StatusOr<const json*> Member(const json& object, const std::string& field,
                                   const char* name) {
  if (!object.is_object()) {
    return Wrong(field.empty() ? "the document" : field, "an object", object);
  }
  const auto found = object.find(name);
  if (found == object.end()) {
    return absl::InvalidArgumentError(
        field.empty() ? absl::StrCat(name, " is missing")
                      : absl::StrCat(field, ".", name, " is missing"));
  }
  return &*found;
}

}  // namespace meshwright::problem
