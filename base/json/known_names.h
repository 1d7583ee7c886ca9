// FindMisspelt: a name that no format knows, but that is nearly a known one.
//
// Concept: members that a format does not know are not read, so that files may
// carry notes. But "memory_limit" where "memory_limit_bytes" is meant would
// silently plan without a limit. A name is taken for a misspelling of a missing
// known name if one of the two begins with the other. The same holds if they
// differ in at most two letters. Case and underscores do not count.
#ifndef MESHWRIGHT_BASE_JSON_KNOWN_NAMES_H_
#define MESHWRIGHT_BASE_JSON_KNOWN_NAMES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meshwright::base {

struct Misspelling {
  std::string written;
  std::string meant;
};

// Nothing if every name of `written` is known or unlike all known ones.
std::optional<Misspelling> FindMisspelt(
    const std::vector<std::string_view>& written,
    const std::vector<std::string_view>& known);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_JSON_KNOWN_NAMES_H_
