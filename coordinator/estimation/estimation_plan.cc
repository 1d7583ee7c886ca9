#include "coordinator/estimation/estimation_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "coordinator/estimation/factors.h"
#include "coordinator/space/configurations/switches.h"
#include "coordinator/space/rematerialization/rematerialize.h"

namespace meshwright::estimation {
namespace {

using segmenter::Analysis;
using segmenter::SegmentSwitch;
using space::Configuration;
using space::ProfileSpace;

int CountPlain(const std::vector<Configuration>& configurations) {
  std::set<int> splits;
  for (const Configuration& it : configurations) splits.insert(it.splits);
  return static_cast<int>(splits.size());
}

// Of the plain configurations of a type.
class SumMaker {
 public:
  // `pairs`: neighbouring factors act together. `has_loops`: a configuration
  // takes several programs.
  SumMaker(const std::vector<Factors>& factors, const std::vector<int>& plain,
           int base, bool pairs, bool has_loops)
      : factors_(factors),
        plain_(plain),
        base_(plain[base]),
        pairs_(pairs),
        has_loops_(has_loops) {
    for (size_t c = 0; c < factors.size(); ++c) {
      if (IsPlain(c)) number_.emplace(factors[c], static_cast<int>(c));
    }
  }

  TypeRecipe Make() const {
    TypeRecipe recipe;
    recipe.sums.resize(factors_.size());
    std::set<int> required;
    for (size_t c = 0; c < factors_.size(); ++c) {
      if (!IsPlain(c)) continue;
      const auto sum = Sum(static_cast<int>(c));
      if (!sum.has_value()) {
        required.insert(static_cast<int>(c));
        continue;
      }
      for (const auto& [other, weight] : *sum) required.insert(other);
      recipe.sums[c] = *sum;
    }
    for (int c : required) {
      recipe.sums[c].clear();
      if (has_loops_) recipe.sums[c].emplace_back(c, 1);
    }
    (has_loops_ ? recipe.sampled : recipe.required)
        .assign(required.begin(), required.end());
    return recipe;
  }

 private:
  using Weights = std::vector<std::pair<int, int>>;

  bool IsPlain(size_t c) const { return plain_[c] == static_cast<int>(c); }

  // Nothing where a configuration that it takes is not in the space, or it is
  // one of those itself.
  std::optional<Weights> Sum(int configuration) const {
    const int count = static_cast<int>(factors_[configuration].size());
    std::map<int, int> weights;
    const auto add = [&](int first, int last, int weight) {
      Factors mixed = factors_[base_];
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
  const std::vector<int>& plain_;
  const int base_;
  const bool pairs_;
  const bool has_loops_;
  std::map<Factors, int> number_;
};

// Of all values of the segment, on one device.
double BytesOfValues(const Analysis& analysis, const ProfileSpace& space,
                     int type, const Configuration& configuration) {
  const auto& values = analysis.graphs[analysis.types[type]].values;
  double bytes = 0;
  for (int i = 0; i < static_cast<int>(values.size()); ++i) {
    const ir::Shape& shape = analysis.module.at(values[i].origin).shape;
    const space::Mesh& mesh = space.context.mesh;
    bytes += static_cast<double>(space::BytesPerDevice(
        shape, configuration.annotation.GetSharding(i, shape, mesh), mesh));
  }
  return bytes;
}

// By configuration the plain one that it is estimated from: the same without
// recomputation, or without the switch; itself.
std::vector<int> FindPlain(const std::vector<Configuration>& configurations,
                           const std::vector<int>& plain) {
  std::map<std::pair<int, segmenter::SegmentSwitch>, int> kept;
  for (size_t c = 0; c < configurations.size(); ++c) {
    const Configuration& it = configurations[c];
    if (it.recompute) continue;
    kept.emplace(std::pair(it.splits, it.segment_switch), static_cast<int>(c));
  }
  std::vector<int> from = plain;
  for (size_t c = 0; c < configurations.size(); ++c) {
    const Configuration& it = configurations[c];
    const auto found = kept.find({it.splits, it.segment_switch});
    if (it.recompute && found != kept.end()) from[c] = found->second;
  }
  return from;
}

// Of all values that are computed anew, on one device.
double BytesOfReplay(const Analysis& analysis, const ProfileSpace& space,
                     int type, const space::Rematerialization& replay,
                     const Configuration& configuration) {
  const auto& values = analysis.graphs[analysis.types[type]].values;
  double bytes = 0;
  for (size_t i = 0; i < replay.recomputed.size(); ++i) {
    if (!replay.recomputed[i]) continue;
    const ir::Shape& shape = analysis.module.at(values[i].origin).shape;
    const space::Mesh& mesh = space.context.mesh;
    bytes += static_cast<double>(space::BytesPerDevice(
        shape,
        configuration.annotation.GetSharding(static_cast<int>(i), shape, mesh),
        mesh));
  }
  return bytes;
}

// Adds the recipes of the configurations under a switch, and to those required
// one reference of each, with what it is compared to: that which changes most.
void AddSwitched(const Analysis& analysis, const ProfileSpace& space, int type,
                 const std::vector<int>& plain, TypeRecipe& recipe) {
  struct Reference {
    int configuration = -1;
    double bytes = 0;
  };
  const auto& configurations = space.types[type].configurations;
  const std::vector<int> from = FindPlain(configurations, plain);
  const auto recomputes = [&](int c) {
    return configurations[c].recompute && !configurations[from[c]].recompute;
  };
  const auto kind = [&](int c) {
    return recomputes(c)
               ? std::pair(SegmentSwitch::kRecompute, SegmentSwitch::kNone)
               : std::pair(configurations[c].segment_switch,
                           configurations[from[c]].segment_switch);
  };
  const int count = static_cast<int>(configurations.size());
  std::optional<space::Rematerialization> replay;
  std::map<int, double> bytes;  // of plain ones
  std::vector<double> effect(configurations.size(), 0);
  std::map<decltype(kind(0)), Reference> references;
  for (int c = 0; c < count; ++c) {
    if (from[c] == c || configurations[c].role.InGroup()) continue;
    if (recomputes(c)) {
      if (!replay.has_value()) {
        replay = space::FindRematerialization(
            analysis, analysis.graphs[analysis.types[type]]);
      }
      effect[c] =
          BytesOfReplay(analysis, space, type, *replay, configurations[c]);
      if (from[c] != plain[c]) continue;  // under a switch: no reference
    } else {
      const auto [of_plain, added] = bytes.try_emplace(plain[c], 0);
      if (added) {
        of_plain->second =
            BytesOfValues(analysis, space, type, configurations[plain[c]]);
      }
      effect[c] = of_plain->second -
                  BytesOfValues(analysis, space, type, configurations[c]);
    }
    Reference& it = references[kind(c)];
    if (it.configuration < 0 || std::abs(effect[c]) > std::abs(it.bytes)) {
      it = {c, effect[c]};
    }
  }
  recipe.switched.resize(configurations.size());
  std::set<int> required(recipe.required.begin(), recipe.required.end());
  for (int c = 0; c < count; ++c) {
    if (from[c] == c || configurations[c].role.InGroup()) continue;
    const Reference& it = references.at(kind(c));
    if (it.configuration == c || it.bytes == 0) {
      required.insert({c, from[c]});
      continue;
    }
    recipe.switched[c] = {from[c], it.configuration, from[it.configuration],
                          effect[c] / it.bytes};
  }
  recipe.required.assign(required.begin(), required.end());
  for (int c : recipe.required) {
    if (!recipe.sums.empty()) recipe.sums[c].clear();
  }
}

// Few: those that a request names. They are measured.
std::vector<int> Grouped(const std::vector<Configuration>& configurations) {
  std::vector<int> grouped;
  for (size_t c = 0; c < configurations.size(); ++c) {
    if (configurations[c].role.InGroup())
      grouped.push_back(static_cast<int>(c));
  }
  return grouped;
}

// What two types must have in common to be twins: blocks, and configurations in
// the same order.
using Likeness = std::pair<std::vector<uint64_t>, std::vector<Factors>>;

Likeness LikenessOf(const Analysis& analysis, const ProfileSpace& space,
                    int type) {
  const segmenter::Segment& segment =
      analysis.plan.segments[analysis.types[type]];
  const auto& configurations = space.types[type].configurations;
  std::vector<Factors> factors = BlockFactors(configurations);
  // Those of groups come last, and depend on more than the blocks.
  factors.resize(configurations.size() - Grouped(configurations).size());
  for (size_t c = 0; c < factors.size(); ++c) {
    factors[c].push_back(static_cast<int>(configurations[c].segment_switch));
    factors[c].push_back(configurations[c].recompute);
  }
  return {segmenter::BlockHashes(analysis.blocks, segment), factors};
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
               analysis.plan.kept_loops[value.boundary];
      });
}

}  // namespace

std::vector<bool> WorthCutting(const Analysis& analysis,
                               const ProfileSpace& space) {
  const std::vector<int> twins = Twins(analysis, space);
  std::vector<bool> cut(space.types.size(), false);
  for (size_t t = 0; t < cut.size(); ++t) {
    cut[t] =
        twins[t] < 0 && !HoldsLoop(analysis, analysis.types[t]) &&
        space::HasBlocks(analysis, analysis.types[t]) &&
        CountPlain(space.types[t].configurations) > kFewBlockConfigurations;
  }
  return cut;
}

std::vector<TypeRecipe> MakeRecipes(const Analysis& analysis,
                                    const ProfileSpace& space,
                                    const Halves& halves,
                                    const std::vector<int>& base,
                                    const std::set<int>& from_factors) {
  std::vector<TypeRecipe> recipes(space.types.size());
  const std::vector<int> twins = Twins(analysis, space);
  for (int t = 0; t < static_cast<int>(recipes.size()); ++t) {
    const auto& configurations = space.types[t].configurations;
    recipes[t].twin = twins[t];
    recipes[t].required = Grouped(configurations);
    if (twins[t] >= 0) continue;
    const bool has_blocks = space::HasBlocks(analysis, analysis.types[t]);
    const std::vector<int> plain =
        space::FindPlainConfigurations(space.types[t]);
    const bool few =
        CountPlain(configurations) <=
        (has_blocks ? kFewBlockConfigurations : kFewEndConfigurations);
    if (!halves.IsCut(t) && (!few || from_factors.contains(t))) {
      const std::vector<Factors> factors =
          has_blocks ? BlockFactors(configurations)
                     : EndFactors(analysis, space, t, plain);
      const bool has_loops =
          !configurations[plain[base[t]]].corrections.empty();
      const std::vector<int> grouped = std::move(recipes[t].required);
      recipes[t] =
          SumMaker(factors, plain, base[t], has_blocks && !few, has_loops)
              .Make();
      recipes[t].required.insert(recipes[t].required.end(), grouped.begin(),
                                 grouped.end());
    } else if (!halves.IsCut(t)) {
      for (size_t c = 0; c < plain.size(); ++c) {
        if (plain[c] == static_cast<int>(c))
          recipes[t].required.push_back(plain[c]);
      }
    }
    AddSwitched(analysis, space, t, plain, recipes[t]);
  }
  return recipes;
}

std::vector<int> MayBeTold(const Analysis& analysis, const ProfileSpace& space,
                           const Halves& halves) {
  const std::vector<int> twins = Twins(analysis, space);
  std::vector<int> types;
  for (int t = 0; t < static_cast<int>(twins.size()); ++t) {
    const auto& configurations = space.types[t].configurations;
    if (twins[t] < 0 && !halves.IsCut(t) &&
        space::HasBlocks(analysis, analysis.types[t]) &&
        CountPlain(configurations) > kFewEndConfigurations &&
        CountPlain(configurations) <= kFewBlockConfigurations) {
      types.push_back(t);
    }
  }
  return types;
}

}  // namespace meshwright::estimation
