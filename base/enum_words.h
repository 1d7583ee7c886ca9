// Words for the values of protobuf enums, as people and JSON read them.
//
// Concept: an enum's value has one name in the API, in capitals. All that print
// it make their words from that name here.
// Threads: any. Errors: none.
#ifndef MESHWRIGHT_BASE_ENUM_WORDS_H_
#define MESHWRIGHT_BASE_ENUM_WORDS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace meshwright::base {

// "good" of GOOD; "unknown" of a zero value, like QUALITY_UNSPECIFIED.
std::string LowerName(absl::string_view value);
// "busy machine" of BUSY_MACHINE.
std::string ToWords(absl::string_view value);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_ENUM_WORDS_H_
