#include "planner/search/elimination/lower_bound.h"

#include <algorithm>
#include <utility>

#include "planner/search/elimination/message_passing.h"
#include "planner/search/elimination/restrict.h"

namespace meshwright::search {
bool MayMoveCosts(const Model& model) {
  const auto largest = [](const std::vector<Cost>& costs) {
    Cost max_cost = 0;
    for (const Cost cost : costs) {
      if (cost < kNever) max_cost = std::max(max_cost, cost);
    }
    return max_cost;
  };
  std::vector<Cost> domains;
  for (const Domain& domain : model.domains) {
    domains.push_back(largest(domain.time));
  }
  std::vector<Cost> matrices;
  for (const Matrix& matrix : model.matrices) {
    matrices.push_back(largest(matrix.entries));
  }
  __int128 sum = model.base;
  for (const Model::Variable& v : model.variables) sum += domains[v.domain];
  for (const Model::Join& join : model.joins) sum += matrices[join.matrix];
  return sum < kNever / 8;
}

LowerBound FindLowerBound(const Model& model, const Order& order,
                          const Cutoff& cutoff, const LowerBoundWork& spend,
                          const WorkBudget& work,
                          const base::Deadline& deadline) {
  LowerBound lower;
  if (IsForest(model) || (order.steps <= spend.steps &&
                          order.entries * spend.together <=
                              static_cast<double>(work.table_entries))) {
    lower.buckets =
        std::make_unique<Buckets>(model, cutoff.multiplier, order.sequence,
                                  work.table_entries, nullptr, deadline);
    lower.bound = lower.buckets->bound();
    return lower;
  }
  const int64_t entries = std::min(
      spend.entries,
      1 + work.table_entries / static_cast<int64_t>(model.variables.size()));
  if (MayMoveCosts(model) && CountJoinEntries(model) <= work.table_entries) {
    MessagePassing passing(model, cutoff);
    if (!passing.Converge(deadline)) {
      lower.bound = kNever;
      return lower;
    }
    if (deadline.HasPassed()) return lower;
    lower.moved = std::make_unique<Potentials>(passing.Moved());
  }
  lower.buckets =
      std::make_unique<Buckets>(model, cutoff.multiplier, order.sequence,
                                entries, lower.moved.get(), deadline);
  lower.bound = lower.buckets->bound();
  return lower;
}

std::vector<int> FindBestValues(const Buckets& buckets) {
  const std::vector<int>& sequence = buckets.sequence();
  std::vector<int> values(sequence.size(), 0);
  std::vector<Cost> additions;
  for (auto v = sequence.rbegin(); v != sequence.rend(); ++v) {
    buckets.Additions(*v, values, additions);
    values[*v] = std::min_element(additions.begin(), additions.end()) -
                 additions.begin();
  }
  return values;
}

Model Focus(const Model& model, const Cutoff& cutoff,
            const base::Deadline& deadline) {
  if (!MayMoveCosts(model) || deadline.HasPassed()) return model;
  MessagePassing passing(model, cutoff);
  const bool is_possible =
      IsForest(model) ? passing.Pass(deadline) : passing.Converge(deadline);
  if (!is_possible) return Restrict(model, Keep(model.variables.size()));
  return Restrict(model, passing.Alive());
}

}  // namespace meshwright::search
