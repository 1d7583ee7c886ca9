#include "planner/search/bracket.h"

#include <algorithm>

namespace meshwright::search {
namespace {

constexpr int64_t kFirstStep = 32;  // a part of the first price
constexpr int64_t kLonger = 4;
constexpr int kMostGuesses = 3;

}  // namespace

Bracket::Bracket(const Point& fast, const Point& small, int64_t around,
                 int64_t dearest)
    : fast_{fast, false},
      small_{small, false},
      step_(1 + around / kFirstStep),
      dearest_(dearest) {}

std::optional<int64_t> Bracket::Next(int64_t price, const Point& plan,
                                     bool fits) {
  Side& side = fits ? small_ : fast_;
  Side& other = fits ? fast_ : small_;
  const bool is_known = side.is_own && side.plan->time == plan.time &&
                        side.plan->bytes == plan.bytes;
  side = {plan, true};
  if (!other.is_own && ++guesses_ > kMostGuesses) other.plan.reset();
  if (!is_known && other.plan.has_value()) {
    const int64_t next = std::min(
        dearest_, PriceBetween(small_.plan->time - fast_.plan->time,
                               fast_.plan->bytes - small_.plan->bytes));
    if (next != price) return next;
  }
  if (other.is_own) return std::nullopt;
  other.plan.reset();
  const int64_t next =
      std::clamp<int64_t>(fits ? price - step_ : price + step_, 0, dearest_);
  step_ = std::min(dearest_ / kLonger, step_) * kLonger;
  if (next == price) return std::nullopt;
  return next;
}

}  // namespace meshwright::search
