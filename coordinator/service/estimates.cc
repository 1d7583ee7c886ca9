#include "coordinator/service/estimates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace meshwright::service {
namespace {

using problem::Picoseconds;
using segmenter::Analysis;
using space::Configuration;
using space::ProfileSpace;

// A configuration as values of its factors.
using Factors = std::vector<int>;

// The strategies, and last the switch.
std::vector<Factors> BlockFactors(
    const std::vector<Configuration>& configurations) {
  std::vector<Factors> factors;
  for (const Configuration& it : configurations) {
    factors.push_back(it.strategies);
    factors.back().push_back(static_cast<int>(it.segment_switch));
  }
  return factors;
}

// Of factors that always change together, one stays.
void DropRepeated(std::vector<Factors>& factors) {
  if (factors.empty()) return;
  std::set<Factors> columns;
  std::vector<size_t> kept;
  for (size_t i = 0; i < factors[0].size(); ++i) {
    Factors column;
    for (const Factors& it : factors) column.push_back(it[i]);
    if (columns.insert(std::move(column)).second) kept.push_back(i);
  }
  for (Factors& it : factors) {
    Factors few;
    for (size_t i : kept) few.push_back(it[i]);
    it = std::move(few);
  }
}

// The splits that an end is varied by, numbered in order of appearance.
std::vector<Factors> EndFactors(const Analysis& analysis,
                                const ProfileSpace& space, int type) {
  const int segment = analysis.types[type];
  const segmenter::SegmentGraph& graph = analysis.graphs[segment];
  std::set<int> values;
  for (const auto* pairs : {&graph.entries, &graph.exits}) {
    for (const segmenter::BorderPair& pair : *pairs) {
      values.insert(pair.activation);
    }
  }
  for (const space::SharedParameter& shared : space.shared) {
    if (shared.end_segment == segment) values.insert(shared.end_value);
  }
  std::vector<Factors> factors(space.types[type].configurations.size());
  for (int value : values) {
    const ir::Shape& shape =
        analysis.module.at(graph.values[value].origin).shape;
    std::map<space::Sharding, int> numbers;
    for (size_t c = 0; c < factors.size(); ++c) {
      const space::Sharding sharding =
          space.types[type].configurations[c].annotation.Of(value, shape,
                                                            space.context.mesh);
      factors[c].push_back(
          numbers.try_emplace(sharding, static_cast<int>(numbers.size()))
              .first->second);
    }
  }
  DropRepeated(factors);
  for (size_t c = 0; c < factors.size(); ++c) {
    factors[c].push_back(
        static_cast<int>(space.types[type].configurations[c].segment_switch));
  }
  return factors;
}

class RecipeMaker {
 public:
  // The last factor is a group: configurations are told from those of their
  // own. `pairs`: neighbouring factors act together.
  RecipeMaker(const std::vector<Factors>& factors, int base, bool pairs)
      : factors_(factors), base_(base), pairs_(pairs) {
    for (size_t c = 0; c < factors.size(); ++c) {
      number_.emplace(factors[c], static_cast<int>(c));
    }
  }

  TypeRecipe Make() const {
    TypeRecipe recipe;
    recipe.sums.resize(factors_.size());
    std::set<int> required;
    for (size_t c = 0; c < factors_.size(); ++c) {
      const auto sum = Sum(static_cast<int>(c));
      if (!sum.has_value()) {
        required.insert(static_cast<int>(c));
        continue;
      }
      for (const auto& [other, weight] : *sum) required.insert(other);
      recipe.sums[c] = *sum;
    }
    recipe.required.assign(required.begin(), required.end());
    for (int c : recipe.required) recipe.sums[c].clear();
    return recipe;
  }

 private:
  using Weights = std::vector<std::pair<int, int>>;

  // Nothing where a configuration that it takes is not in the space, or it is
  // one of those itself.
  std::optional<Weights> Sum(int configuration) const {
    const int count = static_cast<int>(factors_[configuration].size()) - 1;
    std::map<int, int> weights;
    const auto add = [&](int first, int last, int weight) {
      Factors mixed = factors_[base_];
      mixed.back() = factors_[configuration].back();
      for (int i = first; i <= last; ++i) {
        mixed[i] = factors_[configuration][i];
      }
      const auto found = number_.find(mixed);
      if (found == number_.end() || found->second == configuration) {
        return false;
      }
      weights[found->second] += weight;
      return true;
    };
    if (pairs_) {
      for (int i = 0; i + 1 < count; ++i) {
        if (!add(i, i + 1, 1)) return std::nullopt;
        if (i > 0 && !add(i, i, -1)) return std::nullopt;
      }
    } else {
      for (int i = 0; i < count; ++i) {
        if (!add(i, i, 1)) return std::nullopt;
      }
      if (!add(0, -1, 1 - count)) return std::nullopt;
    }
    std::erase_if(weights, [](const auto& it) { return it.second == 0; });
    return Weights(weights.begin(), weights.end());
  }

  const std::vector<Factors>& factors_;
  const int base_;
  const bool pairs_;
  std::map<Factors, int> number_;
};

double Median(std::vector<double> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Estimator {
 public:
  Estimator(const ProfileSpace& space, const Halves& halves,
            const std::vector<TypeRecipe>& recipes,
            const store::Results& results)
      : space_(space), halves_(halves), recipes_(recipes), results_(results) {}

  EstimatedTimes Run() {
    for (size_t t = 0; t < space_.types.size(); ++t) {
      RunType(static_cast<int>(t));
    }
    return std::move(out_);
  }

 private:
  void RunType(int type) {
    const auto& configurations = space_.types[type].configurations;
    std::map<int, Estimate> open;
    std::vector<double> ratios;
    for (int c = 0; c < static_cast<int>(configurations.size()); ++c) {
      const std::optional<Estimate> estimate = Raw(type, c);
      if (!estimate.has_value() || estimate->time.count() <= 0) continue;
      const auto measured = MeasuredCost(space_, configurations[c], results_);
      if (measured.has_value()) {
        ratios.push_back(static_cast<double>(measured->time.count()) /
                         static_cast<double>(estimate->time.count()));
      } else {
        open[c] = *estimate;
      }
    }
    Calibration& calibration = out_.calibrations.emplace_back();
    calibration.compared = static_cast<int>(ratios.size());
    if (!ratios.empty()) calibration.scale = Median(ratios);
    for (double ratio : ratios) {
      calibration.deviation = std::max(calibration.deviation,
                                       std::abs(ratio / calibration.scale - 1));
    }
    calibration.margin =
        calibration.compared < kEnoughCompared
            ? kFirstMargin
            : std::max(kLeastMargin, kDeviations * calibration.deviation);
    for (auto& [c, estimate] : open) {
      estimate.time = Picoseconds(std::llround(
          static_cast<double>(estimate.time.count()) * calibration.scale));
      out_.estimates[{type, c}] = estimate;
    }
  }

  // Before scaling; nothing where a program that it takes was not measured.
  std::optional<Estimate> Raw(int type, int configuration) const {
    const int twin = recipes_[type].twin;
    if (twin >= 0) return OfTwin(twin, configuration);
    if (halves_.IsCut(type)) return halves_.Sum(type, configuration, results_);
    const auto& sums = recipes_[type].sums;
    if (sums.empty() || sums[configuration].empty()) return std::nullopt;
    Estimate estimate;
    for (const auto& [other, weight] : sums[configuration]) {
      const auto cost = MeasuredCost(
          space_, space_.types[type].configurations[other], results_);
      if (!cost.has_value()) return std::nullopt;
      estimate.time += cost->time * weight;
      estimate.transient_bytes =
          std::max(estimate.transient_bytes, cost->transient_bytes);
    }
    return estimate;
  }

  std::optional<Estimate> OfTwin(int twin, int configuration) const {
    const auto cost = MeasuredCost(
        space_, space_.types[twin].configurations[configuration], results_);
    if (cost.has_value()) return Estimate{cost->time, cost->transient_bytes};
    const auto estimate = out_.estimates.find({twin, configuration});
    if (estimate == out_.estimates.end()) return std::nullopt;
    return estimate->second;
  }

  const ProfileSpace& space_;
  const Halves& halves_;
  const std::vector<TypeRecipe>& recipes_;
  const store::Results& results_;
  EstimatedTimes out_;
};

// What two types must have in common to be twins.
using Likeness = std::pair<std::vector<uint64_t>, std::vector<Factors>>;

Likeness LikenessOf(const Analysis& analysis, const ProfileSpace& space,
                    int type) {
  const segmenter::Segment& segment =
      analysis.plan.segments[analysis.types[type]];
  return {segmenter::BlockHashes(analysis.blocks, segment),
          BlockFactors(space.types[type].configurations)};
}

// By type the first one with equal blocks and configurations; -1: none.
std::vector<int> Twins(const Analysis& analysis, const ProfileSpace& space) {
  std::vector<int> twins(space.types.size(), -1);
  std::map<Likeness, int> known;
  for (int t = 0; t < static_cast<int>(twins.size()); ++t) {
    if (!space::HasBlocks(analysis, analysis.types[t]) ||
        space.types[t].configurations.size() <= kFewEndConfigurations) {
      continue;
    }
    const auto [first, added] =
        known.emplace(LikenessOf(analysis, space, t), t);
    if (!added) twins[t] = first->second;
  }
  return twins;
}

// A half of a loop's body would carry what the other half computes.
bool HoldsLoop(const Analysis& analysis, int segment) {
  const auto& values = analysis.graphs[segment].values;
  return std::any_of(
      values.begin(), values.end(), [&](const segmenter::SegmentValue& it) {
        const ir::Instruction& value = analysis.module.at(it.origin);
        return value.opcode == ir::Opcode::kCarry &&
               analysis.plan.kept_loops[value.border];
      });
}

}  // namespace

std::vector<bool> WorthCutting(const Analysis& analysis,
                               const ProfileSpace& space) {
  const std::vector<int> twins = Twins(analysis, space);
  std::vector<bool> cut(space.types.size(), false);
  for (size_t t = 0; t < cut.size(); ++t) {
    cut[t] = twins[t] < 0 && !HoldsLoop(analysis, analysis.types[t]) &&
             space::HasBlocks(analysis, analysis.types[t]) &&
             space.types[t].configurations.size() > kFewBlockConfigurations;
  }
  return cut;
}

std::vector<TypeRecipe> MakeRecipes(const Analysis& analysis,
                                    const ProfileSpace& space,
                                    const Halves& halves,
                                    const std::vector<int>& base) {
  std::vector<TypeRecipe> recipes(space.types.size());
  const std::vector<int> twins = Twins(analysis, space);
  for (int t = 0; t < static_cast<int>(recipes.size()); ++t) {
    const auto& configurations = space.types[t].configurations;
    recipes[t].twin = twins[t];
    if (halves.IsCut(t) || twins[t] >= 0) continue;
    const bool has_blocks = space::HasBlocks(analysis, analysis.types[t]);
    if (has_blocks && configurations.size() > kFewBlockConfigurations) {
      recipes[t] =
          RecipeMaker(BlockFactors(configurations), base[t], true).Make();
    } else if (!has_blocks && configurations.size() > kFewEndConfigurations) {
      recipes[t] =
          RecipeMaker(EndFactors(analysis, space, t), base[t], false).Make();
    } else {
      for (size_t c = 0; c < configurations.size(); ++c) {
        recipes[t].required.push_back(static_cast<int>(c));
      }
    }
  }
  return recipes;
}

EstimatedTimes EstimateTimes(const ProfileSpace& space, const Halves& halves,
                             const std::vector<TypeRecipe>& recipes,
                             const store::Results& results) {
  return Estimator(space, halves, recipes, results).Run();
}

}  // namespace meshwright::service
