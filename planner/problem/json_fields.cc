#include "planner/problem/json_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace meshwright::problem {
namespace {

using nlohmann::json;

// The last `"name":` before byte `end`.
std::string FieldBefore(std::string_view text, size_t end) {
  const std::string_view before = text.substr(0, std::min(end, text.size()));
  const size_t colon = before.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return "";
  const size_t close = before.rfind('"', colon);
  if (close == std::string_view::npos || close == 0) return "";
  const size_t open = before.rfind('"', close - 1);
  if (open == std::string_view::npos) return "";
  const std::string_view name = before.substr(open + 1, close - open - 1);
  const bool plain = !name.empty() && name.size() < 40 &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return c == '_' || std::isalnum(c);
                     });
  return plain ? absl::StrCat(" in the field ", std::string(name)) : "";
}

// A few characters of what stands at the fault, printable.
std::string Excerpt(std::string_view text, size_t position) {
  std::string excerpt(
      text.substr(std::min(position == 0 ? 0 : position - 1, text.size()), 12));
  for (char& c : excerpt) {
    if (c < ' ' || c > '~' || c == '\'') c = ' ';
  }
  while (!excerpt.empty() && excerpt.back() == ' ') excerpt.pop_back();
  return excerpt;
}

absl::Status Wrong(const std::string& field, const char* expected,
                   const json& value) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is ", value.type_name(), ", not ", expected));
}

}  // namespace

absl::StatusOr<json> ParseJson(std::string_view text) {
  try {
    return json::parse(text.begin(), text.end());
  } catch (const json::parse_error& error) {
    return absl::InvalidArgumentError(absl::StrCat(
        "not JSON at byte ", error.byte, FieldBefore(text, error.byte),
        ": unexpected '", Excerpt(text, error.byte), "'"));
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("the JSON holds a number out of range: ", error.what()));
  }
}

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
