#include "coordinator/selection/pruning.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "coordinator/selection/substitution_bound.h"

namespace meshwright::selection {
namespace {

using segmenter::SegmentTypeId;

class Pruner {
 public:
  Pruner(const problem::PlanProblem& problem, const Standings& standings,
         const std::vector<double>& margins, double multiplier,
         const formulation::SharedParameterGroups& groups)
      : problem_(problem),
        standings_(standings),
        margins_(margins),
        multiplier_(multiplier),
        groups_(groups),
        substitution_(problem) {}

  Pruning Run() {
    for (SegmentTypeId t; t < problem_.types.size(); ++t) {
      for (size_t c = 0; c < problem_.types[t].configs.size(); ++c) {
        if (standings_[t][c] == Standing::kEstimated) {
          Judge(t, static_cast<int>(c));
        }
      }
    }
    KeepGroupsMoving();
    std::stable_sort(
        out_.open.begin(), out_.open.end(),
        [](const OpenConfiguration& a, const OpenConfiguration& b) {
          return a.promise > b.promise;
        });
    return std::move(out_);
  }

 private:
  // The ends of what a configuration is expected to cost.
  double Low(SegmentTypeId type, int c, double multiplier) const {
    return Cost(type, c, IsMeasured(type, c) ? 1 : 1 - margins_[type],
                multiplier);
  }
  double High(SegmentTypeId type, int c, double multiplier) const {
    return Cost(type, c, IsMeasured(type, c) ? 1 : 1 + margins_[type],
                multiplier);
  }
  bool IsMeasured(SegmentTypeId type, int c) const {
    return standings_[type][c] == Standing::kMeasured;
  }

  // `share` of the time, and the memory times the multiplier.
  double Cost(SegmentTypeId type, int configuration, double share,
              double multiplier) const {
    const problem::Config& it = problem_.types[type].configs[configuration];
    return static_cast<double>(it.time.count()) * share +
           multiplier *
               static_cast<double>(it.persistent_bytes + it.saved_bytes);
  }

  // The largest transient of a plan grows by this much at most.
  double MoreTransient(SegmentTypeId type, int configuration, int rival,
                       double multiplier) const {
    const auto& configs = problem_.types[type].configs;
    return multiplier * static_cast<double>(std::max<int64_t>(
                            0, configs[rival].transient_bytes -
                                   configs[configuration].transient_bytes));
  }

  // By how much `rival` in the place of `configuration` makes a plan slower at
  // most; nothing where it may be forbidden there.
  struct Replacement {
    std::optional<int> rival;
    double worse = std::numeric_limits<double>::infinity();
    problem::Picoseconds resharding{0};
  };

  Standing GetStanding(SegmentTypeId type, int configuration) const {
    return standings_[type][configuration];
  }

  double Worse(SegmentTypeId type, int configuration, int rival,
               double multiplier) const {
    return High(type, rival, multiplier) -
           Low(type, configuration, multiplier) +
           MoreTransient(type, configuration, rival, multiplier);
  }

  // Calls visit(replacement, whether the rival was measured). A group changes
  // its decision as a whole, so that few of its plans lie on the line that one
  // multiplier draws: there a rival must be no worse at any from nothing to
  // twice the multiplier.
  template <typename Visit>
  void ForEachRival(SegmentTypeId type, int configuration, Visit visit) const {
    const int count = static_cast<int>(problem_.types[type].configs.size());
    for (int rival = 0; rival < count; ++rival) {
      const Standing standing = GetStanding(type, rival);
      if (rival == configuration || standing == Standing::kUnknown) continue;
      const auto resharding = substitution_.Bound(type, configuration, rival);
      if (!resharding.has_value()) continue;
      const double worse =
          GetDecision(type, configuration) == GetDecision(type, rival)
              ? Worse(type, configuration, rival, multiplier_)
              : std::max(Worse(type, configuration, rival, 0),
                         Worse(type, configuration, rival, 2 * multiplier_));
      visit(Replacement{rival, worse + static_cast<double>(resharding->count()),
                        *resharding},
            standing == Standing::kMeasured);
    }
  }

  int GetDecision(SegmentTypeId type, int configuration) const {
    return IsShared(type) ? groups_.decision[type][configuration] : 0;
  }
  bool IsShared(SegmentTypeId type) const {
    return !groups_.group_of_type.empty() &&
           groups_.group_of_type[type].has_value();
  }

  // By decision of the rivals, the best of those measured.
  using ByDecision = std::map<int, Replacement>;

  ByDecision BestMeasured(SegmentTypeId type, int configuration) const {
    ByDecision best;
    ForEachRival(type, configuration,
                 [&](const Replacement& it, bool measured) {
                   if (!measured) return;
                   Replacement& there = best[GetDecision(type, *it.rival)];
                   if (it.worse < there.worse) there = it;
                 });
    return best;
  }

  void Judge(SegmentTypeId type, int configuration) {
    const int own = GetDecision(type, configuration);
    const ByDecision best = BestMeasured(type, configuration);
    Replacement chosen;
    for (const auto& [decision, it] : best) {
      if (it.worse >= chosen.worse || it.worse > 0) continue;
      if (decision != own && !MayChangeDecision(type, own, decision)) continue;
      chosen = it;
    }
    if (chosen.rival.has_value()) {
      out_.excluded.push_back(
          {type, configuration, *chosen.rival, chosen.resharding});
      return;
    }
    double smallest = std::numeric_limits<double>::infinity();
    ForEachRival(type, configuration, [&](const Replacement& it, bool) {
      smallest = std::min(smallest, it.worse);
    });
    out_.open.push_back({type, configuration, smallest, smallest > 0});
  }

  // Whether a group is no slower with another decision, whatever the first was
  // made of.
  bool MayChangeDecision(SegmentTypeId type, int from, int to) {
    const int number = *groups_.group_of_type[type];
    const formulation::SharedParameterGroup& group = groups_.groups[number];
    if (!group.is_complete) return false;
    const auto [found, added] = may_change_.try_emplace({number, from, to});
    if (!added) return found->second;
    found->second = true;
    for (const SegmentTypeId other : group.types) {
      const int count = static_cast<int>(groups_.decision[other].size());
      for (int c = 0; c < count && found->second; ++c) {
        if (groups_.decision[other][c] != from) continue;
        const ByDecision best = BestMeasured(other, c);
        const auto there = best.find(to);
        const auto here = best.find(from);
        // One of its own decision takes its place.
        const bool gone = GetStanding(other, c) == Standing::kEstimated &&
                          here != best.end() && here->second.worse <= 0;
        found->second =
            gone || (there != best.end() && there->second.worse <= 0);
      }
    }
    return found->second;
  }

  // If every type of a group waits for another decision, all of them are next.
  void KeepGroupsMoving() {
    std::set<int> moving;
    for (const OpenConfiguration& it : out_.open) {
      if (it.next && IsShared(it.type))
        moving.insert(*groups_.group_of_type[it.type]);
    }
    for (OpenConfiguration& it : out_.open) {
      it.next |= IsShared(it.type) &&
                 !moving.contains(*groups_.group_of_type[it.type]);
    }
  }

  const problem::PlanProblem& problem_;
  const Standings& standings_;
  const std::vector<double>& margins_;
  const double multiplier_;
  const formulation::SharedParameterGroups& groups_;
  std::map<std::tuple<int, int, int>, bool> may_change_;
  SubstitutionBound substitution_;
  Pruning out_;
};

}  // namespace

Pruning Prune(const problem::PlanProblem& problem, const Standings& standings,
              const std::vector<double>& margins, double multiplier,
              const formulation::SharedParameterGroups& groups) {
  return Pruner(problem, standings, margins, multiplier, groups).Run();
}

}  // namespace meshwright::selection
