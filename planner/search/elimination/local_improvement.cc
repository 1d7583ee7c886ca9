#include "planner/search/elimination/local_improvement.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace meshwright::search {
namespace {

using problem::SaturatingAdd;

constexpr int kMaxSweeps = 40;
constexpr int64_t kMaxExchanged = 200'000;  // values of all variables

// The effect of a move of one variable.
struct Change {
  int v = 0;
  int value = 0;
  Cost time = 0;
  int64_t bytes = 0;
};

// All moves that save time, or else bytes, without a larger transient.
void FindChanges(const Draft& draft, std::vector<Change>& faster,
                 std::vector<Change>& smaller) {
  const Model& model = draft.model();
  const int64_t transient = draft.peak() - draft.bytes();
  for (size_t v = 0; v < model.variables.size(); ++v) {
    const Domain& domain = model.domain(v);
    const int now = draft.values()[v];
    const Cost time = draft.TimeAt(v, now);
    for (int c = 0; c < domain.size(); ++c) {
      if (c == now || domain.transient[c] > transient) continue;
      const Cost other = draft.TimeAt(v, c);
      if (other >= kNever) continue;
      const Change change{static_cast<int>(v), c, other - time,
                          domain.bytes[c] - domain.bytes[now]};
      if (change.time < 0) {
        faster.push_back(change);
      } else if (change.bytes < 0) {
        smaller.push_back(change);
      }
    }
  }
}

// One variable becomes faster, another frees the bytes. Whether any did.
bool Exchange(Draft& draft, int64_t limit_bytes) {
  int64_t values = 0;
  for (size_t v = 0; v < draft.values().size(); ++v) {
    values += draft.model().size(v);
  }
  if (draft.time() >= kNever || values > kMaxExchanged) return false;
  std::vector<Change> faster;
  std::vector<Change> smaller;
  FindChanges(draft, faster, smaller);
  std::stable_sort(
      smaller.begin(), smaller.end(),
      [](const Change& a, const Change& b) { return a.bytes < b.bytes; });
  // Of those up to each: the quickest, and the quickest of another variable.
  struct Quickest {
    int first = 0;
    std::optional<int> second;
  };
  std::vector<Quickest> quickest;
  for (int i = 0; i < static_cast<int>(smaller.size()); ++i) {
    auto [first, second] = i == 0 ? Quickest{i, std::nullopt} : quickest.back();
    if (smaller[i].time < smaller[first].time) {
      if (smaller[i].v != smaller[first].v) second = first;
      first = i;
    } else if (smaller[i].v != smaller[first].v &&
               (!second.has_value() ||
                smaller[i].time < smaller[*second].time)) {
      second = i;
    }
    quickest.push_back({first, second});
  }
  struct Pair {
    Cost time = 0;
    int faster = 0;
    int smaller = 0;
  };
  std::vector<Pair> pairs;
  const int64_t byte_budget = limit_bytes - draft.peak();
  for (size_t i = 0; i < faster.size(); ++i) {
    const int64_t max_bytes = byte_budget - faster[i].bytes;
    const auto end = std::upper_bound(smaller.begin(), smaller.end(), max_bytes,
                                      [](int64_t bytes, const Change& change) {
                                        return bytes < change.bytes;
                                      });
    if (end == smaller.begin()) continue;
    const auto& [first, second] = quickest[end - smaller.begin() - 1];
    const std::optional<int> other =
        smaller[first].v == faster[i].v ? second : first;
    if (!other.has_value()) continue;
    const Cost time = faster[i].time + smaller[*other].time;
    if (time < 0) pairs.push_back({time, static_cast<int>(i), *other});
  }
  std::stable_sort(
      pairs.begin(), pairs.end(),
      [](const Pair& a, const Pair& b) { return a.time < b.time; });
  bool is_changed = false;
  for (const Pair& pair : pairs) {
    // Neighbours, and pairs before this one, make it differ.
    const Change& a = faster[pair.faster];
    const Change& b = smaller[pair.smaller];
    const Cost before = draft.time();
    const int value_a = draft.values()[a.v];
    const int value_b = draft.values()[b.v];
    draft.Move(a.v, a.value);
    draft.Move(b.v, b.value);
    if (draft.time() < before && draft.peak() <= limit_bytes) {
      is_changed = true;
      continue;
    }
    draft.Move(a.v, value_a);
    draft.Move(b.v, value_b);
  }
  return is_changed;
}

}  // namespace

Draft::Draft(const Model& model, std::vector<int> values)
    : model_(model),
      joins_of_(FindJoins(model)),
      values_(std::move(values)),
      time_(model.base) {
  for (size_t v = 0; v < values_.size(); ++v) {
    const Domain& domain = model.domain(v);
    Add(domain.time[values_[v]], 1);
    bytes_ = SaturatingAdd(bytes_, domain.bytes[values_[v]]);
    ++transients_[domain.transient[values_[v]]];
  }
  for (const Model::Join& join : model.joins) {
    Add(model_.matrices[join.matrix].at(values_[join.a], values_[join.b]), 1);
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
    Add(model_.matrices[join.matrix].at(values_[join.a], values_[join.b]),
        sign);
  }
}

int64_t Draft::peak() const {
  return SaturatingAdd(bytes_, transients_.rbegin()->first);
}

Cost Draft::TimeAt(int v, int value) const {
  Cost time = model_.domain(v).time[value];
  for (const int j : joins_of_[v]) {
    const Model::Join& join = model_.joins[j];
    const Matrix& matrix = model_.matrices[join.matrix];
    time = Clamp(time + (join.a == v ? matrix.at(value, values_[join.b])
                                     : matrix.at(values_[join.a], value)));
  }
  return time;
}

int64_t Draft::PeakAt(int v, int value) const {
  const Domain& domain = model_.domain(v);
  const int64_t own = domain.transient[values_[v]];
  auto largest = transients_.rbegin();
  if (largest->first == own && largest->second == 1) ++largest;
  const int64_t others = largest == transients_.rend() ? 0 : largest->first;
  return SaturatingAdd(
      SaturatingAdd(bytes_ - domain.bytes[values_[v]], domain.bytes[value]),
      std::max(others, domain.transient[value]));
}

void Draft::Move(int v, int value) {
  const Domain& domain = model_.domain(v);
  const int before = values_[v];
  AddJoins(v, -1);
  Add(domain.time[before], -1);
  values_[v] = value;
  Add(domain.time[value], 1);
  AddJoins(v, 1);
  bytes_ = SaturatingAdd(bytes_ - domain.bytes[before], domain.bytes[value]);
  const auto own = transients_.find(domain.transient[before]);
  if (--own->second == 0) transients_.erase(own);
  ++transients_[domain.transient[value]];
}

std::vector<int> Mix(const Model& model, const std::vector<int>& small,
                     const std::vector<int>& fast, int64_t limit_bytes,
                     const base::Deadline& deadline) {
  const size_t size = small.size();
  Cost min_time = kNever;
  size_t moved = 0;  // of the best plan, from the end it began at
  bool is_backwards = false;
  const auto walk = [&](bool backwards) {
    Draft draft(model, small);
    for (size_t i = 0; i < size && !deadline.HasPassed(); ++i) {
      const size_t v = backwards ? size - 1 - i : i;
      draft.Move(static_cast<int>(v), fast[v]);
      if (draft.time() >= min_time || draft.peak() > limit_bytes) continue;
      min_time = draft.time();
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

std::vector<int> Polish(const Model& model, std::vector<int> values,
                        int64_t limit_bytes, const base::Deadline& deadline) {
  Draft draft(model, std::move(values));
  bool is_changed = true;
  for (int sweep = 0; sweep < kMaxSweeps && is_changed; ++sweep) {
    is_changed = false;
    for (size_t v = 0; v < model.variables.size(); ++v) {
      if (deadline.HasPassed()) return draft.values();
      int best = draft.values()[v];
      Cost min_time = draft.TimeAt(v, best);
      for (int value = 0; value < model.size(v); ++value) {
        const Cost time = draft.TimeAt(v, value);
        if (time >= min_time || draft.PeakAt(v, value) > limit_bytes) continue;
        min_time = time;
        best = value;
      }
      if (best == draft.values()[v]) continue;
      draft.Move(v, best);
      is_changed = true;
    }
    if (!is_changed) is_changed = Exchange(draft, limit_bytes);
  }
  return draft.values();
}

}  // namespace meshwright::search
