// ReadJson: a foreign document into a struct, or one sentence that names the
// field by its path ("types[0].configs[2].seconds").
//
// Concept: a format names each field once, in a function of its struct that
// argument-dependent lookup finds:
//
//   void Describe(base::JsonFields& it, Node& node) {
//     it.Required("type", node.type);
//     it.Optional("repeat", node.repeat);
//   }
//   Node node;
//   RETURN_IF_ERROR(base::ReadJson(text, node));
//
// A target is a bool, int (an index, from 0), int64_t, double or std::string,
// or a std::optional (null: none) or std::vector of targets. It may also be a
// struct with Describe, or a function of a JsonValue for what a type does not
// say. More types: overload ReadJsonValue in this namespace.
//   An optional field that is absent or null leaves its target as it is. Names
// that no field has are notes, but nearly known ones are refused
// (known_names.h). The first fault is kept; reading goes on without effect.
// Errors: kInvalidArgument, for text that is no JSON (parse_json.h), for a
// missing or misspelt field and for a value of another type or range.
// Threads: a document is read by one thread.
#ifndef MESHWRIGHT_BASE_JSON_READ_JSON_H_
#define MESHWRIGHT_BASE_JSON_READ_JSON_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace meshwright::base {

// A value and its place in the document. Lives no longer than the call that
// is given it.
class JsonValue {
 public:
  // The type of the value; asking is never a fault.
  bool IsNull() const;
  bool IsText() const;
  bool IsNumber() const;
  bool IsInteger() const;  // written as one: 3, not 3.0
  bool IsList() const;
  bool IsObject() const;

  // "types[0].configs[2]", for messages; empty for the document itself.
  std::string Path() const;
  std::string Dump() const;  // the value itself, in ASCII

  // Fails unless it is a list, or an object.
  size_t CountElements() const;
  // Calls `visit` for each, until there is a fault. Fails unless it is a list,
  // or an object.
  void ForEach(absl::FunctionRef<void(const JsonValue&)> visit) const;
  void ForEachMember(
      absl::FunctionRef<void(const std::string&, const JsonValue&)> visit)
      const;

  // Refuses the document: "PATH SENTENCE".
  void Fail(const std::string& sentence) const;
  void FailUnlessOk(const absl::Status& status) const;  // as it is written
  // "PATH is TYPE, not EXPECTED".
  void FailAsNot(const std::string& expected) const;
  // Whether the document has a fault already, of this value or another.
  bool HasFailed() const;

  const nlohmann::json& value() const { return *value_; }

 private:
  friend class JsonFields;
  friend absl::Status ReadJsonDocument(
      std::string_view, absl::FunctionRef<void(const JsonValue&)>);
  friend absl::Status ReadJsonApart(const JsonValue&,
                                    absl::FunctionRef<void(const JsonValue&)>);

  // The state that all values of a document share.
  struct Reading {
    absl::Status fault;
    const nlohmann::json* incomplete = nullptr;  // object of a missing field
  };

  JsonValue(const nlohmann::json& value, Reading& reading)
      : value_(&value), reading_(&reading) {}
  JsonValue(const nlohmann::json& value, const JsonValue& parent,
            std::string_view name, size_t index)
      : value_(&value),
        reading_(parent.reading_),
        parent_(&parent),
        name_(name),
        index_(index) {}

  const nlohmann::json* value_;
  Reading* reading_;
  const JsonValue* parent_ = nullptr;  // none: the document
  std::string_view name_;              // of a member
  size_t index_ = 0;                   // of an element
};

class JsonFields {
 public:
  // Reads the member into `target`. An absent one is a fault.
  template <typename Target>
  void Required(std::string_view name, Target&& target);
  // The same; an absent or null one leaves `target` as it is.
  template <typename Target>
  void Optional(std::string_view name, Target&& target);

  // Present and not null. `name` counts as known.
  bool Has(std::string_view name) {
    const nlohmann::json* const value = Find(name);
    return value != nullptr && !Member(*value, name).IsNull();
  }
  // Refuses names that no field has.
  void RefuseOthers() { refuses_others_ = true; }

  const JsonValue& object() const { return object_; }

 private:
  friend void ReadJsonObject(const JsonValue&,
                             absl::FunctionRef<void(JsonFields&)>);

  explicit JsonFields(const JsonValue& object) : object_(object) {}
  const nlohmann::json* Find(std::string_view name);
  void FailAsMissing(std::string_view name);
  void CheckNames() const;
  JsonValue Member(const nlohmann::json& value, std::string_view name) const {
    return JsonValue(value, object_, name, 0);
  }

  const JsonValue& object_;
  std::vector<std::string> known_;  // owned: callers put names together
  bool refuses_others_ = false;
};

// Calls `describe` with the fields of `value`, or fails as it is no object.
void ReadJsonObject(const JsonValue& value,
                    absl::FunctionRef<void(JsonFields&)> describe);

void ReadJsonValue(const JsonValue& value, bool& target);
void ReadJsonValue(const JsonValue& value, int& target);
// Also when written as 3.0 or 3e9.
void ReadJsonValue(const JsonValue& value, int64_t& target);
void ReadJsonValue(const JsonValue& value, double& target);
void ReadJsonValue(const JsonValue& value, std::string& target);

template <typename Read>
requires std::invocable<const Read&, const JsonValue&>
void ReadJsonValue(const JsonValue& value, const Read& read) { read(value); }

template <typename Target>
requires requires(JsonFields& it, Target& target) { Describe(it, target); }
void ReadJsonValue(const JsonValue& value, Target& target) {
  ReadJsonObject(value, [&](JsonFields& it) { Describe(it, target); });
}

template <typename Target>
void ReadJsonValue(const JsonValue& value, std::optional<Target>& target);

template <typename Target>
void ReadJsonValue(const JsonValue& value, std::vector<Target>& target) {
  target.clear();
  target.reserve(value.CountElements());
  value.ForEach([&](const JsonValue& element) {
    ReadJsonValue(element, target.emplace_back());
  });
}

template <typename Target>
void ReadJsonValue(const JsonValue& value, std::optional<Target>& target) {
  target.reset();
  if (!value.IsNull()) ReadJsonValue(value, target.emplace());
}

template <typename Target>
void JsonFields::Required(std::string_view name, Target&& target) {
  const nlohmann::json* const value = Find(name);
  if (value == nullptr) return FailAsMissing(name);
  ReadJsonValue(Member(*value, name), target);
}

template <typename Target>
void JsonFields::Optional(std::string_view name, Target&& target) {
  const nlohmann::json* const value = Find(name);
  if (value == nullptr || Member(*value, name).IsNull()) return;
  ReadJsonValue(Member(*value, name), target);
}

// Calls `read` with the document.
absl::Status ReadJsonDocument(std::string_view text,
                              absl::FunctionRef<void(const JsonValue&)> read);

// Calls `read` with `value` as a document of its own: paths begin at it, and
// its faults are not those of the document around.
absl::Status ReadJsonApart(const JsonValue& value,
                           absl::FunctionRef<void(const JsonValue&)> read);

template <typename Target>
absl::Status ReadJson(std::string_view text, Target&& target) {
  return ReadJsonDocument(
      text, [&](const JsonValue& value) { ReadJsonValue(value, target); });
}

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_JSON_READ_JSON_H_
