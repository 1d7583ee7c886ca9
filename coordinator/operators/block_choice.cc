#include "coordinator/operators/block_choice.h"

#include <map>
#include <optional>
#include <tuple>

#include "coordinator/operators/work_counter.h"

namespace meshwright::operators {
namespace {

using segmenter::AxisStrategy;
using segmenter::RootSplit;

// How alike two splits of a contraction are: the same, the same way of another
// dimension, or neither.
double Likeness(const RootSplit& wanted, const RootSplit& offered) {
  if (wanted == offered) return 1;
  const auto way = [](const RootSplit& it) {
    return std::tuple(it.lhs.has_value(), it.rhs.has_value(),
                      it.out.has_value());
  };
  return wanted != RootSplit{} && way(wanted) == way(offered) ? 0.5 : 0;
}

}  // namespace

std::vector<int> FindNearestStrategies(const segmenter::Analysis& analysis,
                                       const IntraOpModel& read,
                                       const intraop::IntraOpPlan& plan) {
  std::map<ir::ValueId, int> operator_of;
  for (size_t i = 0; i < read.anchors.size(); ++i) {
    operator_of[read.anchors[i].id] = static_cast<int>(i);
  }
  WorkCounter work(analysis.module);
  std::vector<int> choice;
  for (size_t b = 0; b < analysis.blocks.blocks.size(); ++b) {
    const auto& roots = analysis.blocks.blocks[b].roots;
    const auto& strategies = analysis.strategies[b].strategies;
    int best = 0;
    std::optional<double> best_likeness;
    for (size_t s = 0; s < strategies.size(); ++s) {
      double likeness = 0;
      for (size_t axis = 0; axis < strategies[s].axes.size(); ++axis) {
        const AxisStrategy& offered = strategies[s].axes[axis];
        for (size_t r = 0; r < roots.size(); ++r) {
          const auto found = operator_of.find(roots[r]);
          if (found == operator_of.end()) continue;
          const std::optional<int> index = plan.strategies[found->second][axis];
          const RootSplit wanted =
              index.has_value() ? read.anchors[found->second].splits[*index]
                                : RootSplit{};
          likeness += Likeness(wanted, offered.splits[r]) *
                      static_cast<double>(work.Count(roots[r]).flops);
        }
      }
      if (!best_likeness.has_value() || likeness > *best_likeness) {
        best_likeness = likeness;
        best = static_cast<int>(s);
      }
    }
    choice.push_back(best);
  }
  return choice;
}

}  // namespace meshwright::operators
