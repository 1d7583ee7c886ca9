#include "planner/search/residues.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace meshwright::search {
namespace {

constexpr int64_t kMostAmount = int64_t{1} << 60;

// x and y with x * a + y * b = gcd(a, b).
std::pair<int64_t, int64_t> Bezout(int64_t a, int64_t b) {
  if (b == 0) return {1, 0};
  const auto [x, y] = Bezout(b, a % b);
  return {y, x - a / b * y};
}

}  // namespace

// Of one loop the steps left say all: any modulus will do that is large beside
// what detours differ by.
std::optional<Residues> Residues::Make(const Block& block,
                                       const std::vector<Loop>& loops,
                                       int64_t room) {
  const Loop& first = loops.front();
  const Loop& second = loops.back();
  Residues made;
  made.unit = std::gcd(first.length(), second.length());
  const auto [x, y] = Bezout(first.length(), second.length());
  const __int128 a_step = static_cast<__int128>(x) * first.bytes +
                          static_cast<__int128>(y) * second.bytes;
  __int128 modulus = static_cast<__int128>(second.length()) * first.bytes -
                     static_cast<__int128>(first.length()) * second.bytes;
  if (loops.size() == 1) {
    const auto [least, most] =
        std::minmax_element(block.bytes.begin(), block.bytes.end());
    modulus = static_cast<__int128>(made.unit) * (*most - *least);
  }
  if (modulus < 0) modulus = -modulus;
  if (modulus == 0 || modulus * block.copies > kMostAmount ||
      static_cast<__int128>(made.unit) * room > kMostAmount) {
    return std::nullopt;
  }
  made.modulus = static_cast<int64_t>(modulus);
  made.a_step = made.Reduced(a_step);
  return made;
}

}  // namespace meshwright::search
