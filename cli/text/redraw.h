// RedrawScreen: a text in place of what a terminal shows.
//
// Threads: pure function. Errors: none.
#ifndef MESHWRIGHT_CLI_TEXT_REDRAW_H_
#define MESHWRIGHT_CLI_TEXT_REDRAW_H_

#include <string>

namespace meshwright::cli {

// Without flicker: each line is cleared behind its text, then the rest of the
// screen.
std::string RedrawScreen(const std::string& text);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_REDRAW_H_
