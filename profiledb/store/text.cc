#include "profiledb/store/text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"

namespace meshwright::store {

namespace {

// Bytes of the character that it begins with; 0: it begins with none.
size_t CountCharacter(std::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const unsigned first = byte(0);
  const size_t size = first == 0     ? 0
                      : first < 0x80 ? 1
                      : first < 0xc2 ? 0
                      : first < 0xe0 ? 2
                      : first < 0xf0 ? 3
                      : first < 0xf5 ? 4
                                     : 0;
  if (text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, beyond U+10FFFF.
  const bool is_wrong =
      (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f);
  return is_wrong ? 0 : size;
}

}  // namespace

bool IsText(std::string_view text) {
  while (!text.empty()) {
    const size_t size = CountCharacter(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string MendText(std::string_view text) {
  std::string mended;
  mended.reserve(text.size());
  while (!text.empty()) {
    const size_t size = CountCharacter(text);
    if (size == 0) {
      mended += '?';
    } else {
      mended += text.substr(0, size);
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return mended;
}

bool IsOneLine(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char byte) {
    return absl::ascii_iscntrl(byte);
  });
}

std::string CleanText(std::string_view text) {
  std::string clean(text);
  if (!IsText(clean)) clean = absl::CHexEscape(clean);
  if (clean.size() <= kMaximumTextBytes) return clean;
  clean.resize(kMaximumTextBytes);
  while (!IsText(clean)) clean.pop_back();  // half a character
  return clean;
}

}  // namespace meshwright::store
