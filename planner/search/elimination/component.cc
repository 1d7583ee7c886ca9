#include "planner/search/elimination/component.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "planner/search/elimination/buckets.h"
#include "planner/search/elimination/greedy.h"
#include "planner/search/elimination/labels.h"
#include "planner/search/elimination/local_improvement.h"
#include "planner/search/elimination/lower_bound.h"
#include "planner/search/elimination/order.h"
#include "planner/search/elimination/restrict.h"

namespace meshwright::search {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr int64_t kFirstWidth = 32;
constexpr int64_t kWider = 8;
constexpr int64_t kLabelEntries = 1 << 18;  // of tables that guide labels

class ComponentSearch {
 public:
  ComponentSearch(const Graph& graph, const WorkBudget& work,
                  const base::Deadline& deadline)
      : graph_(graph),
        given_(deadline),
        without_plan_{.stop = deadline.stop},
        work_(work) {}

  ComponentResult Run(const Component& component, const Costs& costs,
                      RunMatrices& matrices) {
    GreedyPlan greedy = Greedy(graph_, component, costs, matrices);
    result_.cost = greedy.cost;
    configs_ = std::move(greedy.configs);
    if (result_.cost < kNever && IsOver()) return result_;
    model_ = Restrict(ComponentModel(graph_, component.variables,
                                     component.joins, costs, matrices),
                      {});
    if (!model_.IsPossible()) return {kNever, kNever};
    order_ = ChooseOrder(model_, deadline());
    if (order_.steps <= work_.easy_steps && Eliminated()) return result_;
    while (!IsOver()) {
      Guess();
      if (IsOver() || IsProved() || Eliminated()) break;
      Widen();
    }
    return result_;
  }

  // By variable; meaningful where the cost is below kNever.
  const std::vector<int>& configs() const { return configs_; }

 private:
  // As long as there is no plan, only a stop ends the search.
  const base::Deadline& deadline() const {
    return result_.cost < kNever ? given_ : without_plan_;
  }

  bool IsProved() const { return result_.bound >= result_.cost; }

  // Nothing more to find, or to be spent.
  bool IsOver() const {
    return result_.bound >= kNever || is_spent_ || deadline().HasPassed();
  }

  // The answer, where tables are small enough.
  bool Eliminated() {
    if (order_.steps > work_.table_steps ||
        order_.entries > static_cast<double>(work_.table_entries)) {
      return false;
    }
    const Buckets buckets(model_, 0, order_.sequence, work_.table_entries,
                          nullptr, deadline());
    if (!buckets.is_complete()) return false;
    result_.cost = result_.bound = buckets.bound();
    if (result_.cost >= kNever) return true;
    Keep(FindBestValues(buckets));
    return true;
  }

  void Keep(const std::vector<int>& values) {
    configs_.resize(values.size());
    for (size_t v = 0; v < values.size(); ++v) {
      configs_[v] = model_.domain(v).configs[values[v]];
    }
  }

  void Offer(const std::vector<int>& values) {
    const Draft draft(model_, values);
    if (draft.time() >= result_.cost) return;
    result_.cost = draft.time();
    Keep(values);
  }

  // A plan and a bound by relaxation, and a model without what they rule out.
  void Guess() {
    const LowerBound lower = FindLowerBound(
        model_, order_, {.max_cost = result_.cost}, {}, work_, deadline());
    Raise(lower.bound);
    if (lower.bound >= kNever || !lower.is_complete()) return;
    const std::vector<int> values = FindBestValues(*lower.buckets);
    if (Draft(model_, values).time() < kNever) {
      Offer(Polish(model_, values, kNoLimit, deadline()));
    }
    model_ = Focus(model_, {.max_cost = result_.cost}, deadline());
    if (!model_.IsPossible()) {
      Raise(kNever);
      return;
    }
    order_ = ChooseOrder(model_, deadline());
  }

  // No choice is below `bound` but those above what is known.
  void Raise(Cost bound) {
    result_.bound = std::max(result_.bound, std::min(bound, result_.cost));
  }

  // Labels of the next width.
  void Widen() {
    const int64_t max_width = std::max<int64_t>(
        1, work_.labels / static_cast<int64_t>(model_.variables.size()));
    is_spent_ =
        width_ >= max_width || candidates_ + last_ * kWider > work_.candidates;
    if (is_spent_) return;
    width_ = std::min(max_width, width_ == 0 ? kFirstWidth : width_ * kWider);
    const LowerBound lower =
        FindLowerBound(model_, order_, {.max_cost = result_.cost},
                       {.entries = kLabelEntries}, work_, deadline());
    Raise(lower.bound);
    if (IsProved() || !lower.is_complete()) return;
    Labels labels(model_, {{0, lower.buckets.get()}},
                  {.max_time = result_.cost, .width = width_});
    const Cost time = labels.Solve(deadline());
    last_ = labels.candidates();
    candidates_ += last_;
    if (time < kNever) Offer(labels.Values());
    Raise(labels.let_go());
  }

  const Graph& graph_;
  ComponentResult result_;
  const base::Deadline& given_;
  const base::Deadline without_plan_;
  Model model_;
  const WorkBudget& work_;
  Order order_;
  std::vector<int> configs_;
  int64_t width_ = 0;
  int64_t candidates_ = 0;
  int64_t last_ = 0;  // of the last width
  bool is_spent_ = false;
};

}  // namespace

ComponentResult SolveComponent(const Graph& graph, const Component& component,
                               const Costs& costs, PowersCache& powers,
                               const WorkBudget& work,
                               const base::Deadline& deadline,
                               std::vector<int>& slots) {
  RunMatrices matrices(graph, costs, powers);
  ComponentSearch search(graph, work, deadline);
  const ComponentResult result = search.Run(component, costs, matrices);
  if (result.cost >= kNever) return result;
  for (size_t i = 0; i < component.variables.size(); ++i) {
    slots[graph.variables[component.variables[i]].slot] = search.configs()[i];
  }
  for (const int j : component.joins) {
    const Join& join = graph.joins[j];
    int64_t slot = graph.variables[join.from].slot;
    const int last = slots[graph.variables[join.to].slot];
    for (const int config : matrices.Between(join, slots[slot], last)) {
      slots[++slot] = config;
    }
  }
  return result;
}

}  // namespace meshwright::search
