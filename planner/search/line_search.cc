#include "planner/search/line_search.h"

#include <algorithm>

#include "planner/search/improve.h"
#include "planner/search/line_prices.h"
#include "planner/search/narrow.h"

namespace meshwright::search {
namespace {

using problem::SaturatingAdd;

constexpr int kMostRounds = 40;
constexpr int kFewRounds = 4;  // of a range that will be halved
// Detours first look for plans a small part of the bound above it, then
// farther.
constexpr Cost kFirstPart = 1 << 20;
constexpr Cost kFarther = 3;
constexpr Cost kNotSoFar = 2;  // where that meant many labels
constexpr int64_t kFewCandidates = 1000;
constexpr int kFirstTries = 10;

}  // namespace

LineSearch::LineSearch(const Graph& graph,
                       const std::vector<Component>& components,
                       const Line& line, int64_t limit_bytes,
                       const Effort& effort, const Until& until,
                       Incumbent& incumbent, int64_t& candidates)
    : graph_(graph),
      components_(components),
      line_(line),
      model_(LaidOutModel(graph)),
      alone_(Narrow(model_, {})),
      limit_(limit_bytes),
      effort_(effort),
      until_(until),
      incumbent_(incumbent),
      candidates_(candidates),
      costs_(TimeCosts(graph)) {
  const int64_t least = LeastTransient(graph);
  int64_t bytes = 1;
  for (const Block& block : line) {
    const int64_t most =
        *std::max_element(block.bytes.begin(), block.bytes.end());
    bytes =
        SaturatingAdd(bytes, problem::SaturatingMultiply(block.copies, most));
    for (const int64_t transient : block.transient) {
      transients_.push_back(std::max(transient, least));
    }
  }
  dearest_ = PriceBetween(kNever / 8, bytes);
  std::sort(transients_.begin(), transients_.end());
  transients_.erase(std::unique(transients_.begin(), transients_.end()),
                    transients_.end());
}

void LineSearch::Begin(const std::vector<int>& fast,
                       const std::vector<int>& small, Cost least) {
  Range root{.high = static_cast<int>(transients_.size()) - 1,
             .bound = least,
             .fast = SideOf(fast),
             .small = SideOf(small)};
  root.price = NextPrice(root);
  Price(root);
  Keep(std::move(root));
}

LineSearch::Range LineSearch::TakeTop() {
  Range range = open_.top();
  open_.pop();
  return range;
}

void LineSearch::Step() {
  Range range = TakeTop();
  if (range.low == range.high) {
    Prove(range);
    Keep(std::move(range));
    return;
  }
  auto [lower, upper] = Halves(range);
  Keep(std::move(lower));
  Keep(std::move(upper));
}

bool LineSearch::IsOver() const {
  return open_.empty() || open_.top().bound >= incumbent_.time;
}

Cost LineSearch::bound() const {
  return open_.empty() ? given_up_ : std::min(given_up_, open_.top().bound);
}

// Both priced.
std::pair<LineSearch::Range, LineSearch::Range> LineSearch::Halves(
    const Range& range) {
  std::pair<Range, Range> halves(range, range);
  halves.first.high = (range.low + range.high) / 2;
  halves.second.low = halves.first.high + 1;
  Price(halves.first);
  Price(halves.second);
  return halves;
}

void LineSearch::Keep(Range range) {
  if (range.bound < incumbent_.time) open_.push(std::move(range));
}

void LineSearch::Dive() {
  if (open_.empty()) return;
  Range range = TakeTop();
  while (range.low < range.high && !until_()) {
    auto [better, worse] = Halves(range);
    if (worse.bound < better.bound) std::swap(better, worse);
    Keep(std::move(worse));
    range = std::move(better);
  }
  for (int i = 0; i < kFirstTries && range.bound < incumbent_.time; ++i) {
    if (range.low < range.high || until_()) break;
    const Cost time = incumbent_.time;
    Prove(range);
    if (range.proof != nullptr && incumbent_.time < time) break;
  }
  Keep(std::move(range));
}

int64_t LineSearch::RoomOf(const Range& range) const {
  return limit_ - transients_[range.low];
}

int64_t LineSearch::NextPrice(const Range& range) const {
  const Point& small = range.small.point;
  const Point& fast = range.fast.point;
  return std::min(
      dearest_, PriceBetween(small.time - fast.time, fast.bytes - small.bytes));
}

// Raises the bound by better prices, and mixes the plans they lead to.
void LineSearch::Price(Range& range) {
  if (RoomOf(range) < 0) {
    range.bound = kNever;
    return;
  }
  const bool is_root =
      range.low == 0 && range.high + 1 == static_cast<int>(transients_.size());
  const int most = is_root ? kMostRounds : kFewRounds;
  Bracket bracket(range.fast.point, range.small.point, range.price, dearest_);
  int64_t price = range.price;
  for (int round = 0; round < most; ++round) {
    SetCosts(transients_[range.high], price);
    const MinSumResult result =
        MinSum(graph_, components_, costs_, effort_, until_);
    if (result.cost >= kNever) {
      range.bound = kNever;
      return;
    }
    Raise(range, price, result.bound, round == 0);
    if (range.bound >= incumbent_.time) return;
    const auto next = Settle(range, bracket, price, result.slots);
    if (!next.has_value() || until_()) break;
    price = *next;
  }
  MixSides(range);
}

// Takes note of what all plans of the range cost at the price.
void LineSearch::Raise(Range& range, int64_t price, Cost cost,
                       bool is_first) const {
  const Cost bound = cost - PriceOf(price, RoomOf(range));
  if (bound <= range.bound && !is_first) return;
  range.bound = std::max(range.bound, bound);
  range.price = price;
}

// Takes note of the plan the price led to; the next price, if any.
std::optional<int64_t> LineSearch::Settle(Range& range, Bracket& bracket,
                                          int64_t price,
                                          const std::vector<int>& slots) {
  Side side = SideOf(slots);
  const bool fits = side.point.bytes <= RoomOf(range);
  const auto next = bracket.Next(price, side.point, fits);
  (fits ? range.small : range.fast) = std::move(side);
  return next;
}

void LineSearch::MixSides(const Range& range) {
  const std::vector<int> small = PlacesOf(model_, range.small.slots);
  if (Draft(model_, small).peak() > limit_) return;
  const Cost time = incumbent_.time;
  Offer(Mix(model_, small, PlacesOf(model_, range.fast.slots), limit_, until_));
  if (incumbent_.time == time) return;
  Offer(Polish(model_, PlacesOf(model_, incumbent_.slots), limit_, until_));
  if (!fills_.Take(alone_, range.high - range.low + 1, incumbent_.time,
                   range.bound)) {
    return;
  }
  Offer(FillRoom(alone_, PlacesOf(model_, incumbent_.slots), limit_,
                 range.bound, until_));
}

// Time plus priced bytes, without the configurations of too large a
// transient.
void LineSearch::SetCosts(int64_t most_transient, int64_t price) {
  for (size_t u = 0; u < costs_.unaries.size(); ++u) {
    const UnaryKind& kind = graph_.unaries[u];
    for (size_t c = 0; c < kind.time.size(); ++c) {
      costs_.unaries[u][c] =
          kind.transient[c] > most_transient
              ? kNever
              : Clamp(kind.time[c] + PriceOf(price, kind.bytes[c]));
    }
  }
}

// The figures of a plan; it becomes the incumbent if it fits and is better.
LineSearch::Side LineSearch::SideOf(const std::vector<int>& slots) {
  const Draft draft(model_, PlacesOf(model_, slots));
  if (draft.peak() <= limit_ && draft.time() < incumbent_.time) {
    incumbent_.time = draft.time();
    incumbent_.bytes = draft.bytes();
    incumbent_.slots = slots;
  }
  return {{draft.time(), draft.bytes()}, slots};
}

void LineSearch::Offer(const std::vector<int>& places) {
  std::vector<int> slots(places.size());
  for (size_t v = 0; v < places.size(); ++v) {
    slots[v] = model_.domain(v).configs[places[v]];
  }
  SideOf(slots);
}

// Looks for a plan up to the reach, farther each time. The range has nothing
// more to give when its bound is the incumbent's time.
void LineSearch::Prove(Range& range) {
  if (range.proof == nullptr) {
    range.proof = MakeProof(range);
    if (range.proof == nullptr) return;
    range.bound = std::max(range.bound, range.proof->detours().bound());
    range.reach = 1 + range.bound / kFirstPart;
    return;
  }
  const Detours& detours = range.proof->detours();
  // A last step that is small beside the one before is made with it.
  Cost most = Clamp(range.bound + range.reach);
  if (most >= incumbent_.time - 1 - range.reach / 2) {
    most = incumbent_.time - 1;
  }
  const int64_t before = detours.candidates();
  const bool is_whole = range.proof->Look(
      most, effort_.candidates - candidates_, effort_, until_);
  candidates_ += detours.candidates() - before;
  if (detours.time() < incumbent_.time) {
    std::vector<int> slots = incumbent_.slots;
    detours.Choose(slots);
    SideOf(slots);
  }
  if (!is_whole) {
    given_up_ = std::min(given_up_, range.bound);
    range.bound = kNever;
    return;
  }
  range.bound = std::max(range.bound, most + 1);
  // Looking farther multiplies the labels.
  const Cost farther =
      detours.candidates() - before < kFewCandidates ? kFarther : kNotSoFar;
  range.reach = std::min(range.reach, kNever / farther) * farther;
}

// The least that a plan costs which takes the range's least transient; without
// it a plan is one of another range, that has more room.
Cost LineSearch::OwnedCost(const Line& line,
                           const std::vector<std::vector<Cost>>& through,
                           const Range& range) const {
  Cost least = kNever;
  for (size_t b = 0; b < line.size(); ++b) {
    for (int v = 0; v < line[b].size(); ++v) {
      if (range.low > 0 && line[b].transient[v] < transients_[range.low]) {
        continue;
      }
      least = std::min(least, through[b][v]);
    }
  }
  return least;
}

// Prices to the end, on what may still be best at each price.
Line LineSearch::Settled(Range& range) {
  Line line = Capped(line_, transients_[range.high]);
  Bracket bracket(range.fast.point, range.small.point, range.price, dearest_);
  int64_t price = range.price;
  for (int round = 0; round < kMostRounds; ++round) {
    const LinePrices prices(line, price, until_);
    if (!prices.is_complete()) return line;
    if (prices.cost() >= kNever) {
      range.bound = incumbent_.time;
      return line;
    }
    Raise(range, price, prices.cost(), round == 0);
    if (range.bound >= incumbent_.time) return line;
    const auto next =
        Settle(range, bracket, price, SlotsOf(line, prices.Walks()));
    if (round == 1) MixSides(range);
    const auto through = prices.Through(until_);
    if (through.empty()) return line;
    const Cost owned = OwnedCost(line, through, range);
    if (owned < kNever) {
      range.bound =
          std::max(range.bound, owned - PriceOf(price, RoomOf(range)));
    } else {
      range.bound = incumbent_.time;
    }
    if (range.bound >= incumbent_.time) return line;
    line = Without(line, through,
                   Clamp(incumbent_.time - 1 + PriceOf(price, RoomOf(range))));
    if (!next.has_value() || until_()) break;
    price = *next;
  }
  MixSides(range);
  return line;
}

std::vector<int> LineSearch::SlotsOf(const Line& line,
                                     const std::vector<Walk>& walks) const {
  std::vector<int> slots = incumbent_.slots;
  for (size_t b = 0; b < line.size(); ++b) {
    for (size_t copy = 0; copy < walks[b].size(); ++copy) {
      slots[line[b].slot(static_cast<int64_t>(copy))] =
          line[b].configs[walks[b][copy]];
    }
  }
  return slots;
}

// Null where nothing is left to prove, or stopped.
std::unique_ptr<LineProof> LineSearch::MakeProof(Range& range) {
  Line line = Settled(range);
  if (range.bound >= incumbent_.time || until_()) return nullptr;
  for (const Block& block : line) {
    if (block.size() > 0) continue;
    range.bound = incumbent_.time;
    return nullptr;
  }
  return LineProof::Make(std::move(line), range.fast.slots, range.small.slots,
                         range.price, RoomOf(range), until_);
}

}  // namespace meshwright::search
