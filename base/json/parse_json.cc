#include "base/json/parse_json.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace meshwright::base {
namespace {

using nlohmann::json;

constexpr size_t kMaxName = 40;
constexpr int kOutOfRange = 406;  // of nlohmann's errors

std::string Printable(std::string_view text, size_t max) {
  std::string printable(text.substr(0, max));
  for (char& c : printable) {
    if (c < ' ' || c > '~' || c == '\'') c = ' ';
  }
  while (!printable.empty() && printable.back() == ' ') printable.pop_back();
  return printable;
}

// A few characters of what stands at the fault.
std::string Excerpt(std::string_view text, size_t position) {
  const size_t begin = position == 0 ? 0 : position - 1;
  return Printable(text.substr(std::min(begin, text.size())), 12);
}

bool IsNoNumber(const std::string& excerpt) {
  std::string figure = excerpt.substr(excerpt.starts_with('-') ? 1 : 0, 3);
  absl::AsciiStrToLower(&figure);
  return figure == "nan" || figure == "inf";
}

// Builds the document. False from a callback ends the parse, with `fault_`.
class Builder final : public nlohmann::json_sax<json> {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  bool null() override { return Put(nullptr); }
  bool boolean(bool value) override { return Put(value); }
  bool number_integer(number_integer_t value) override { return Put(value); }
  bool number_unsigned(number_unsigned_t value) override { return Put(value); }
  bool number_float(number_float_t value, const string_t&) override {
    return Put(value);
  }
  bool string(string_t& value) override { return Put(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(json::object()); }
  bool start_array(size_t) override { return Open(json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.name = std::move(name);
    if (!level.value->contains(level.name)) return true;
    fault_ = absl::StrCat(Place(), " stands twice; leave one of them");
    return false;
  }

  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    const std::string place = Place();
    const std::string excerpt = Excerpt(text_, position);
    if (error.id == kOutOfRange) {
      fault_ = absl::StrCat(place, " is ", Printable(token, kMaxName),
                            ", a number out of range; give a finite one");
    } else {
      fault_ = absl::StrCat(
          "not JSON at byte ", position, place.empty() ? "" : " in the field ",
          place, ": unexpected '", excerpt, "'",
          IsNoNumber(excerpt) ? "; give a finite number" : "");
    }
    return false;
  }

  json&& document() && { return std::move(document_); }
  const std::string& fault() const { return fault_; }

 private:
  // An open list or object, and the member that is read.
  struct Level {
    json* value;
    std::string name;
  };

  json* Add(json value) {
    if (levels_.empty()) return &(document_ = std::move(value));
    const Level& level = levels_.back();
    if (level.value->is_object()) {
      return &((*level.value)[level.name] = std::move(value));
    }
    level.value->push_back(std::move(value));
    return &level.value->back();
  }

  bool Put(json value) {
    Add(std::move(value));
    return true;
  }

  bool Open(json value) {
    if (levels_.size() >= kMaxNesting) {
      const std::string place = Place();
      fault_ = absl::StrCat(Printable(place, kMaxName),
                            " holds lists in lists, over ", kMaxNesting,
                            " deep; nothing that is read is so deep");
      return false;
    }
    json* const added = Add(std::move(value));
    levels_.push_back({added, ""});
    return true;
  }

  bool Close() {
    levels_.pop_back();
    return true;
  }

  // Of what is read, or comes next: the open list of the last level is not
  // over, those before hold the level after them.
  std::string Place() const {
    std::string place;
    for (const Level& level : levels_) {
      if (level.value->is_array()) {
        const size_t held = &level == &levels_.back() ? 0 : 1;
        absl::StrAppend(&place, "[", level.value->size() - held, "]");
      } else if (!level.name.empty()) {
        absl::StrAppend(&place, place.empty() ? "" : ".",
                        Printable(level.name, kMaxName));
      }
    }
    return place;
  }

  const std::string_view text_;
  json document_;
  std::vector<Level> levels_;
  std::string fault_;
};

}  // namespace

absl::StatusOr<json> ParseJson(std::string_view text) {
  Builder builder(text);
  if (!json::sax_parse(text.begin(), text.end(), &builder)) {
    return absl::InvalidArgumentError(builder.fault());
  }
  return std::move(builder).document();
}

}  // namespace meshwright::base
