#include "cli/text/tame.h"

#include "absl/strings/ascii.h"

namespace meshwright::cli {

std::string Tame(std::string text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (absl::ascii_isspace(byte)) {
      text[i] = ' ';
    } else if (absl::ascii_iscntrl(byte)) {
      text[i] = '?';
    } else if (byte == 0xc2 && i + 1 < text.size()) {
      const auto next = static_cast<unsigned char>(text[i + 1]);
      if (next >= 0x80 && next < 0xa0) text.replace(i, 2, "??");
    }
  }
  return text;
}

}  // namespace meshwright::cli
