#include "coordinator/service/pruning.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "coordinator/service/switch_costs.h"

namespace meshwright::service {
namespace {

class Sifter {
 public:
  Sifter(const problem::PlanProblem& problem, const Standings& standings,
         const std::vector<double>& margins, double price)
      : problem_(problem),
        standings_(standings),
        margins_(margins),
        price_(price),
        switch_costs_(problem) {}

  Sifted Run() {
    for (size_t t = 0; t < problem_.types.size(); ++t) {
      for (size_t c = 0; c < problem_.types[t].configs.size(); ++c) {
        if (standings_[t][c] == Standing::kEstimated) {
          Judge(static_cast<int>(t), static_cast<int>(c));
        }
      }
    }
    std::stable_sort(
        out_.open.begin(), out_.open.end(),
        [](const Open& a, const Open& b) { return a.promise > b.promise; });
    return std::move(out_);
  }

 private:
  // `share` of the time, and the memory at its price.
  double Cost(int type, int configuration, double share) const {
    const problem::Config& it = problem_.types[type].configs[configuration];
    return static_cast<double>(it.time.count()) * share +
           price_ * static_cast<double>(it.persistent_bytes + it.saved_bytes);
  }

  // The largest transient of a plan grows by this much at most.
  double MoreTransient(int type, int configuration, int rival) const {
    const auto& configs = problem_.types[type].configs;
    return price_ * static_cast<double>(std::max<int64_t>(
                        0, configs[rival].transient_bytes -
                               configs[configuration].transient_bytes));
  }

  void Judge(int type, int configuration) {
    const double margin = margins_[type];
    const double low = Cost(type, configuration, 1 - margin);
    const int count = static_cast<int>(problem_.types[type].configs.size());
    Exclusion exclusion{type, configuration, -1, {}};
    double least_measured = std::numeric_limits<double>::infinity();
    double least = least_measured;
    for (int rival = 0; rival < count; ++rival) {
      const Standing standing = standings_[type][rival];
      if (rival == configuration || standing == Standing::kUnknown) continue;
      const auto resharding = switch_costs_.Most(type, configuration, rival);
      if (!resharding.has_value()) continue;
      const bool measured = standing == Standing::kMeasured;
      const double high = Cost(type, rival, measured ? 1 : 1 + margin) +
                          static_cast<double>(resharding->count());
      least = std::min(least, high);
      if (measured && high < least_measured) {
        least_measured = high;
        exclusion.rival = rival;
        exclusion.resharding = *resharding;
      }
    }
    if (least_measured <= low) {
      out_.excluded.push_back(exclusion);
    } else {
      out_.open.push_back({type, configuration, least - low, least > low});
    }
  }

  const problem::PlanProblem& problem_;
  const Standings& standings_;
  const std::vector<double>& margins_;
  const double price_;
  SwitchCosts switch_costs_;
  Sifted out_;
};

}  // namespace

Sifted Sift(const problem::PlanProblem& problem, const Standings& standings,
            const std::vector<double>& margins, double price) {
  return Sifter(problem, standings, margins, price).Run();
}

}  // namespace meshwright::service
