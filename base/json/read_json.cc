#include "base/json/read_json.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json/known_names.h"
#include "base/json/parse_json.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace meshwright::base {

using nlohmann::json;

bool JsonValue::IsNull() const { return value_->is_null(); }
bool JsonValue::IsText() const { return value_->is_string(); }
bool JsonValue::IsNumber() const { return value_->is_number(); }
bool JsonValue::IsInteger() const { return value_->is_number_integer(); }
bool JsonValue::IsList() const { return value_->is_array(); }
bool JsonValue::IsObject() const { return value_->is_object(); }

std::string JsonValue::Path() const {
  if (parent_ == nullptr) return "";
  std::string path = parent_->Path();
  if (parent_->IsList()) {
    absl::StrAppend(&path, "[", index_, "]");
  } else {
    absl::StrAppend(&path, path.empty() ? "" : ".", std::string(name_));
  }
  return path;
}

std::string JsonValue::Dump() const {
  return value_->dump(-1, ' ', true, json::error_handler_t::replace);
}

size_t JsonValue::CountElements() const {
  if (IsList()) return value_->size();
  FailAsNot("a list");
  return 0;
}

void JsonValue::ForEach(absl::FunctionRef<void(const JsonValue&)> visit) const {
  const size_t size = CountElements();
  for (size_t i = 0; i < size && !HasFailed(); ++i) {
    visit(JsonValue((*value_)[i], *this, "", i));
  }
}

void JsonValue::ForEachMember(
    absl::FunctionRef<void(const std::string&, const JsonValue&)> visit) const {
  if (!IsObject()) return FailAsNot("an object");
  for (const auto& [name, member] : value_->items()) {
    if (HasFailed()) return;
    visit(name, JsonValue(member, *this, name, 0));
  }
}

void JsonValue::Fail(const std::string& sentence) const {
  const std::string path = Path();
  FailUnlessOk(absl::InvalidArgumentError(
      absl::StrCat(path.empty() ? "the document" : path, " ", sentence)));
}

void JsonValue::FailUnlessOk(const absl::Status& status) const {
  reading_->fault.Update(status);
}

void JsonValue::FailAsNot(const std::string& expected) const {
  Fail(absl::StrCat("is ", value_->type_name(), ", not ", expected));
}

bool JsonValue::HasFailed() const { return !reading_->fault.ok(); }

const json* JsonFields::Find(std::string_view name) {
  if (std::ranges::count(known_, name) == 0) known_.emplace_back(name);
  const auto found = object_.value_->find(name);
  return found == object_.value_->end() ? nullptr : &*found;
}

void JsonFields::FailAsMissing(std::string_view name) {
  if (object_.HasFailed()) return;
  const std::string path = object_.Path();
  object_.reading_->incomplete = object_.value_;
  object_.FailUnlessOk(absl::InvalidArgumentError(absl::StrCat(
      path, path.empty() ? "" : ".", std::string(name), " is missing")));
}

void JsonFields::CheckNames() const {
  JsonValue::Reading& reading = *object_.reading_;
  // A field may be missing because its name is misspelt.
  if (!reading.fault.ok() && reading.incomplete != object_.value_) return;
  std::vector<std::string_view> written;
  for (const auto& [name, value] : object_.value_->items()) {
    written.push_back(name);
  }
  const std::string path = object_.Path();
  const std::string before = path.empty() ? "" : path + ".";
  const std::vector<std::string_view> known(known_.begin(), known_.end());
  if (const auto found = FindMisspelt(written, known); found.has_value()) {
    reading.fault = absl::InvalidArgumentError(absl::StrCat(
        before, found->written, " is no field that is read; write ",
        found->meant, " if that is meant, or leave it out"));
  }
  if (!refuses_others_) return;
  for (const std::string_view name : written) {
    if (std::ranges::count(known_, name) > 0) continue;
    object_.FailUnlessOk(absl::InvalidArgumentError(absl::StrCat(
        before, std::string(name), " is no field that is read; there are ",
        absl::StrJoin(known_, ", "))));
  }
}

void ReadJsonObject(const JsonValue& value,
                    absl::FunctionRef<void(JsonFields&)> describe) {
  if (!value.IsObject()) return value.FailAsNot("an object");
  JsonFields fields(value);
  describe(fields);
  fields.CheckNames();
}

void ReadJsonValue(const JsonValue& value, bool& target) {
  if (!value.value().is_boolean()) return value.FailAsNot("true or false");
  target = value.value().get<bool>();
}

void ReadJsonValue(const JsonValue& value, int& target) {
  int64_t index = 0;
  ReadJsonValue(value, index);
  if (index < 0 || index > std::numeric_limits<int>::max()) {
    return value.Fail(absl::StrCat("is ", index, ", which is no index"));
  }
  target = static_cast<int>(index);
}

void ReadJsonValue(const JsonValue& value, int64_t& target) {
  const json& held = value.value();
  if (held.is_number_unsigned() &&
      held.get<uint64_t>() > std::numeric_limits<int64_t>::max()) {
    return value.Fail("is larger than 63 bits hold");
  }
  if (held.is_number_integer()) {
    target = held.get<int64_t>();
    return;
  }
  if (!held.is_number_float()) return value.FailAsNot("an integer");
  const double number = held.get<double>();
  if (std::trunc(number) != number || std::abs(number) > 9.2e18) {
    return value.Fail(
        absl::StrCat("is ", number, ", not an integer of 63 bits"));
  }
  target = static_cast<int64_t>(number);
}

void ReadJsonValue(const JsonValue& value, double& target) {
  if (!value.value().is_number()) return value.FailAsNot("a number");
  target = value.value().get<double>();
}

void ReadJsonValue(const JsonValue& value, std::string& target) {
  if (!value.IsText()) return value.FailAsNot("a string");
  target = value.value().get<std::string>();
}

absl::Status ReadJsonDocument(std::string_view text,
                              absl::FunctionRef<void(const JsonValue&)> read) {
  ASSIGN_OR_RETURN(const json document, ParseJson(text));
  JsonValue::Reading reading;
  read(JsonValue(document, reading));
  return reading.fault;
}

absl::Status ReadJsonApart(const JsonValue& value,
                           absl::FunctionRef<void(const JsonValue&)> read) {
  JsonValue::Reading reading;
  read(JsonValue(*value.value_, reading));
  return reading.fault;
}

}  // namespace meshwright::base
