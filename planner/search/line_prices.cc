#include "planner/search/line_prices.h"

#include <algorithm>
#include <utility>

#include "planner/search/guides.h"

namespace meshwright::search {
namespace {

std::vector<Cost> PricedTimes(const Block& block, int64_t price) {
  std::vector<Cost> times;
  for (int v = 0; v < block.size(); ++v) {
    times.push_back(PricedTime(block, v, price));
  }
  return times;
}

void Add(const std::vector<Cost>& own, std::vector<Cost>& values) {
  for (size_t v = 0; v < own.size(); ++v) {
    values[v] = Clamp(values[v] + own[v]);
  }
}

Cost LeastOf(const std::vector<Cost>& values) {
  Cost least = kNever;
  for (const Cost value : values) least = std::min(least, value);
  return least;
}

}  // namespace

LinePrices::LinePrices(const Line& line, int64_t price, const Until& until)
    : line_(line), price_(price), left_(line.size()) {
  for (size_t b = line.size(); b > 0; --b) {
    const Block& block = line[b - 1];
    const std::vector<Cost> own = PricedTimes(block, price);
    Values& values = left_[b - 1];
    values.resize(block.copies);
    for (int64_t copy = block.copies - 1; copy >= 0; --copy) {
      if (until()) return;
      if (copy + 1 < block.copies) {
        values[copy] = MinPlus(Link{&block.inner}, values[copy + 1]);
      } else if (b < line.size()) {
        values[copy] = MinPlus(Link{&block.next}, left_[b].front());
      } else {
        values[copy].assign(own.size(), 0);
      }
      Add(own, values[copy]);
    }
  }
  cost_ = LeastOf(left_.front().front());
  is_complete_ = true;
}

std::vector<Walk> LinePrices::Walks() const {
  std::vector<Walk> walks(line_.size());
  const Matrix* join = nullptr;
  int at = 0;
  for (size_t b = 0; b < line_.size(); ++b) {
    for (const std::vector<Cost>& values : left_[b]) {
      int best = 0;
      Cost least = kNever;
      for (size_t v = 0; v < values.size(); ++v) {
        const Cost cost =
            values[v] +
            (join == nullptr ? 0 : join->at(at, static_cast<int>(v)));
        if (cost >= least) continue;
        least = cost;
        best = static_cast<int>(v);
      }
      walks[b].push_back(at = best);
      join = &line_[b].inner;
    }
    join = &line_[b].next;
  }
  return walks;
}

std::vector<std::vector<Cost>> LinePrices::Through(const Until& until) const {
  std::vector<std::vector<Cost>> through;
  std::vector<Cost> before;  // up to the copy, its own not included
  for (size_t b = 0; b < line_.size(); ++b) {
    const Block& block = line_[b];
    const std::vector<Cost> own = PricedTimes(block, price_);
    std::vector<Cost>& least = through.emplace_back(own.size(), kNever);
    for (int64_t copy = 0; copy < block.copies; ++copy) {
      if (until()) return {};
      if (b == 0 && copy == 0) {
        before.assign(own.size(), 0);
      } else {
        const Matrix& join = copy == 0 ? line_[b - 1].next : block.inner;
        before = MinPlus(Link{&join, true}, before);
      }
      for (size_t v = 0; v < own.size(); ++v) {
        least[v] = std::min(least[v], Clamp(before[v] + left_[b][copy][v]));
      }
      Add(own, before);
    }
  }
  return through;
}

Line Without(const Line& line, const std::vector<std::vector<Cost>>& through,
             Cost most) {
  std::vector<std::vector<int>> kept(line.size());
  for (size_t b = 0; b < line.size(); ++b) {
    for (int v = 0; v < line[b].size(); ++v) {
      if (through[b][v] <= most) kept[b].push_back(v);
    }
  }
  return Kept(line, kept);
}

}  // namespace meshwright::search
