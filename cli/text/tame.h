// Tame: a text of someone else's for one line of a terminal.
//
// Concept: names, reasons and notes come from whoever submits a plan, attaches
// a worker or hands in rows. What a terminal obeys would let them write over
// other lines.
// Threads: pure function. Errors: none.
#ifndef MESHWRIGHT_CLI_TEXT_TAME_H_
#define MESHWRIGHT_CLI_TEXT_TAME_H_

#include <string>

namespace meshwright::cli {

// The same bytes, with a space in place of each that ends a line or moves to
// another column, and '?' in place of other control characters (of ASCII, and
// U+0080 to U+009F).
std::string Tame(std::string text);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_TAME_H_
