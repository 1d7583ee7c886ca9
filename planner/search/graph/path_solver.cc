#include "planner/search/graph/path_solver.h"

#include <algorithm>

#include "planner/search/graph/min_plus.h"

namespace meshwright::search {
namespace {

// The first configuration of least cost.
int ArgMin(const std::vector<Cost>& values) {
  return std::min_element(values.begin(), values.end()) - values.begin();
}

}  // namespace

PathSolver::PathSolver(const Path& path, const Costs& costs,
                       PowersCache& powers)
    : path_(path), costs_(costs) {
  for (auto item = path.items.rbegin(); item != path.items.rend(); ++item) {
    const std::vector<Cost>& unary = costs.unaries[item->unary];
    const std::vector<Cost> rest =
        runs_.empty() ? std::vector<Cost>(unary.size(), 0)
                      : MinPlus(MakeLink(*item->next), runs_.back().value());
    const MatrixView inner =
        item->inner ? MakeLink(*item->inner) : MatrixView{};
    runs_.emplace_back(unary, inner, item->copies, rest, [&]() -> Powers& {
      return powers.FindPowers(item->unary, unary, item->inner->matrix, inner);
    });
  }
  const std::vector<Cost>& value = runs_.back().value();
  cost_ = *std::min_element(value.begin(), value.end());
}

MatrixView PathSolver::MakeLink(const MatrixUse& use) const {
  return {&costs_.matrix(use.matrix), use.transposed};
}

void PathSolver::Choose(std::vector<int>& slots) const {
  int at = ArgMin(runs_.back().value());
  std::vector<int> values;
  for (size_t i = 0; i < path_.items.size(); ++i) {
    const Run& run = runs_[runs_.size() - 1 - i];
    if (i > 0) {
      const MatrixView link = MakeLink(*path_.items[i - 1].next);
      std::vector<Cost> sums = run.value();
      for (size_t d = 0; d < sums.size(); ++d) sums[d] += link.at(at, d);
      at = ArgMin(sums);
    }
    values.assign(1, at);
    run.Choose(at, values);
    int64_t slot = path_.items[i].first_slot;
    for (const int value : values) {
      slots[slot] = value;
      slot += path_.items[i].step;
    }
    at = values.back();
  }
}

}  // namespace meshwright::search
