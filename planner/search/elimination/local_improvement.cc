#include "planner/search/elimination/local_improvement.h"

#include <algorithm>
#include <utility>

namespace meshwright::search {
namespace {

using problem::SaturatingAdd;

constexpr int kMostSweeps = 20;

}  // namespace

Draft::Draft(const Model& model, std::vector<int> places)
    : model_(model),
      joins_of_(JoinsOf(model)),
      places_(std::move(places)),
      time_(model.base) {
  for (size_t v = 0; v < places_.size(); ++v) {
    const Domain& domain = model.domain(v);
    Add(domain.time[places_[v]], 1);
    bytes_ = SaturatingAdd(bytes_, domain.bytes[places_[v]]);
    ++transients_[domain.transient[places_[v]]];
  }
  for (const Model::Join& join : model.joins) {
    Add(model_.matrices[join.matrix].at(places_[join.a], places_[join.b]), 1);
  }
}

Cost Draft::time() const {
  return forbidden_ > 0 || time_ >= kNever ? kNever : static_cast<Cost>(time_);
}

void Draft::Add(Cost cost, int sign) {
  if (cost >= kNever) {
    forbidden_ += sign;
  } else {
    time_ += sign * static_cast<__int128>(cost);
  }
}

void Draft::AddJoins(int v, int sign) {
  for (const int j : joins_of_[v]) {
    const Model::Join& join = model_.joins[j];
    Add(model_.matrices[join.matrix].at(places_[join.a], places_[join.b]),
        sign);
  }
}

int64_t Draft::peak() const {
  return SaturatingAdd(bytes_, transients_.rbegin()->first);
}

Cost Draft::TimeAt(int v, int place) const {
  Cost time = model_.domain(v).time[place];
  for (const int j : joins_of_[v]) {
    const Model::Join& join = model_.joins[j];
    const Matrix& matrix = model_.matrices[join.matrix];
    time = Clamp(time + (join.a == v ? matrix.at(place, places_[join.b])
                                     : matrix.at(places_[join.a], place)));
  }
  return time;
}

int64_t Draft::PeakAt(int v, int place) const {
  const Domain& domain = model_.domain(v);
  const int64_t own = domain.transient[places_[v]];
  auto largest = transients_.rbegin();
  if (largest->first == own && largest->second == 1) ++largest;
  const int64_t others = largest == transients_.rend() ? 0 : largest->first;
  return SaturatingAdd(
      SaturatingAdd(bytes_ - domain.bytes[places_[v]], domain.bytes[place]),
      std::max(others, domain.transient[place]));
}

void Draft::Move(int v, int place) {
  const Domain& domain = model_.domain(v);
  const int before = places_[v];
  AddJoins(v, -1);
  Add(domain.time[before], -1);
  places_[v] = place;
  Add(domain.time[place], 1);
  AddJoins(v, 1);
  bytes_ = SaturatingAdd(bytes_ - domain.bytes[before], domain.bytes[place]);
  const auto own = transients_.find(domain.transient[before]);
  if (--own->second == 0) transients_.erase(own);
  ++transients_[domain.transient[place]];
}

std::vector<int> Mix(const Model& model, const std::vector<int>& small,
                     const std::vector<int>& fast, int64_t limit_bytes,
                     const base::Deadline& deadline) {
  const size_t size = small.size();
  Cost least = kNever;
  size_t moved = 0;  // of the best plan, from the end it began at
  bool is_backwards = false;
  const auto walk = [&](bool backwards) {
    Draft draft(model, small);
    for (size_t i = 0; i < size && !deadline.HasPassed(); ++i) {
      const size_t v = backwards ? size - 1 - i : i;
      draft.Move(static_cast<int>(v), fast[v]);
      if (draft.time() >= least || draft.peak() > limit_bytes) continue;
      least = draft.time();
      moved = i + 1;
      is_backwards = backwards;
    }
  };
  walk(false);
  walk(true);
  std::vector<int> best = small;
  const size_t begin = is_backwards ? size - moved : 0;
  std::copy_n(fast.begin() + begin, moved, best.begin() + begin);
  return best;
}

std::vector<int> Polish(const Model& model, std::vector<int> places,
                        int64_t limit_bytes, const base::Deadline& deadline) {
  Draft draft(model, std::move(places));
  bool is_changed = true;
  for (int sweep = 0; sweep < kMostSweeps && is_changed; ++sweep) {
    is_changed = false;
    for (size_t v = 0; v < model.variables.size(); ++v) {
      if (deadline.HasPassed()) return draft.places();
      int best = draft.places()[v];
      Cost least = draft.TimeAt(v, best);
      for (int place = 0; place < model.size(v); ++place) {
        const Cost time = draft.TimeAt(v, place);
        if (time >= least || draft.PeakAt(v, place) > limit_bytes) continue;
        least = time;
        best = place;
      }
      if (best == draft.places()[v]) continue;
      draft.Move(v, best);
      is_changed = true;
    }
  }
  return draft.places();
}

}  // namespace meshwright::search
