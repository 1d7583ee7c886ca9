#include "planner/problem/duration.h"

#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace meshwright::problem {

absl::StatusOr<Picoseconds> FromSeconds(double seconds,
                                        std::string_view field) {
  const std::string name(field);
  if (std::isnan(seconds)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is not a number; give a finite time"));
  }
  if (seconds < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is negative: ", seconds, "; give 0 or more"));
  }
  if (std::isinf(seconds)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is infinite; give a finite time"));
  }
  if (seconds > ToSeconds(kMaxTime)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is ", seconds, " seconds, more than the ",
                     static_cast<int64_t>(ToSeconds(kMaxTime)),
                     " the planner can add up; give seconds"));
  }
  return Picoseconds(std::llrint(seconds * 1e12));
}

double ToSeconds(Picoseconds time) {
  return static_cast<double>(time.count()) / 1e12;
}

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return std::numeric_limits<int64_t>::max();
  }
  return sum;
}

int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return std::numeric_limits<int64_t>::max();
  }
  return product;
}

}  // namespace meshwright::problem
