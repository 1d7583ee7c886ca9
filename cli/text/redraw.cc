#include "cli/text/redraw.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace meshwright::cli {

std::string RedrawScreen(const std::string& text) {
  constexpr char kToTop[] = "\x1b[H";
  constexpr char kClearBelow[] = "\x1b[J";
  return absl::StrCat(kToTop, absl::StrReplaceAll(text, {{"\n", "\x1b[K\n"}}),
                      kClearBelow);
}

}  // namespace meshwright::cli
