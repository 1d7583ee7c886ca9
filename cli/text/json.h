// Messages as the JSON of the command line: proto field names in the order of
// the message. Every field is present, and is null if not set. 64-bit integers
// are numbers (protobuf's own mapping would quote them), and enums are in lower
// case. Numbers that are not finite are words, as JSON has none: "Infinity",
// "-Infinity", "NaN". Protobuf's JSON reader takes it back.
#ifndef MESHWRIGHT_CLI_TEXT_JSON_H_
#define MESHWRIGHT_CLI_TEXT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace meshwright::cli {

// Fields named in `omitted`, of the message or of one inside, are left out
// where they are not set.
nlohmann::ordered_json ToJson(
    const google::protobuf::Message& message,
    const absl::flat_hash_set<std::string>& omitted = {});

// Errors: kInvalidArgument that names `what` and the place in the text.
absl::Status FromJson(const std::string& text, const std::string& what,
                      google::protobuf::Message* message);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_JSON_H_
