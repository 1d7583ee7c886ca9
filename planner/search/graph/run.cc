#include "planner/search/graph/run.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "planner/search/graph/min_plus.h"

namespace meshwright::search {
namespace {

// a - b if that is the same in every place and nothing saturates.
std::optional<Cost> Difference(const std::vector<Cost>& a,
                               const std::vector<Cost>& b) {
  std::optional<Cost> difference;
  for (size_t c = 0; c < a.size(); ++c) {
    if ((a[c] >= kNever) != (b[c] >= kNever)) return std::nullopt;
    if (a[c] >= kNever) continue;
    if (difference.has_value() && a[c] - b[c] != *difference) {
      return std::nullopt;
    }
    difference = a[c] - b[c];
  }
  return difference.value_or(0);
}

// Longer ones are left to Powers.
constexpr size_t kLongestPeriod = 64;

// Copies to walk one by one before folding, whose cost is that of k copies per
// level: all of them where folding would cost more.
int64_t Budget(int64_t copies, size_t configs) {
  const int64_t levels = std::bit_width(static_cast<uint64_t>(copies));
  const int64_t folding = static_cast<int64_t>(configs) * levels;
  return copies <= 2 * folding ? copies : std::max<int64_t>(32, folding / 4);
}

}  // namespace

Powers& PowersCache::FindPowers(int unary, const std::vector<Cost>& costs,
                                int matrix, const MatrixView& link) {
  auto& known = known_[{unary, matrix, link.transposed}];
  if (known == nullptr) {
    const int size = costs.size();
    Matrix step{size, size, {}};
    for (int c = 0; c < size; ++c) {
      for (int d = 0; d < size; ++d) {
        step.entries.push_back(Clamp(costs[c] + link.at(c, d)));
      }
    }
    known = std::make_unique<Powers>(std::move(step));
  }
  return *known;
}

void Run::SolveTail(const std::vector<Cost>& unary,
                    const std::vector<Cost>& rest) {
  const auto add = [&](std::vector<Cost> values) {
    for (size_t c = 0; c < values.size(); ++c) {
      values[c] = Clamp(values[c] + unary[c]);
    }
    return values;
  };
  tail_.push_back(add(rest));
  const int64_t max_tail = std::min(copies_, Budget(copies_, unary.size()));
  Cost step = 0;  // from one period to the one before
  while (static_cast<int64_t>(tail_.size()) < max_tail && period_ == 0) {
    tail_.push_back(add(MinPlus(inner_, tail_.back())));
    const size_t last = tail_.size() - 1;
    for (size_t period = 1; period <= std::min(last, kLongestPeriod);
         ++period) {
      const auto difference = Difference(tail_[last], tail_[last - period]);
      if (!difference.has_value()) continue;
      step = *difference;
      period_ = period;
      break;
    }
  }
  value_ = tail_.back();
  if (period_ == 0) return;
  const size_t shape = Shape(copies_ - 1);
  const int64_t periods = (copies_ - 1 - static_cast<int64_t>(shape)) /
                          static_cast<int64_t>(period_);
  value_ = tail_[shape];
  for (Cost& cost : value_) {
    const __int128 sum = static_cast<__int128>(step) * periods + cost;
    cost = cost >= kNever || sum >= kNever ? kNever : static_cast<Cost>(sum);
  }
}

// The vector of tail_ that is, but for a constant, the value at the copy that
// far from the last.
size_t Run::Shape(int64_t from_end) const {
  const int64_t size = tail_.size();
  if (from_end < size) return from_end;
  return size - period_ + (from_end - size) % period_;
}

void Run::Fold(Powers& powers, int64_t left) {
  powers_ = &powers;
  for (int level = 0; (left >> level) > 0; ++level) {
    if (((left >> level) & 1) == 0) continue;
    powers.Grow(level);
    blocks_.push_back({level, value_});
    value_ = powers.Apply(level, value_);
  }
  std::reverse(blocks_.begin(), blocks_.end());
}

int Run::Best(int from, const std::vector<Cost>& next) const {
  int best = 0;
  Cost min_cost = kNever;
  for (size_t d = 0; d < next.size(); ++d) {
    const Cost cost = inner_.at(from, d) + next[d];
    if (cost < min_cost) {
      min_cost = cost;
      best = d;
    }
  }
  return best;
}

void Run::Choose(int first, std::vector<int>& values) const {
  int at = first;
  for (const Block& block : blocks_) {
    const int to = powers_->Choose(block.level, at, block.next);
    powers_->Expand(block.level, at, to, values);
    at = to;
  }
  ChooseSteady(at, values);
  for (size_t position = tail_.size() - 1; position > 0; --position) {
    at = Best(at, tail_[position - 1]);
    values.push_back(at);
  }
}

// The copies before those of tail_, up to its first.
void Run::ChooseSteady(int& at, std::vector<int>& values) const {
  if (period_ == 0) return;
  const int64_t size = tail_.size();
  const size_t configs = tail_.back().size();
  // By vector of tail_ and configuration.
  std::vector<std::optional<int>> after(tail_.size() * configs);
  for (int64_t next = copies_ - 2; next >= size - 1; --next) {
    const size_t shape = Shape(next);
    std::optional<int>& known = after[shape * configs + at];
    if (!known.has_value()) known = Best(at, tail_[shape]);
    at = *known;
    values.push_back(at);
  }
}

}  // namespace meshwright::search
