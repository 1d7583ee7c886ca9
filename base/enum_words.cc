#include "base/enum_words.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"

namespace meshwright::base {

std::string LowerName(absl::string_view value) {
  return absl::EndsWith(value, "_UNSPECIFIED") ? "unknown"
                                               : absl::AsciiStrToLower(value);
}

std::string ToWords(absl::string_view value) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(value), {{"_", " "}});
}

}  // namespace meshwright::base
