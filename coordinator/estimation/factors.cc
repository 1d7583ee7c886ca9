#include "coordinator/estimation/factors.h"

#include <compare>
#include <map>
#include <set>
#include <utility>

namespace meshwright::estimation {
namespace {

// The values of two columns in one row.
struct LevelPair {
  int left = 0;
  int right = 0;
  auto operator<=>(const LevelPair&) const = default;
};

// All rows but the empty ones have both values of some pair in every
// combination.
bool VaryFreely(const std::vector<Factors>& rows, int left, int right) {
  std::set<int> lefts;
  std::set<int> rights;
  std::set<LevelPair> both;
  for (const Factors& row : rows) {
    if (row.empty()) continue;
    lefts.insert(row[left]);
    rights.insert(row[right]);
    both.insert({row[left], row[right]});
  }
  return both.size() == lefts.size() * rights.size();
}

// The pair becomes one column at the place of `left`, numbered in order of
// appearance.
void Join(std::vector<Factors>& rows, int left, int right) {
  std::map<LevelPair, int> numbers;
  for (Factors& row : rows) {
    if (row.empty()) continue;
    row[left] = numbers
                    .try_emplace({row[left], row[right]},
                                 static_cast<int>(numbers.size()))
                    .first->second;
    row.erase(row.begin() + right);
  }
}

int Columns(const std::vector<Factors>& rows) {
  for (const Factors& row : rows) {
    if (!row.empty()) return static_cast<int>(row.size());
  }
  return 0;
}

// The first two columns that do not vary freely.
bool JoinOnce(std::vector<Factors>& rows) {
  const int columns = Columns(rows);
  for (int left = 0; left < columns; ++left) {
    for (int right = left + 1; right < columns; ++right) {
      if (VaryFreely(rows, left, right)) continue;
      Join(rows, left, right);
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Factors> ListBlockFactors(
    const std::vector<space::Configuration>& configurations) {
  std::vector<Factors> factors;
  factors.reserve(configurations.size());
  for (const space::Configuration& it : configurations) {
    factors.push_back(it.strategies);
  }
  return factors;
}

std::vector<Factors> ListEndFactors(const segmenter::Analysis& analysis,
                                    const space::ProfileSpace& space,
                                    segmenter::SegmentTypeId type,
                                    const std::vector<int>& plain) {
  const segmenter::SegmentIndex segment = analysis.types[type];
  const segmenter::SegmentGraph& graph = analysis.graphs[segment];
  std::set<int> values;
  for (const auto* pairs : {&graph.entries, &graph.exits}) {
    for (const segmenter::BoundaryPair& pair : *pairs) {
      values.insert(pair.activation);
    }
  }
  for (const space::SharedParameter& shared : space.shared) {
    if (shared.end_segment == segment) values.insert(shared.end_value);
  }
  std::vector<Factors> factors(plain.size());
  for (int value : values) {
    const ir::Shape& shape =
        analysis.module.at(graph.values[value].origin).shape;
    std::map<space::Sharding, int> numbers;
    for (size_t c = 0; c < factors.size(); ++c) {
      if (plain[c] != static_cast<int>(c)) continue;
      const space::Sharding sharding =
          space.types[type].configurations[c].annotation.GetSharding(
              value, shape, space.context.mesh);
      factors[c].push_back(
          numbers.try_emplace(sharding, static_cast<int>(numbers.size()))
              .first->second);
    }
  }
  return JoinDependent(factors);
}

std::vector<Factors> JoinDependent(const std::vector<Factors>& rows) {
  std::vector<Factors> joined = rows;
  while (JoinOnce(joined)) {
  }
  return joined;
}

}  // namespace meshwright::estimation
