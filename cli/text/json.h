// Messages as the JSON of the command line: proto field names in the order of
// the message, every field present, 64-bit integers as numbers (protobuf's own
// mapping would quote them), what is not set as null. Protobuf's JSON reader
// takes it back.
#ifndef MESHWRIGHT_CLI_TEXT_JSON_H_
#define MESHWRIGHT_CLI_TEXT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace meshwright::cli {

nlohmann::ordered_json ToJson(const google::protobuf::Message& message);

// Errors: kInvalidArgument that names `what` and the place in the text.
absl::Status FromJson(const std::string& text, const std::string& what,
                      google::protobuf::Message* message);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_JSON_H_
