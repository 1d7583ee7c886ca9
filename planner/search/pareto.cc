#include "planner/search/pareto.h"

#include <algorithm>
#include <utility>

#include "planner/search/fronts.h"

namespace meshwright::search {
namespace {

// Label steps after which the width is not raised further: a second or two.
constexpr int64_t kMostCandidates = 40'000'000;
// Elementary steps of the bounds over all combinations.
constexpr int64_t kMostBoundSteps = 4'000'000'000;
constexpr size_t kFirstWidth = 128;
constexpr size_t kMostWidth = 1 << 20;

class Search {
 public:
  Search(const Graph& graph, const std::vector<Component>& components,
         int64_t limit_bytes, const Until& until, Incumbent& incumbent)
      : graph_(graph),
        components_(components),
        costs_(TimeCosts(graph)),
        until_(until),
        incumbent_(incumbent) {
    limits_.limit_bytes = limit_bytes;
    limits_.least_transient = LeastTransient(graph);
    limits_.price = incumbent.price;
  }

  void Run() {
    if (!IsModerate()) return;
    for (limits_.width = kFirstWidth; limits_.width <= kMostWidth;
         limits_.width *= 8) {
      let_go_ = kNever;
      is_tied_ = false;
      Round();
      const Cost bound = std::min(incumbent_.time, let_go_);
      incumbent_.lower_bound = std::max(incumbent_.lower_bound, bound);
      if (incumbent_.lower_bound >= incumbent_.time) return;
      if (until_() || candidates_ > kMostCandidates) return;
    }
  }

 private:
  bool IsModerate() const {
    __int128 steps = 1;
    for (const Component& component : components_) {
      steps *= component.combinations;
      if (steps > kMostCombinations) return false;
    }
    __int128 sizes = 0;
    for (size_t n = 0; n < graph_.node_unary.size(); ++n) {
      const __int128 k = graph_.unaries[graph_.node_unary[n]].time.size();
      sizes += k * k * (graph_.first_slot[n + 1] - graph_.first_slot[n]);
    }
    return steps * sizes <= kMostBoundSteps;
  }

  // Tries the combinations of all components together, memory being shared.
  void Round() {
    std::vector<Combinations> at;
    for (const Component& component : components_) {
      at.emplace_back(graph_, costs_, component.held);
      if (!at.back().IsPossible()) return;
    }
    while (true) {
      if (until_()) {
        let_go_ = 0;
        return;
      }
      Try(at);
      size_t i = at.size();
      while (i > 0 && !at[i - 1].Next()) --i;
      if (i == 0) return;
    }
  }

  void Try(const std::vector<Combinations>& at) {
    std::vector<Stop> stops;
    for (size_t i = 0; i < components_.size(); ++i) {
      const auto held = HoldCosts(graph_, components_[i], costs_, at[i]);
      for (const Path& path : components_[i].paths) {
        Append(path, held, stops);
      }
    }
    limits_.most_time = incumbent_.time;
    Fronts fronts(stops, limits_);
    const Cost time = fronts.Solve(until_);
    let_go_ = std::min(let_go_, fronts.let_go());
    candidates_ += fronts.candidates();
    if (time >= kNever || time > incumbent_.time) return;
    std::vector<int> slots(incumbent_.slots.size());
    fronts.Choose(slots);
    // The first exact plan of a time replaces one met by chance.
    const bool is_better =
        time < incumbent_.time || !is_tied_ || slots < incumbent_.slots;
    if (!is_better) return;
    incumbent_.time = time;
    incumbent_.slots = std::move(slots);
    is_tied_ = true;
  }

  void Append(const Path& path, const std::map<int, std::vector<Cost>>& held,
              std::vector<Stop>& stops) const {
    const auto link = [this](const std::optional<MatrixUse>& use) {
      std::optional<Link> found;
      if (use.has_value()) {
        found = Link{&costs_.matrices[use->matrix], use->transposed};
      }
      return found;
    };
    for (const Item& item : path.items) {
      const auto found = item.variable ? held.find(*item.variable) : held.end();
      const std::vector<Cost>& time =
          found == held.end() ? costs_.unaries[item.unary] : found->second;
      for (int64_t copy = 0; copy < item.copies; ++copy) {
        const bool is_last = copy + 1 == item.copies;
        stops.push_back({.kind = &graph_.unaries[item.unary],
                         .time = time,
                         .slot = item.first_slot + item.step * copy,
                         .next = link(is_last ? item.next : item.inner)});
      }
    }
  }

  const Graph& graph_;
  const std::vector<Component>& components_;
  const Costs costs_;
  const Until& until_;
  Incumbent& incumbent_;
  FrontLimits limits_;
  Cost let_go_ = kNever;
  bool is_tied_ = false;  // the incumbent is a smallest choice of its time
  int64_t candidates_ = 0;
};

}  // namespace

void ParetoSearch(const Graph& graph, const std::vector<Component>& components,
                  int64_t limit_bytes, const Until& until,
                  Incumbent& incumbent) {
  Search(graph, components, limit_bytes, until, incumbent).Run();
}

}  // namespace meshwright::search
