// TextCursor: a place in an HLO text, and the small tokens found there.
//
// Concept: a window [position, end) of one text. Reading moves the position; a
// window of its own for an attribute's value keeps the whole text, so that an
// error can say the line. White space, line ends and /* */ comments are the
// same thing and stand between any two tokens.
// Threads and ownership: borrows the text; one thread.
// Errors: kInvalidArgument, "line N: ...".
#ifndef MESHWRIGHT_COORDINATOR_IR_TEXT_TEXT_CURSOR_H_
#define MESHWRIGHT_COORDINATOR_IR_TEXT_TEXT_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::ir {

// Deeper nesting of tuples or braces than any real module has is refused.
inline constexpr int kMaxTextDepth = 64;

class TextCursor {
 public:
  explicit TextCursor(std::string_view text)
      : text_(text), position_(0), end_(text.size()) {}

  // Spaces, line ends and comments.
  void SkipSpace();
  // Both after skipping space; the character is 0 at the end.
  char Peek();
  bool AtEnd() { return Peek() == 0 && position_ == end_; }
  // The next character itself, space or not; 0 at the end.
  char Here() const { return position_ < end_ ? text_[position_] : '\0'; }

  // Goes past `expected` and says true, if it stands next after space; else
  // moves only past the space.
  bool Consume(char expected);
  bool Consume(std::string_view expected);
  // The same, but kInvalidArgument where it does not stand there.
  absl::Status Expect(char expected);
  // Calls read() for every element of "{a,b}", in these brackets.
  template <typename Read>
  absl::Status ReadList(char open, char close, Read read) {
    absl::Status status = Expect(open);
    if (!status.ok() || Consume(close)) return status;
    do {
      status = read();
    } while (status.ok() && Consume(','));
    return status.ok() ? Expect(close) : status;
  }

  // A name of an instruction, computation, attribute or enumerator; an optional
  // % before it is dropped. Empty where none stands.
  std::string_view Name();
  // Each goes past space and the value. Errors: kInvalidArgument with the line,
  // where no such value stands. QuotedString gives the text between the quotes,
  // unescaped.
  absl::StatusOr<int64_t> Integer();
  absl::StatusOr<bool> Boolean();
  absl::StatusOr<std::string> QuotedString();
  // Characters up to one of , { } ( ) or space: an element of a literal.
  std::string_view Word();
  // The text from here to the end of an attribute's value: to the next comma or
  // space outside of brackets and quotes.
  absl::StatusOr<TextCursor> Value();
  // The text of the window.
  std::string_view Rest() const {
    return text_.substr(position_, end_ - position_);
  }
  // To the beginning of the next line.
  void SkipLine();

  // kInvalidArgument: "line N: WHAT", with the line of the next character.
  absl::Status Error(std::string_view what) const;

 private:
  std::string_view text_;
  size_t position_;
  size_t end_;
};

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_TEXT_TEXT_CURSOR_H_
