#include "coordinator/selection/substitution_bound.h"

#include <algorithm>

namespace meshwright::selection {

using problem::Picoseconds;
using segmenter::SegmentTypeId;

SubstitutionBound::SubstitutionBound(const problem::PlanProblem& problem)
    : problem_(problem) {
  std::map<std::pair<int, std::vector<Entry>>, int> first;
  for (size_t i = 0; i < problem.tables.size(); ++i) {
    const problem::Table& table = problem.tables[i];
    canonical_.push_back(
        first.try_emplace({table.columns, table.entries}, static_cast<int>(i))
            .first->second);
  }
  types_.resize(problem.types.size());
  FindPlaces();
  for (SegmentTypeId t; t < types_.size(); ++t) FindKinds(t);
}

void SubstitutionBound::FindPlaces() {
  std::vector<Place> in(problem_.nodes.size());
  std::vector<Place> out(problem_.nodes.size());
  for (const problem::Edge& edge : problem_.edges) {
    out[edge.from].insert({Canonical(edge.table), Side::kRow});
    in[edge.to].insert({Canonical(edge.table), Side::kColumn});
  }
  std::map<int, int> self;
  for (const problem::SelfEdge& edge : problem_.self_edges) {
    self[edge.type] = Canonical(edge.table);
  }
  for (size_t n = 0; n < problem_.nodes.size(); ++n) {
    const problem::Node& node = problem_.nodes[n];
    std::set<Place>& places = types_[node.type].places;
    const auto table = self.find(node.type);
    Place both = in[n];
    both.insert(out[n].begin(), out[n].end());
    if (table == self.end() || node.repeat == 1) {
      places.insert(both);
    } else if (node.tied) {
      both.insert({table->second, Side::kDiagonal});
      places.insert(both);
    } else {
      in[n].insert({table->second, Side::kRow});
      out[n].insert({table->second, Side::kColumn});
      places.insert(in[n]);
      places.insert(out[n]);
      places.insert(
          {{table->second, Side::kRow}, {table->second, Side::kColumn}});
    }
  }
}

std::vector<SubstitutionBound::Entry> SubstitutionBound::Entries(
    int table, Side side, int configuration) const {
  const problem::Table& it = problem_.tables[table];
  std::vector<Entry> entries;
  if (side == Side::kDiagonal) {
    entries.push_back(it.at(configuration, configuration));
  } else if (side == Side::kRow) {
    for (int x = 0; x < it.columns; ++x) {
      entries.push_back(it.at(configuration, x));
    }
  } else {
    for (int x = 0; x < it.rows; ++x)
      entries.push_back(it.at(x, configuration));
  }
  return entries;
}

void SubstitutionBound::FindKinds(SegmentTypeId type) {
  Type& it = types_[type];
  std::set<std::pair<int, Side>> met;
  for (const Place& place : it.places) met.insert(place.begin(), place.end());
  const int count = static_cast<int>(problem_.types[type].configs.size());
  std::vector<std::vector<int>> signatures(count);
  for (const auto& [table, side] : met) {
    std::map<std::vector<Entry>, int> numbers;
    for (int c = 0; c < count; ++c) {
      signatures[c].push_back(numbers
                                  .try_emplace(Entries(table, side, c),
                                               static_cast<int>(numbers.size()))
                                  .first->second);
    }
  }
  std::map<std::vector<int>, int> kinds;
  for (int c = 0; c < count; ++c) {
    const auto [found, added] =
        kinds.emplace(signatures[c], static_cast<int>(kinds.size()));
    if (added) it.representative.push_back(c);
    it.kind.push_back(found->second);
  }
}

std::optional<Picoseconds> SubstitutionBound::Bound(SegmentTypeId type, int a,
                                                    int b) const {
  const Type& it = types_[type];
  if (it.kind[a] == it.kind[b]) return Picoseconds(0);
  const auto [found, added] =
      cache_.try_emplace(Change{type, it.kind[a], it.kind[b]}, Picoseconds(0));
  if (!added) return found->second;
  std::optional<Picoseconds>& largest = found->second;
  bool any = false;
  for (const Place& place : it.places) {
    const auto here = AtPlace(place, it.representative[it.kind[a]],
                              it.representative[it.kind[b]]);
    if (!here.has_value()) {
      largest.reset();
      break;
    }
    largest = any ? std::max(*largest, *here) : *here;
    any = true;
  }
  return largest;
}

std::optional<Picoseconds> SubstitutionBound::AtPlace(const Place& place, int a,
                                                      int b) const {
  Picoseconds sum{0};
  for (const auto& [table, side] : place) {
    const std::vector<Entry> before = Entries(table, side, a);
    const std::vector<Entry> after = Entries(table, side, b);
    std::optional<Picoseconds> largest;
    for (size_t x = 0; x < before.size(); ++x) {
      if (!before[x].has_value()) continue;
      if (!after[x].has_value()) return std::nullopt;
      const Picoseconds change = *after[x] - *before[x];
      largest = largest.has_value() ? std::max(*largest, change) : change;
    }
    if (largest.has_value()) sum += *largest;
  }
  return sum;
}

}  // namespace meshwright::selection
