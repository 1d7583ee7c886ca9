#include "tests/conformance/api_growth.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/status_macros.h"

namespace meshwright::conformance {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::EnumDescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;
using google::protobuf::MethodDescriptorProto;
using google::protobuf::ServiceDescriptorProto;

void ClearJsonNames(DescriptorProto& message) {
  for (FieldDescriptorProto& field : *message.mutable_field()) {
    field.clear_json_name();
  }
  for (DescriptorProto& nested : *message.mutable_nested_type()) {
    ClearJsonNames(nested);
  }
}

// "repeated meshwright.v1.Plan in oneof event"
std::string DescribeType(const FieldDescriptorProto& field,
                         const DescriptorProto& message) {
  std::string type =
      field.type_name().empty()
          ? absl::AsciiStrToLower(
                FieldDescriptorProto::Type_Name(field.type()).substr(5))
          : field.type_name().substr(1);
  if (field.label() == FieldDescriptorProto::LABEL_REPEATED) {
    type = absl::StrCat("repeated ", type);
  } else if (field.proto3_optional()) {
    type = absl::StrCat("optional ", type);
  } else if (field.has_oneof_index()) {
    absl::StrAppend(&type, " in oneof ",
                    message.oneof_decl(field.oneof_index()).name());
  }
  return type;
}

std::string DescribeCall(const MethodDescriptorProto& method) {
  return absl::StrCat(method.client_streaming() ? "stream " : "",
                      method.input_type().substr(1), " to ",
                      method.server_streaming() ? "stream " : "",
                      method.output_type().substr(1));
}

// Everything of a set by its full name.
struct Index {
  explicit Index(const FileDescriptorSet& api) {
    for (const FileDescriptorProto& file : api.file()) {
      for (const auto& message : file.message_type()) {
        Add(file.package(), message);
      }
      for (const auto& type : file.enum_type()) Add(file.package(), type);
      for (const auto& service : file.service()) {
        services[absl::StrCat(file.package(), ".", service.name())] = &service;
      }
    }
  }
  void Add(const std::string& scope, const DescriptorProto& message) {
    const std::string name = absl::StrCat(scope, ".", message.name());
    messages[name] = &message;
    for (const auto& nested : message.nested_type()) Add(name, nested);
    for (const auto& nested : message.enum_type()) Add(name, nested);
  }
  void Add(const std::string& scope, const EnumDescriptorProto& type) {
    enums[absl::StrCat(scope, ".", type.name())] = &type;
  }

  std::map<std::string, const DescriptorProto*> messages;
  std::map<std::string, const EnumDescriptorProto*> enums;
  std::map<std::string, const ServiceDescriptorProto*> services;
};

template <typename List, typename Value>
auto FindNamed(const List& list, const Value& name) {
  return std::find_if(list.begin(), list.end(),
                      [&](const auto& item) { return item.name() == name; });
}

class Comparison {
 public:
  Comparison(const FileDescriptorSet& before, const FileDescriptorSet& now)
      : before_(before), now_(now) {}

  std::vector<std::string> Run() {
    for (const auto& [name, message] : before_.messages) {
      const auto found = now_.messages.find(name);
      if (found == now_.messages.end()) {
        Gone(absl::StrCat("the message ", name));
      } else {
        CompareMessages(name, *message, *found->second);
      }
    }
    for (const auto& [name, type] : before_.enums) {
      const auto found = now_.enums.find(name);
      if (found == now_.enums.end()) {
        Gone(absl::StrCat("the enum ", name));
      } else {
        CompareEnums(name, *type, *found->second);
      }
    }
    for (const auto& [name, service] : before_.services) {
      const auto found = now_.services.find(name);
      if (found == now_.services.end()) {
        Gone(absl::StrCat("the service ", name));
      } else {
        CompareServices(name, *service, *found->second);
      }
    }
    return std::move(faults_);
  }

 private:
  void Gone(const std::string& what) {
    faults_.push_back(absl::StrCat(
        what, " is gone; the API only grows: put it back and leave it unused"));
  }
  void Changed(const std::string& what, const std::string& from,
               const std::string& to) {
    faults_.push_back(absl::StrCat(what, " was ", from, " and is ", to,
                                   "; the API only grows: keep it and add a "
                                   "field of another name and number"));
  }

  void CompareMessages(const std::string& name, const DescriptorProto& before,
                       const DescriptorProto& now) {
    for (const FieldDescriptorProto& field : before.field()) {
      const std::string what =
          absl::StrCat("the field ", name, ".", field.name());
      const auto same_name = FindNamed(now.field(), field.name());
      const auto same_number =
          std::find_if(now.field().begin(), now.field().end(),
                       [&](const FieldDescriptorProto& item) {
                         return item.number() == field.number();
                       });
      if (same_name == now.field().end()) {
        if (same_number == now.field().end()) {
          Gone(absl::StrCat(what, " (number ", field.number(), ")"));
        } else {
          Changed(absl::StrCat("the field ", name, " number ", field.number()),
                  field.name(), same_number->name());
        }
        continue;
      }
      if (same_name->number() != field.number()) {
        Changed(what, absl::StrCat("number ", field.number()),
                absl::StrCat("number ", same_name->number()));
      }
      const std::string type = DescribeType(field, before);
      const std::string new_type = DescribeType(*same_name, now);
      if (type != new_type) Changed(what, type, new_type);
    }
    for (const auto& range : before.reserved_range()) {
      for (const FieldDescriptorProto& field : now.field()) {
        if (field.number() >= range.start() && field.number() < range.end()) {
          faults_.push_back(absl::StrCat(
              "the field ", name, ".", field.name(), " takes the number ",
              field.number(), ", which is reserved; take a fresh number"));
        }
      }
    }
  }

  void CompareEnums(const std::string& name, const EnumDescriptorProto& before,
                    const EnumDescriptorProto& now) {
    for (const auto& value : before.value()) {
      const std::string what =
          absl::StrCat("the enum value ", name, ".", value.name());
      const auto found = FindNamed(now.value(), value.name());
      if (found == now.value().end()) {
        Gone(what);
      } else if (found->number() != value.number()) {
        Changed(what, absl::StrCat("number ", value.number()),
                absl::StrCat("number ", found->number()));
      }
    }
  }

  void CompareServices(const std::string& name,
                       const ServiceDescriptorProto& before,
                       const ServiceDescriptorProto& now) {
    for (const MethodDescriptorProto& method : before.method()) {
      const std::string what =
          absl::StrCat("the RPC ", name, "/", method.name());
      const auto found = FindNamed(now.method(), method.name());
      if (found == now.method().end()) {
        Gone(what);
      } else if (DescribeCall(method) != DescribeCall(*found)) {
        Changed(what, DescribeCall(method), DescribeCall(*found));
      }
    }
  }

  const Index before_;
  const Index now_;
  std::vector<std::string> faults_;
};

}  // namespace

absl::StatusOr<FileDescriptorSet> ReadApi(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string content, base::ReadFile(path));
  FileDescriptorSet api;
  if (!api.ParseFromString(content)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is no descriptor set"));
  }
  // protoc adds the names in JSON, which follow from the names.
  for (FileDescriptorProto& file : *api.mutable_file()) {
    for (DescriptorProto& message : *file.mutable_message_type()) {
      ClearJsonNames(message);
    }
  }
  return api;
}

std::string PrintApi(const FileDescriptorSet& api) {
  std::string printed;
  google::protobuf::TextFormat::PrintToString(api, &printed);
  std::string text;
  int depth = 0;  // of a block that goes on one line
  for (const absl::string_view line : absl::StrSplit(printed, '\n')) {
    const absl::string_view stripped = absl::StripAsciiWhitespace(line);
    if (depth > 0) {
      absl::StrAppend(&text, " ", stripped);
      if (absl::EndsWith(stripped, "{")) ++depth;
      if (stripped == "}" && --depth == 0) text += '\n';
      continue;
    }
    const bool is_short = stripped == "field {" || stripped == "value {" ||
                          stripped == "method {" ||
                          stripped == "oneof_decl {" ||
                          stripped == "reserved_range {";
    if (stripped.empty()) continue;
    absl::StrAppend(&text, line, is_short ? "" : "\n");
    if (is_short) depth = 1;
  }
  return text;
}

absl::StatusOr<FileDescriptorSet> ParseApi(const std::string& text) {
  FileDescriptorSet api;
  if (google::protobuf::TextFormat::ParseFromString(text, &api)) return api;
  return absl::InvalidArgumentError("it is no descriptor set in text form");
}

std::vector<std::string> FindShrunk(const FileDescriptorSet& before,
                                    const FileDescriptorSet& now) {
  return Comparison(before, now).Run();
}

}  // namespace meshwright::conformance
