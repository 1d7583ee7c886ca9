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

class Sifter {
 public:
  Sifter(const problem::PlanProblem& problem, const Standings& standings,
         const std::vector<double>& margins, double price,
         const formulation::Bonds& bonds)
      : problem_(problem),
        standings_(standings),
        margins_(margins),
        price_(price),
        bonds_(bonds),
        switch_costs_(problem) {}

  Sifted Run() {
    for (size_t t = 0; t < problem_.types.size(); ++t) {
      for (size_t c = 0; c < problem_.types[t].configs.size(); ++c) {
        if (standings_[t][c] == Standing::kEstimated) {
          Judge(static_cast<int>(t), static_cast<int>(c));
        }
      }
    }
    MoveOn();
    std::stable_sort(
        out_.open.begin(), out_.open.end(),
        [](const Open& a, const Open& b) { return a.promise > b.promise; });
    return std::move(out_);
  }

 private:
  // The ends of what a configuration is expected to cost.
  double Low(int type, int c, double price) const {
    return Cost(type, c, IsMeasured(type, c) ? 1 : 1 - margins_[type], price);
  }
  double High(int type, int c, double price) const {
    return Cost(type, c, IsMeasured(type, c) ? 1 : 1 + margins_[type], price);
  }
  bool IsMeasured(int type, int c) const {
    return standings_[type][c] == Standing::kMeasured;
  }

  // `share` of the time, and the memory at its price.
  double Cost(int type, int configuration, double share, double price) const {
    const problem::Config& it = problem_.types[type].configs[configuration];
    return static_cast<double>(it.time.count()) * share +
           price * static_cast<double>(it.persistent_bytes + it.saved_bytes);
  }

  // The largest transient of a plan grows by this much at most.
  double MoreTransient(int type, int configuration, int rival,
                       double price) const {
    const auto& configs = problem_.types[type].configs;
    return price * static_cast<double>(std::max<int64_t>(
                       0, configs[rival].transient_bytes -
                              configs[configuration].transient_bytes));
  }

  // By how much `rival` in the place of `configuration` makes a plan slower at
  // most; nothing where it may be forbidden there.
  struct Replacement {
    int rival = -1;
    double worse = std::numeric_limits<double>::infinity();
    problem::Picoseconds resharding{0};
  };

  Standing StandingOf(int type, int configuration) const {
    return standings_[type][configuration];
  }

  double Worse(int type, int configuration, int rival, double price) const {
    return High(type, rival, price) - Low(type, configuration, price) +
           MoreTransient(type, configuration, rival, price);
  }

  // Calls visit(replacement, whether the rival was measured). A bond goes over
  // as a whole, so that few of its plans lie on the line that one price draws:
  // there a rival must be no worse at any from nothing to twice the price.
  template <typename Visit>
  void ForEachRival(int type, int configuration, Visit visit) const {
    const int count = static_cast<int>(problem_.types[type].configs.size());
    for (int rival = 0; rival < count; ++rival) {
      const Standing standing = StandingOf(type, rival);
      if (rival == configuration || standing == Standing::kUnknown) continue;
      const auto resharding = switch_costs_.Most(type, configuration, rival);
      if (!resharding.has_value()) continue;
      const double worse =
          DecisionOf(type, configuration) == DecisionOf(type, rival)
              ? Worse(type, configuration, rival, price_)
              : std::max(Worse(type, configuration, rival, 0),
                         Worse(type, configuration, rival, 2 * price_));
      visit(Replacement{rival, worse + static_cast<double>(resharding->count()),
                        *resharding},
            standing == Standing::kMeasured);
    }
  }

  int DecisionOf(int type, int configuration) const {
    return IsBound(type) ? bonds_.decision[type][configuration] : 0;
  }
  bool IsBound(int type) const {
    return !bonds_.of_type.empty() && bonds_.of_type[type] >= 0;
  }

  // By decision of the rivals, the best of those measured.
  using ByDecision = std::map<int, Replacement>;

  ByDecision BestMeasured(int type, int configuration) const {
    ByDecision best;
    ForEachRival(type, configuration,
                 [&](const Replacement& it, bool measured) {
                   if (!measured) return;
                   Replacement& there = best[DecisionOf(type, it.rival)];
                   if (it.worse < there.worse) there = it;
                 });
    return best;
  }

  void Judge(int type, int configuration) {
    const int own = DecisionOf(type, configuration);
    const ByDecision best = BestMeasured(type, configuration);
    Replacement chosen;
    for (const auto& [decision, it] : best) {
      if (it.worse >= chosen.worse || it.worse > 0) continue;
      if (decision != own && !MayGoOver(type, own, decision)) continue;
      chosen = it;
    }
    if (chosen.rival >= 0) {
      out_.excluded.push_back(
          {type, configuration, chosen.rival, chosen.resharding});
      return;
    }
    double least = std::numeric_limits<double>::infinity();
    ForEachRival(type, configuration, [&](const Replacement& it, bool) {
      least = std::min(least, it.worse);
    });
    out_.open.push_back({type, configuration, least, least > 0});
  }

  // Whether a bond is no slower with another decision, whatever the first was
  // made of.
  bool MayGoOver(int type, int from, int to) {
    const int number = bonds_.of_type[type];
    const formulation::Bond& bond = bonds_.bonds[number];
    if (!bond.whole) return false;
    const auto [found, added] = may_go_over_.try_emplace({number, from, to});
    if (!added) return found->second;
    found->second = true;
    for (const int other : bond.types) {
      const int count = static_cast<int>(bonds_.decision[other].size());
      for (int c = 0; c < count && found->second; ++c) {
        if (bonds_.decision[other][c] != from) continue;
        const ByDecision best = BestMeasured(other, c);
        const auto there = best.find(to);
        const auto here = best.find(from);
        // One of its own decision takes its place.
        const bool gone = StandingOf(other, c) == Standing::kEstimated &&
                          here != best.end() && here->second.worse <= 0;
        found->second =
            gone || (there != best.end() && there->second.worse <= 0);
      }
    }
    return found->second;
  }

  // Where each type of a bond leans on another decision nothing would be next.
  void MoveOn() {
    std::set<int> moving;
    for (const Open& it : out_.open) {
      if (it.next && IsBound(it.type)) moving.insert(bonds_.of_type[it.type]);
    }
    for (Open& it : out_.open) {
      it.next |= IsBound(it.type) && !moving.contains(bonds_.of_type[it.type]);
    }
  }

  const problem::PlanProblem& problem_;
  const Standings& standings_;
  const std::vector<double>& margins_;
  const double price_;
  const formulation::Bonds& bonds_;
  std::map<std::tuple<int, int, int>, bool> may_go_over_;
  SwitchCosts switch_costs_;
  Sifted out_;
};

}  // namespace

Sifted Sift(const problem::PlanProblem& problem, const Standings& standings,
            const std::vector<double>& margins, double price,
            const formulation::Bonds& bonds) {
  return Sifter(problem, standings, margins, price, bonds).Run();
}

}  // namespace meshwright::selection
