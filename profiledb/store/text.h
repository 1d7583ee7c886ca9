// IsText, IsOneLine, CleanText, MendText: texts that every database and message
// takes.
//
// Concept: a text of PostgreSQL is UTF-8 without NUL, and one of a message is
// UTF-8. What peers say of themselves and what processes print need not be.
// Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_PROFILEDB_STORE_TEXT_H_
#define MESHWRIGHT_PROFILEDB_STORE_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace meshwright::store {

inline constexpr size_t kMaximumTextBytes = 1024;

// Whether it is UTF-8 without NUL.
bool IsText(std::string_view text);

// Whether it has no control character of ASCII: what names in tables, logs and
// indices must be.
bool IsOneLine(std::string_view text);

// Such a text of at most kMaximumTextBytes: cut where it is longer, with its
// bytes escaped where it is none.
std::string CleanText(std::string_view text);

// The same text of any length, with '?' in place of each byte that is no part
// of a character.
std::string MendText(std::string_view text);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_TEXT_H_
