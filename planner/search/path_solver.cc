#include "planner/search/path_solver.h"

#include <algorithm>
#include <limits>

namespace meshwright::search {
namespace {

// The first configuration of least cost.
int ArgMin(const std::vector<Cost>& values) {
  return std::min_element(values.begin(), values.end()) - values.begin();
}

}  // namespace

PathSolver::PathSolver(const Path& path, const Costs& costs,
                       PowersCache& powers)
    : path_(path), costs_(costs), powers_(powers) {
  if (path.in_order) {
    SolveInOrder();
  } else {
    SolveByPlaces();
  }
}

Link PathSolver::LinkOf(const MatrixUse& use) const {
  return {&costs_.matrix(use.matrix), use.transposed};
}

void PathSolver::SolveInOrder() {
  for (auto item = path_.items.rbegin(); item != path_.items.rend(); ++item) {
    const std::vector<Cost>& unary = costs_.unaries[item->unary];
    const std::vector<Cost> rest =
        runs_.empty() ? std::vector<Cost>(unary.size(), 0)
                      : MinPlus(LinkOf(*item->next), runs_.back().value());
    const Link inner = item->inner ? LinkOf(*item->inner) : Link{};
    runs_.emplace_back(unary, inner, item->copies, rest, [&]() -> Powers& {
      return powers_.Of(item->unary, unary, item->inner->matrix, inner);
    });
  }
  const std::vector<Cost>& value = runs_.back().value();
  cost_ = *std::min_element(value.begin(), value.end());
}

PathSolver::Place PathSolver::MakePlace(const Item& item, int64_t slot) const {
  return {&item, slot, costs_.unaries[item.unary], {}};
}

// Whether the plan with `a` at `place` is smaller in slot order than with `b`.
bool PathSolver::IsSmaller(size_t place, int a, int b) const {
  int64_t slot = std::numeric_limits<int64_t>::max();
  bool is_smaller = false;
  for (size_t p = place; a != b; --p) {
    const Place& at = places_[p];
    if (at.slot < slot) {
      slot = at.slot;
      is_smaller = a < b;
    }
    if (p == 0) break;
    a = at.next[a];
    b = at.next[b];
  }
  return is_smaller;
}

void PathSolver::Join(Place& place, const MatrixUse& use, size_t after) const {
  const Link link = LinkOf(use);
  const Place& next = places_[after];
  place.next.assign(place.value.size(), 0);
  for (size_t c = 0; c < place.value.size(); ++c) {
    Cost least = kNever;
    for (size_t d = 0; d < next.value.size(); ++d) {
      const Cost cost = link.at(c, d) + next.value[d];
      if (cost > least || cost >= kNever) continue;
      if (cost == least && !IsSmaller(after, d, place.next[c])) continue;
      least = cost;
      place.next[c] = d;
    }
    place.value[c] = Clamp(place.value[c] + least);
  }
}

void PathSolver::SolveByPlaces() {
  for (auto item = path_.items.rbegin(); item != path_.items.rend(); ++item) {
    for (int64_t copy = item->copies - 1; copy >= 0; --copy) {
      Place place = MakePlace(*item, item->first_slot + item->step * copy);
      if (!places_.empty()) {
        const bool is_last = copy == item->copies - 1;
        Join(place, is_last ? *item->next : *item->inner, places_.size() - 1);
      }
      places_.push_back(std::move(place));
    }
  }
  const std::vector<Cost>& value = places_.back().value;
  cost_ = *std::min_element(value.begin(), value.end());
}

void PathSolver::Choose(std::vector<int>& slots) const {
  if (path_.in_order) {
    int at = ArgMin(runs_.back().value());
    std::vector<int> places;
    for (size_t i = 0; i < path_.items.size(); ++i) {
      const Run& run = runs_[runs_.size() - 1 - i];
      if (i > 0) {
        const Link link = LinkOf(*path_.items[i - 1].next);
        std::vector<Cost> sums = run.value();
        for (size_t d = 0; d < sums.size(); ++d) sums[d] += link.at(at, d);
        at = ArgMin(sums);
      }
      places.assign(1, at);
      run.Choose(at, places);
      int64_t slot = path_.items[i].first_slot;
      for (const int place : places) {
        slots[slot] = place;
        slot += path_.items[i].step;
      }
      at = places.back();
    }
    return;
  }
  const Place& first = places_.back();
  int at = ArgMin(first.value);
  for (size_t c = at + 1; c < first.value.size(); ++c) {
    if (first.value[c] == first.value[at] &&
        IsSmaller(places_.size() - 1, c, at)) {
      at = c;
    }
  }
  for (size_t p = places_.size(); p > 0; --p) {
    slots[places_[p - 1].slot] = at;
    if (p > 1) at = places_[p - 1].next[at];
  }
}

}  // namespace meshwright::search
