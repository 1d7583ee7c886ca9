#include "planner/problem/known_names.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace meshwright::problem {
namespace {

using nlohmann::json;

constexpr size_t kLongest = 40;  // of a name that may be meant for another
constexpr size_t kShortestBeginning = 4;
constexpr size_t kMostLetters = 2;  // that differ

std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (absl::ascii_isalnum(c)) plain.push_back(absl::ascii_tolower(c));
  }
  return plain;
}

// Letters to change, add or leave out (Levenshtein).
size_t Difference(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

bool IsNear(const std::string& name, const std::string& known) {
  const size_t shorter = std::min(name.size(), known.size());
  if (shorter < kShortestBeginning) return name == known;
  if (name.starts_with(known) || known.starts_with(name)) return true;
  return shorter > 2 * kMostLetters && Difference(name, known) <= kMostLetters;
}

}  // namespace

absl::Status CheckNames(const json& object, const std::string& field,
                        std::initializer_list<std::string_view> known) {
  if (!object.is_object()) return {};
  for (const auto& [name, value] : object.items()) {
    if (name.size() > kLongest ||
        std::find(known.begin(), known.end(), name) != known.end()) {
      continue;
    }
    const std::string plain = Plain(name);
    for (const std::string_view other : known) {
      if (object.contains(other) || !IsNear(plain, Plain(other))) continue;
      const std::string before = field.empty() ? "" : field + ".";
      return absl::InvalidArgumentError(absl::StrCat(
          before, name, " is no field that is read; write ", std::string(other),
          " if that is meant, or leave it out"));
    }
  }
  return {};
}

}  // namespace meshwright::problem
