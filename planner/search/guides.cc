#include "planner/search/guides.h"

#include <algorithm>
#include <utility>

#include "planner/search/least_mean.h"

namespace meshwright::search {
namespace {

// The least of a step and what is left after it.
std::vector<Cost> After(const Matrix& step, const std::vector<Cost>& left) {
  std::vector<Cost> least = MinPlus(Link{&step}, left);
  // A step may cost less than nothing, so that never may have become less.
  for (Cost& cost : least) {
    if (cost > kNever / 2) cost = kNever;
  }
  return least;
}

// `left` at the vertices of one kind, kNever at the others.
std::vector<Cost> Only(const std::vector<bool>& is_root, bool root,
                       std::vector<Cost> left) {
  for (size_t v = 0; v < left.size(); ++v) {
    if (is_root[v] != root) left[v] = kNever;
  }
  return left;
}

// Lets `left` fall until no step makes it less.
void Settle(const Matrix& step, std::vector<Cost>& left) {
  bool is_changed = true;
  while (is_changed) {
    is_changed = false;
    const std::vector<Cost> after = After(step, left);
    for (size_t c = 0; c < left.size(); ++c) {
      if (after[c] >= left[c]) continue;
      left[c] = after[c];
      is_changed = true;
    }
  }
}

void AddMean(const Block& block, const std::vector<Loop>& loops, int64_t price,
             Guide& guide) {
  guide.step = block.inner;
  for (int c = 0; c < block.size(); ++c) {
    for (int d = 0; d < block.size(); ++d) {
      Cost& cost =
          guide.step.entries[static_cast<size_t>(c) * block.size() + d];
      cost = Clamp(cost + PricedTime(block, d, price));
    }
  }
  std::vector<Closed> known;
  for (const Loop& loop : loops) known.push_back(loop.vertices);
  guide.mean = LeastMean(guide.step, known);
  for (Cost& cost : guide.step.entries) {
    if (cost < kNever) cost -= guide.mean;
  }
}

void AddLong(const Block& block, const std::vector<Loop>& loops, int64_t price,
             const Until& until, Guide& guide) {
  AddMean(block, loops, price, guide);
  guide.is_root.assign(block.size(), false);
  for (const Loop& loop : loops) guide.is_root[loop.vertices.front()] = true;
  guide.visited = guide.exit;
  Settle(guide.step, guide.visited);
  // What is reached by a root is final; the rest settles towards it.
  guide.unvisited = After(guide.step, Only(guide.is_root, true, guide.visited));
  Settle(guide.step, guide.unvisited);
  guide.none.push_back(guide.exit);
  for (int64_t left = 1; left < block.copies; ++left) {
    if (until()) return;
    guide.none.push_back(
        After(guide.step, Only(guide.is_root, false, guide.none.back())));
  }
  for (int v = 0; v < block.size(); ++v) {
    const Cost left = guide.Left(v, guide.is_root[v], block.copies - 1);
    guide.entry.push_back(
        left >= kNever ? kNever : left + guide.mean * (block.copies - 1));
  }
}

}  // namespace

std::vector<Guide> MakeGuides(const Line& line,
                              const std::vector<std::vector<Loop>>& loops,
                              int64_t price, const Until& until) {
  std::vector<Guide> guides(line.size());
  for (size_t b = line.size(); b > 0; --b) {
    const Block& block = line[b - 1];
    Guide& guide = guides[b - 1];
    guide.exit.assign(block.size(), b == line.size() ? 0 : kNever);
    for (int c = 0; b < line.size() && c < block.size(); ++c) {
      for (int d = 0; d < line[b].size(); ++d) {
        const Cost rest = guides[b].entry[d];
        const Cost arrive =
            Clamp(block.next.at(c, d) + PricedTime(line[b], d, price));
        if (rest >= kNever || arrive >= kNever) continue;
        guide.exit[c] = std::min(guide.exit[c], arrive + rest);
      }
    }
    if (block.copies > 1) {
      AddLong(block, loops[b - 1], price, until, guide);
      if (until()) return guides;
    } else {
      guide.entry = guide.exit;
    }
  }
  return guides;
}

std::vector<Cost> ReachedOf(const LongBlock& where) {
  const Line& line = where.line;
  const std::vector<Guide>& guides = where.guides;
  std::vector<Cost> reached;
  for (size_t b = 0; b <= where.at; ++b) {
    std::vector<Cost> entered(line[b].size(), b == 0 ? 0 : kNever);
    for (size_t c = 0; b > 0 && c < reached.size(); ++c) {
      for (int v = 0; v < line[b].size(); ++v) {
        if (reached[c] >= kNever || line[b - 1].next.at(c, v) >= kNever) {
          continue;
        }
        entered[v] =
            std::min(entered[v], reached[c] + line[b - 1].next.at(c, v));
      }
    }
    for (int v = 0; v < line[b].size(); ++v) {
      if (entered[v] >= kNever) continue;
      entered[v] += PricedTime(line[b], v, where.price);
      if (line[b].copies > 1) {
        entered[v] += guides[b].mean * (line[b].copies - 1);
      }
    }
    reached = std::move(entered);
    if (line[b].copies == 1) continue;
    bool is_changed = true;
    while (is_changed) {
      is_changed = false;
      for (int c = 0; c < line[b].size(); ++c) {
        if (reached[c] >= kNever) continue;
        for (int d = 0; d < line[b].size(); ++d) {
          const Cost step = guides[b].step.at(c, d);
          if (step >= kNever || reached[c] + step >= reached[d]) continue;
          reached[d] = reached[c] + step;
          is_changed = true;
        }
      }
    }
  }
  return reached;
}

}  // namespace meshwright::search
