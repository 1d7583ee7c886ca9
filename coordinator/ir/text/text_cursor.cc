#include "coordinator/ir/text/text_cursor.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace meshwright::ir {
namespace {

bool IsNameStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsNamePart(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
}

}  // namespace

void TextCursor::SkipSpace() {
  while (position_ < end_) {
    if (absl::ascii_isspace(text_[position_])) {
      ++position_;
    } else if (text_.substr(position_, 2) == "/*") {
      const size_t close = text_.find("*/", position_ + 2);
      position_ = close == text_.npos ? end_ : std::min(close + 2, end_);
    } else if (text_.substr(position_, 2) == "//") {
      SkipLine();
    } else {
      return;
    }
  }
}

char TextCursor::Peek() {
  SkipSpace();
  return Here();
}

bool TextCursor::Consume(char expected) {
  if (Peek() != expected || position_ == end_) return false;
  ++position_;
  return true;
}

bool TextCursor::Consume(std::string_view expected) {
  SkipSpace();
  if (!Rest().starts_with(expected)) return false;
  position_ += expected.size();
  return true;
}

absl::Status TextCursor::Expect(char expected) {
  if (Consume(expected)) return absl::OkStatus();
  return Error(absl::StrCat("expected '", std::string(1, expected), "'"));
}

std::string_view TextCursor::Name() {
  SkipSpace();
  size_t start = position_;
  if (Here() == '%') ++start;
  if (start >= end_ || !IsNameStart(text_[start])) return {};
  size_t stop = start + 1;
  while (stop < end_ && IsNamePart(text_[stop])) ++stop;
  // "a->b" is a name and an arrow.
  if (text_[stop - 1] == '-' && stop < end_ && text_[stop] == '>') --stop;
  position_ = stop;
  return text_.substr(start, stop - start);
}

absl::StatusOr<int64_t> TextCursor::Integer() {
  SkipSpace();
  int64_t value = 0;
  const char* const first = text_.data() + position_;
  const auto [last, error] = std::from_chars(first, text_.data() + end_, value);
  if (error == std::errc::result_out_of_range) {
    return Error("a number does not fit into 64 bits");
  }
  if (error != std::errc()) return Error("expected a whole number");
  position_ += last - first;
  return value;
}

absl::StatusOr<bool> TextCursor::Boolean() {
  if (Consume("true") || Consume('1')) return true;
  if (Consume("false") || Consume('0')) return false;
  return Error("expected true or false");
}

absl::StatusOr<std::string> TextCursor::QuotedString() {
  if (!Consume('"')) return Error("expected a string in quotes");
  const size_t start = position_;
  while (position_ < end_ && text_[position_] != '"') {
    position_ += text_[position_] == '\\' ? 2 : 1;
  }
  if (position_ >= end_) {
    position_ = end_;
    return Error("a string has no closing quote");
  }
  std::string value;
  if (!absl::CUnescape(
          absl::string_view(text_.data() + start, position_ - start), &value)) {
    return Error("a string holds an unknown escape sequence");
  }
  ++position_;
  return value;
}

std::string_view TextCursor::Word() {
  SkipSpace();
  const size_t start = position_;
  while (position_ < end_ && !absl::ascii_isspace(text_[position_]) &&
         std::string_view(",{}()").find(text_[position_]) ==
             std::string_view::npos) {
    ++position_;
  }
  return text_.substr(start, position_ - start);
}

absl::StatusOr<TextCursor> TextCursor::Value() {
  SkipSpace();
  TextCursor value = *this;
  int64_t depth = 0;
  for (; position_ < end_; ++position_) {
    const char c = text_[position_];
    if (c == '"') {
      while (++position_ < end_ && text_[position_] != '"') {
        if (text_[position_] == '\\') ++position_;
      }
      if (position_ >= end_) {
        position_ = end_;
        return value.Error("a string has no closing quote");
      }
    } else if (c == '{' || c == '(' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ')' || c == ']') {
      if (depth == 0) break;
      --depth;
    } else if (depth == 0 && (c == ',' || absl::ascii_isspace(c))) {
      break;
    }
  }
  if (depth > 0) return value.Error("a bracket is not closed");
  value.end_ = position_;
  if (value.position_ == value.end_) return Error("expected a value");
  return value;
}

void TextCursor::SkipLine() {
  const size_t stop = text_.find('\n', position_);
  position_ = stop == text_.npos ? end_ : std::min(stop + 1, end_);
}

absl::Status TextCursor::Error(std::string_view what) const {
  const auto line =
      1 + std::count(text_.begin(), text_.begin() + position_, '\n');
  return absl::InvalidArgumentError(
      absl::StrCat("line ", line, ": ", std::string(what)));
}

}  // namespace meshwright::ir
