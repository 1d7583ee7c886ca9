#include "base/toml/toml_string.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <sstream>

namespace meshwright::base {

std::string WriteTomlString(const std::string& text) {
  using toml::format_flags;
  std::ostringstream out;
  out << toml::toml_formatter(toml::value<std::string>(text),
                              toml::toml_formatter::default_flags &
                                  ~(format_flags::allow_literal_strings |
                                    format_flags::allow_multi_line_strings));
  return out.str();
}

}  // namespace meshwright::base
