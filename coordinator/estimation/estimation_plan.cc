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
using segmenter::SegmentIndex;
using segmenter::SegmentSwitch;
using segmenter::SegmentTypeId;
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

  EstimationPlan Make() const {
    EstimationPlan plan;
    plan.sums.resize(factors_.size());
    std::set<int> required;
    for (size_t c = 0; c < factors_.size(); ++c) {
      if (!IsPlain(c)) continue;
      const auto sum = Sum(static_cast<int>(c));
      if (!sum.has_value()) {
        required.insert(static_cast<int>(c));
        continue;
      }
      for (const SumTerm& it : *sum) required.insert(it.configuration);
      plan.sums[c] = *sum;
    }
    for (int c : required) {
      plan.sums[c].clear();
      if (has_loops_) plan.sums[c].push_back({c, 1});
    }
    (has_loops_ ? plan.sampled : plan.required)
        .assign(required.begin(), required.end());
    return plan;
  }

 private:
  bool IsPlain(size_t c) const { return plain_[c] == static_cast<int>(c); }

  // Nothing where a configuration that it takes is not in the space, or it is
  // one of those itself.
  std::optional<std::vector<SumTerm>> Sum(int configuration) const {
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
    std::vector<SumTerm> sum;
    for (const auto& [other, weight] : weights) {
      if (weight != 0) sum.push_back({other, weight});
    }
    return sum;
  }

  const std::vector<Factors>& factors_;
  const std::vector<int>& plain_;
  const int base_;
  const bool pairs_;
  const bool has_loops_;
  std::map<Factors, int> number_;
};

// Of all values of the segment, or of those in `only`, on one device.
double SumBytes(const Analysis& analysis, const ProfileSpace& space,
                SegmentTypeId type, const Configuration& configuration,
                const std::vector<char>* only = nullptr) {
  const auto& values = analysis.graphs[analysis.types[type]].values;
  double bytes = 0;
  for (int i = 0; i < static_cast<int>(values.size()); ++i) {
    if (only != nullptr && !(*only)[i]) continue;
    const ir::Shape& shape = analysis.module.at(values[i].origin).shape;
    const space::Mesh& mesh = space.context.mesh;
    bytes += static_cast<double>(space::CountBytesPerDevice(
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

// Adds the estimation of configurations under a switch. Of each switch, the one
// that changes most is the reference: it is required, with the one that it is
// compared to.
void AddSwitched(const Analysis& analysis, const ProfileSpace& space,
                 SegmentTypeId type, const std::vector<int>& plain,
                 EstimationPlan& plan) {
  struct Reference {
    int configuration = 0;
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
  std::optional<space::Rematerialization> rematerialization;
  std::map<int, double> bytes;  // of plain ones
  std::vector<double> effect(configurations.size(), 0);
  std::map<decltype(kind(0)), Reference> references;
  for (int c = 0; c < count; ++c) {
    if (from[c] == c || configurations[c].role.InGroup()) continue;
    if (recomputes(c)) {
      if (!rematerialization.has_value()) {
        rematerialization = space::FindRematerialization(
            analysis, analysis.graphs[analysis.types[type]]);
      }
      effect[c] = SumBytes(analysis, space, type, configurations[c],
                           &rematerialization->recomputed);
      if (from[c] != plain[c]) continue;  // under a switch: no reference
    } else {
      const auto [of_plain, added] = bytes.try_emplace(plain[c], 0);
      if (added) {
        of_plain->second =
            SumBytes(analysis, space, type, configurations[plain[c]]);
      }
      effect[c] =
          of_plain->second - SumBytes(analysis, space, type, configurations[c]);
    }
    const auto [reference, is_first] =
        references.try_emplace(kind(c), Reference{c, effect[c]});
    if (!is_first && std::abs(effect[c]) > std::abs(reference->second.bytes)) {
      reference->second = {c, effect[c]};
    }
  }
  plan.switched.resize(configurations.size());
  std::set<int> required(plan.required.begin(), plan.required.end());
  for (int c = 0; c < count; ++c) {
    if (from[c] == c || configurations[c].role.InGroup()) continue;
    const Reference& it = references.at(kind(c));
    if (it.configuration == c || it.bytes == 0) {
      required.insert({c, from[c]});
      continue;
    }
    plan.switched[c] = {from[c], it.configuration, from[it.configuration],
                        effect[c] / it.bytes};
  }
  plan.required.assign(required.begin(), required.end());
  for (int c : plan.required) {
    if (!plan.sums.empty()) plan.sums[c].clear();
  }
}

// Few: those that a request names. They are measured.
std::vector<int> ListGrouped(const std::vector<Configuration>& configurations) {
  std::vector<int> grouped;
  for (size_t c = 0; c < configurations.size(); ++c) {
    if (configurations[c].role.InGroup())
      grouped.push_back(static_cast<int>(c));
  }
  return grouped;
}

// Types with equal keys have equal blocks, and configurations in the same
// order.
using ProxyKey = std::pair<std::vector<uint64_t>, std::vector<Factors>>;

ProxyKey MakeProxyKey(const Analysis& analysis, const ProfileSpace& space,
                      SegmentTypeId type) {
  const segmenter::Segment& segment =
      analysis.plan.segments[analysis.types[type]];
  const auto& configurations = space.types[type].configurations;
  std::vector<Factors> factors = ListBlockFactors(configurations);
  // Those of groups come last, and depend on more than the blocks.
  factors.resize(configurations.size() - ListGrouped(configurations).size());
  for (size_t c = 0; c < factors.size(); ++c) {
    factors[c].push_back(static_cast<int>(configurations[c].segment_switch));
    factors[c].push_back(configurations[c].recompute);
  }
  return {segmenter::ListBlockHashes(analysis.blocks, segment), factors};
}

// By type the first other one with equal blocks and configurations.
std::vector<std::optional<SegmentTypeId>> FindProxies(
    const Analysis& analysis, const ProfileSpace& space) {
  std::vector<std::optional<SegmentTypeId>> proxies(space.types.size());
  std::map<ProxyKey, SegmentTypeId> known;
  for (SegmentTypeId t; t < proxies.size(); ++t) {
    if (!space::HasBlocks(analysis, analysis.types[t]) ||
        space.types[t].configurations.size() <= kFewEndConfigurations) {
      continue;
    }
    const auto [first, added] =
        known.emplace(MakeProxyKey(analysis, space, t), t);
    if (!added) proxies[t] = first->second;
  }
  return proxies;
}

// A half of a loop's body would carry what the other half computes.
bool HoldsLoop(const Analysis& analysis, SegmentIndex segment) {
  const auto& values = analysis.graphs[segment].values;
  return std::any_of(
      values.begin(), values.end(), [&](const segmenter::SegmentValue& it) {
        const ir::Instruction& value = analysis.module.at(it.origin);
        return value.opcode == ir::Opcode::kCarry &&
               analysis.plan.kept_loops[value.boundary->loop];
      });
}

}  // namespace

std::vector<bool> FindTypesToCut(const Analysis& analysis,
                                 const ProfileSpace& space) {
  const auto proxies = FindProxies(analysis, space);
  std::vector<bool> cut(space.types.size(), false);
  for (size_t t = 0; t < cut.size(); ++t) {
    cut[t] =
        !proxies[t].has_value() && !HoldsLoop(analysis, analysis.types[t]) &&
        space::HasBlocks(analysis, analysis.types[t]) &&
        CountPlain(space.types[t].configurations) > kFewBlockConfigurations;
  }
  return cut;
}

std::vector<EstimationPlan> MakeEstimationPlans(
    const Analysis& analysis, const ProfileSpace& space, const Halves& halves,
    const std::vector<int>& base, const std::set<SegmentTypeId>& from_factors) {
  std::vector<EstimationPlan> plans(space.types.size());
  const auto proxies = FindProxies(analysis, space);
  for (SegmentTypeId t; t < plans.size(); ++t) {
    const auto& configurations = space.types[t].configurations;
    plans[t].proxy = proxies[t];
    plans[t].required = ListGrouped(configurations);
    if (proxies[t].has_value()) continue;
    const bool has_blocks = space::HasBlocks(analysis, analysis.types[t]);
    const std::vector<int> plain =
        space::FindPlainConfigurations(space.types[t]);
    const bool few =
        CountPlain(configurations) <=
        (has_blocks ? kFewBlockConfigurations : kFewEndConfigurations);
    if (!halves.IsCut(t) && (!few || from_factors.contains(t))) {
      const std::vector<Factors> factors =
          has_blocks ? ListBlockFactors(configurations)
                     : ListEndFactors(analysis, space, t, plain);
      const bool has_loops =
          !configurations[plain[base[t]]].corrections.empty();
      const std::vector<int> grouped = std::move(plans[t].required);
      plans[t] =
          SumMaker(factors, plain, base[t], has_blocks && !few, has_loops)
              .Make();
      plans[t].required.insert(plans[t].required.end(), grouped.begin(),
                               grouped.end());
    } else if (!halves.IsCut(t)) {
      for (size_t c = 0; c < plain.size(); ++c) {
        if (plain[c] == static_cast<int>(c))
          plans[t].required.push_back(plain[c]);
      }
    }
    AddSwitched(analysis, space, t, plain, plans[t]);
  }
  return plans;
}

std::vector<SegmentTypeId> FindReducibleTypes(const Analysis& analysis,
                                              const ProfileSpace& space,
                                              const Halves& halves) {
  const auto proxies = FindProxies(analysis, space);
  std::vector<SegmentTypeId> types;
  for (SegmentTypeId t; t < proxies.size(); ++t) {
    const auto& configurations = space.types[t].configurations;
    if (!proxies[t].has_value() && !halves.IsCut(t) &&
        space::HasBlocks(analysis, analysis.types[t]) &&
        CountPlain(configurations) > kFewEndConfigurations &&
        CountPlain(configurations) <= kFewBlockConfigurations) {
      types.push_back(t);
    }
  }
  return types;
}

}  // namespace meshwright::estimation
