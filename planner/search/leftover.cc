#include "planner/search/leftover.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace meshwright::search {
namespace {

constexpr int64_t kMostAmount = int64_t{1} << 60;
constexpr int32_t kMostUnits = 1 << 28;
constexpr int64_t kMostWork = 40'000'000;  // cells looked at

Cost LeastOf(const std::vector<Cost>& costs) {
  return *std::min_element(costs.begin(), costs.end());
}

// To the least of what they are and of what is `more` than `from`, but not
// below `floor`. Whether that lowered any.
__attribute__((always_inline)) inline bool LowerEach(const int32_t* from,
                                                     int64_t count,
                                                     int32_t more,
                                                     int32_t floor,
                                                     int32_t* cells) {
  int32_t fallen = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t less = std::min(cells[i], std::max(floor, from[i] + more));
    fallen |= cells[i] - less;
    cells[i] = less;
  }
  return fallen != 0;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) bool LowerEachWide(const int32_t* from,
                                                   int64_t count, int32_t more,
                                                   int32_t floor,
                                                   int32_t* cells) {
  return LowerEach(from, count, more, floor, cells);
}
#endif

bool LowerCells(const int32_t* from, int64_t count, int32_t more, int32_t floor,
                int32_t* cells) {
#if defined(__x86_64__)
  static const bool is_wide = __builtin_cpu_supports("avx2");
  if (is_wide) return LowerEachWide(from, count, more, floor, cells);
#endif
  return LowerEach(from, count, more, floor, cells);
}

}  // namespace

bool Leftover::SetCells(const Block& block, const std::vector<Loop>& loops,
                        int64_t cells) {
  const auto residues = Residues::Make(block, loops, room_);
  if (!residues.has_value()) return false;
  residues_ = *residues;
  const int64_t modulus = residues_.modulus;
  // All below is to fit 64 bits.
  if (static_cast<__int128>(price_) *
          (4 * static_cast<__int128>(modulus) / cells + 2) >
      kMostAmount) {
    return false;
  }
  width_ = (modulus + cells - 1) / cells;
  count_ = (modulus + width_ - 1) / width_;
  over_ = count_ * width_ - modulus;
  per_width_ = 1 / static_cast<double>(width_);
  rate_ = static_cast<int64_t>((static_cast<__int128>(price_) << kRateShift) /
                                   residues_.unit >>
                               kPriceShift) +
          1;
  for (const int64_t bytes : block.bytes) {
    step_.push_back(residues_.Reduced(
        static_cast<__int128>(residues_.unit) * bytes - residues_.a_step));
  }
  return true;
}

Leftover::Shift Leftover::ShiftOf(__int128 amount) const {
  const int64_t reduced = residues_.Reduced(amount);
  if (reduced == 0) return {};
  return {reduced / width_, BackOf(reduced % width_ + over_)};
}

// What a walk rounds off depends on where leftovers are counted from at its
// vertices. Along a tree of steps nothing need be; along the loops neither, as
// rounds end where they began. The cheapest steps are taken, as most walks take
// them.
void Leftover::PlaceVertices(const Block& block, const std::vector<Loop>& loops,
                             std::vector<Arc>& arcs) {
  std::vector<int> group(block.size());
  std::iota(group.begin(), group.end(), 0);
  offset_.assign(block.size(), 0);
  const auto join = [&](int c, int d) {
    if (group[c] == group[d]) return;
    const int64_t moved = residues_.Reduced(offset_[c] - step_[d] - offset_[d]);
    const int gone = group[d];
    for (int v = 0; v < block.size(); ++v) {
      if (group[v] != gone) continue;
      group[v] = group[c];
      offset_[v] = residues_.Reduced(offset_[v] + moved);
    }
  };
  for (const Loop& loop : loops) {
    for (size_t i = 1; i < loop.vertices.size(); ++i) {
      join(loop.vertices[i - 1], loop.vertices[i]);
    }
  }
  std::stable_sort(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) {
    return a.least < b.least;
  });
  for (const Arc& arc : arcs) join(arc.from, arc.to);
  for (Arc& arc : arcs) {
    arc.shift = ShiftOf(step_[arc.to] + offset_[arc.to] - offset_[arc.from]);
  }
}

// Takes into `cells` a way to `after` that costs `cost`, and never less than
// `floor`. Whether that lowered any.
bool Leftover::Lower(Cost cost, const Shift& shift, const Cells& after,
                     int32_t floor, Cells& cells) const {
  const int32_t more = Units(cost - shift.back);
  const int32_t* const from = after.data();
  int32_t* const to = cells.data();
  const int64_t rest = count_ - shift.cells;
  const bool falls_below =
      LowerCells(from + rest, shift.cells, more, floor, to);
  const bool falls_above =
      LowerCells(from, rest, more, floor, to + shift.cells);
  return falls_below || falls_above;
}

int32_t Leftover::Units(Cost cost) const {
  const Cost units =
      cost >= 0 ? cost / unit_cost_ : -((-cost - 1) / unit_cost_) - 1;
  return static_cast<int32_t>(std::clamp<Cost>(units, -kMostUnits, kMostUnits));
}

// What the blocks after this one cost, by the vertex it is left from; more than
// the least of that.
std::vector<Leftover::Cells> Leftover::AfterBlock(
    const LongBlock& where) const {
  const Line& line = where.line;
  Cells over(count_);
  for (int64_t i = 0; i < count_; ++i) {
    over[i] = Units(PriceOf(price_, i * width_ / residues_.unit));
  }
  std::vector<Cells> after(line.back().size(), over);
  for (size_t b = line.size() - 1; b > where.at; --b) {
    const std::vector<Cost>& exit = where.guides[b - 1].exit;
    const Cost least = LeastOf(exit);
    const Cost taken = least - LeastOf(where.guides[b].exit);
    std::vector<Cells> before(line[b - 1].size(), Cells(count_, kMostUnits));
    for (int c = 0; c < line[b - 1].size(); ++c) {
      for (int d = 0; d < line[b].size(); ++d) {
        const Cost join = line[b - 1].next.at(c, d);
        if (join >= kNever || exit[c] >= kNever) continue;
        Lower(join + PricedTime(line[b], d, price_) - taken,
              ShiftOf(static_cast<__int128>(residues_.unit) * line[b].bytes[d]),
              after[d], Units(exit[c] - least), before[c]);
      }
    }
    after = std::move(before);
  }
  return after;
}

// False if it takes too long, or is stopped.
bool Leftover::Settle(const std::vector<Arc>& arcs, int64_t most_passes,
                      const Until& until) {
  std::vector<bool> has_changed(least_.size(), true);
  int64_t work = 0;
  for (int64_t pass = 0; pass < most_passes; ++pass) {
    std::vector<bool> changes(least_.size(), false);
    for (const Arc& arc : arcs) {
      if (!has_changed[arc.to] && !changes[arc.to]) continue;
      work += count_;
      if (Lower(arc.cost, arc.shift, least_[arc.to], floor_[arc.from],
                least_[arc.from])) {
        changes[arc.from] = true;
      }
    }
    if (std::find(changes.begin(), changes.end(), true) == changes.end()) {
      return true;
    }
    if (work > kMostWork || until()) return false;
    has_changed = std::move(changes);
  }
  return true;
}

std::vector<Leftover::Arc> Leftover::UsefulArcs(
    const Block& block, const Guide& guide, const std::vector<Cost>& reached,
    Cost most) const {
  std::vector<Arc> arcs;
  for (int c = 0; c < block.size(); ++c) {
    for (int d = 0; d < block.size(); ++d) {
      const Cost cost = guide.step.at(c, d);
      if (cost >= kNever || reached[c] >= kNever ||
          guide.visited[d] >= kNever ||
          reached[c] + cost + guide.visited[d] > most) {
        continue;
      }
      arcs.push_back({c, d, cost, cost + guide.visited[d] - guide.visited[c]});
    }
  }
  return arcs;
}

std::optional<Leftover> Leftover::Make(const LongBlock& where, Cost most,
                                       int64_t cells, const Until& until) {
  const Line& line = where.line;
  int64_t work = 0;
  for (size_t b = where.at + 1; b < line.size(); ++b) {
    work += static_cast<int64_t>(line[b - 1].size()) * line[b].size() * cells;
    if (line[b].copies > 1 || work > kMostWork) return std::nullopt;
  }
  const Block& block = where.block();
  const Guide& guide = where.guide();
  const std::vector<Cost> reached = ReachedOf(where);
  const Cost base = LeastOf(guide.visited);
  const Cost first = LeastOf(reached);
  if (base >= kNever || first >= kNever || first + base > most ||
      most - first - base > kMostAmount / 8) {
    return std::nullopt;
  }
  Leftover made;
  made.price_ = where.price;
  made.room_ = where.room;
  made.base_ = base;
  made.unit_cost_ = 1 + (most - first - base) / (kMostUnits / 4);
  if (!made.SetCells(block, where.loops, cells)) return std::nullopt;
  std::vector<Arc> arcs = made.UsefulArcs(block, guide, reached, most);
  made.PlaceVertices(block, where.loops, arcs);
  for (const Cost visited : guide.visited) {
    made.floor_.push_back(made.Units(visited - base));
  }
  const std::vector<Cells> after = made.AfterBlock(where);
  made.least_.assign(block.size(), Cells(made.count_, kMostUnits));
  for (int v = 0; v < block.size(); ++v) {
    if (guide.exit[v] >= kNever) continue;
    made.Lower(LeastOf(guide.exit) - base, made.ShiftOf(-made.offset_[v]),
               after[v], made.floor_[v], made.least_[v]);
  }
  if (!made.Settle(arcs, block.copies - 1, until)) return std::nullopt;
  return made;
}

}  // namespace meshwright::search
