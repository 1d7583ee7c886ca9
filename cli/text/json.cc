#include "cli/text/json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace meshwright::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using nlohmann::ordered_json;
using Names = absl::flat_hash_set<std::string>;

ordered_json Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

// Element `index` of a repeated field; -1: the field itself.
ordered_json Value(const Message& message, const FieldDescriptor* field,
                   int index, const Names& omitted) {
  const auto& in = *message.GetReflection();
  const bool one = index < 0;
  // 0 would say something else.
  if (one && field->has_presence() && !in.HasField(message, field)) {
    return nullptr;
  }
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return one ? in.GetInt32(message, field)
                 : in.GetRepeatedInt32(message, field, index);
    case FieldDescriptor::CPPTYPE_INT64:
      return one ? in.GetInt64(message, field)
                 : in.GetRepeatedInt64(message, field, index);
    case FieldDescriptor::CPPTYPE_UINT32:
      return one ? in.GetUInt32(message, field)
                 : in.GetRepeatedUInt32(message, field, index);
    case FieldDescriptor::CPPTYPE_UINT64:
      return one ? in.GetUInt64(message, field)
                 : in.GetRepeatedUInt64(message, field, index);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Number(one ? in.GetDouble(message, field)
                        : in.GetRepeatedDouble(message, field, index));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Number(one ? in.GetFloat(message, field)
                        : in.GetRepeatedFloat(message, field, index));
    case FieldDescriptor::CPPTYPE_BOOL:
      return one ? in.GetBool(message, field)
                 : in.GetRepeatedBool(message, field, index);
    case FieldDescriptor::CPPTYPE_ENUM:
      return absl::AsciiStrToLower(
          (one ? in.GetEnum(message, field)
               : in.GetRepeatedEnum(message, field, index))
              ->name());
    case FieldDescriptor::CPPTYPE_STRING:
      return one ? in.GetString(message, field)
                 : in.GetRepeatedString(message, field, index);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(one ? in.GetMessage(message, field)
                        : in.GetRepeatedMessage(message, field, index),
                    omitted);
  }
  return nullptr;
}

}  // namespace

ordered_json ToJson(const Message& message, const Names& omitted) {
  const auto& reflection = *message.GetReflection();
  ordered_json object = ordered_json::object();
  const auto* const descriptor = message.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* const field = descriptor->field(i);
    const bool is_set =
        field->is_repeated()
            ? reflection.FieldSize(message, field) > 0
            : !field->has_presence() || reflection.HasField(message, field);
    if (!is_set && omitted.contains(field->name())) continue;
    if (!field->is_repeated()) {
      object[field->name()] = Value(message, field, -1, omitted);
      continue;
    }
    ordered_json list = ordered_json::array();
    for (int at = 0; at < reflection.FieldSize(message, field); ++at) {
      list.push_back(Value(message, field, at, omitted));
    }
    object[field->name()] = std::move(list);
  }
  return object;
}

absl::Status FromJson(const std::string& text, const std::string& what,
                      Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  options.case_insensitive_enum_parsing = true;  // "good" of a plan's quality
  const auto status =
      google::protobuf::util::JsonStringToMessage(text, message, options);
  if (status.ok()) return absl::OkStatus();
  std::string reason(status.message());
  reason.resize(std::min(reason.find('\n'), reason.size()));
  return absl::InvalidArgumentError(absl::StrCat(what, ": ", reason));
}

}  // namespace meshwright::cli
