// WriteTomlString: a text as a string of a TOML file.
//
// Concept: one line in double quotes, with what TOML escapes; never a literal
// or multi-line string, so that a file differs line by line.
// Threads: any. Errors: none.
#ifndef MESHWRIGHT_BASE_TOML_TOML_STRING_H_
#define MESHWRIGHT_BASE_TOML_TOML_STRING_H_

#include <string>

namespace meshwright::base {

std::string WriteTomlString(const std::string& text);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_TOML_TOML_STRING_H_
