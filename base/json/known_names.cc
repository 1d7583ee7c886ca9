#include "base/json/known_names.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/ascii.h"

namespace meshwright::base {
namespace {

constexpr size_t kMaxSize = 40;  // of a name that may be meant for another
constexpr size_t kMinBeginning = 4;
constexpr size_t kMaxLetters = 2;  // that differ

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
  if (shorter < kMinBeginning) return name == known;
  if (name.starts_with(known) || known.starts_with(name)) return true;
  return shorter > 2 * kMaxLetters && Difference(name, known) <= kMaxLetters;
}

}  // namespace

std::optional<Misspelling> FindMisspelt(
    const std::vector<std::string_view>& written,
    const std::vector<std::string_view>& known) {
  for (const std::string_view name : written) {
    if (name.size() > kMaxSize || std::ranges::count(known, name) > 0) continue;
    const std::string plain = Plain(name);
    for (const std::string_view other : known) {
      if (std::ranges::count(written, other) > 0) continue;
      if (IsNear(plain, Plain(other))) {
        return Misspelling{std::string(name), std::string(other)};
      }
    }
  }
  return std::nullopt;
}

}  // namespace meshwright::base
