// Time in integer picoseconds, so that equal plans compare equal.
//
// Units: seconds at the edge of the planner (JSON, messages), picoseconds
// inside. A single time is at most kMaxTime; sums are made in 128 bits or
// saturate, so nothing wraps around.
// Errors: FromSeconds gives kInvalidArgument, naming `field`, for a NaN, an
// infinity, a negative time or one beyond kMaxTime.
#ifndef MESHWRIGHT_PLANNER_PROBLEM_DURATION_H_
#define MESHWRIGHT_PLANNER_PROBLEM_DURATION_H_

#include <chrono>
#include <cstdint>
#include <ratio>
#include <string_view>

#include "absl/status/statusor.h"

namespace meshwright::problem {

using Picoseconds = std::chrono::duration<int64_t, std::pico>;

// About 23 days: room for the sum of two in an int64_t, twice over.
inline constexpr Picoseconds kMaxTime{2'000'000'000'000'000'000};

// The nearest picosecond, ties to even.
absl::StatusOr<Picoseconds> FromSeconds(double seconds, std::string_view field);

double ToSeconds(Picoseconds time);

// a + b, held at the largest int64_t. For non-negative figures.
int64_t SaturatingAdd(int64_t a, int64_t b);
int64_t SaturatingMultiply(int64_t a, int64_t b);

}  // namespace meshwright::problem

#endif  // MESHWRIGHT_PLANNER_PROBLEM_DURATION_H_
