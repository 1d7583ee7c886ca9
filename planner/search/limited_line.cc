#include "planner/search/limited_line.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "planner/search/blocks.h"
#include "planner/search/line_search.h"
#include "planner/search/settle.h"

namespace meshwright::search {
namespace {

constexpr int64_t kMostSettings = 100;

// A line and its search.
struct Part {
  Graph graph;
  std::vector<Component> components;
  Line line;
  std::unique_ptr<LineSearch> search;
  Cost bound = 0;  // before there is a search

  Cost Bound() const {
    return search != nullptr ? std::max(bound, search->bound()) : bound;
  }
};

class Parts {
 public:
  Parts(int64_t limit_bytes, const Effort& effort, const Until& until,
        Incumbent& incumbent)
      : limit_(limit_bytes),
        effort_(effort),
        until_(until),
        incumbent_(incumbent) {}

  // The graph itself, whose fastest plan is known; the incumbent is one of its.
  void AddWhole(const Graph& graph, const std::vector<Component>& components,
                Line line, const MinSumResult& fastest) {
    Part& part = Add(graph, components, std::move(line));
    part.bound = fastest.bound;
    Search(part, fastest, incumbent_.slots);
  }

  // A graph of which one variable or another is settled.
  Part& Add(Graph graph, std::vector<Component> components, Line line) {
    return *parts_.emplace_back(std::make_unique<Part>(
        Part{std::move(graph), std::move(components), std::move(line)}));
  }

  // Prices the parts of which nothing is known yet.
  void Begin() {
    for (const auto& part : parts_) Begin(*part);
  }

  void Run() {
    std::sort(parts_.begin(), parts_.end(), [](const auto& a, const auto& b) {
      return a->Bound() < b->Bound();
    });
    for (const auto& part : parts_) {
      if (part->search == nullptr) continue;
      if (part->Bound() < incumbent_.time) part->search->Dive();
      break;
    }
    while (candidates_ <= effort_.candidates && !until_()) {
      Part* const next = Next();
      if (next == nullptr) break;
      next->search->Step();
    }
    Cost bound = incumbent_.time;
    for (const auto& part : parts_) bound = std::min(bound, part->Bound());
    incumbent_.lower_bound = std::max(incumbent_.lower_bound, bound);
  }

 private:
  void Begin(Part& part) {
    const MinSumResult fastest = MinSum(part.graph, part.components,
                                        TimeCosts(part.graph), effort_, until_);
    part.bound = fastest.bound;
    if (part.bound >= incumbent_.time || until_()) return;
    if (FootprintOf(part.graph, fastest.slots).peak() <= limit_) {
      Take(part, fastest);
      return;
    }
    LeastMemory least =
        FindLeastMemory(part.graph, part.components, limit_, effort_, until_);
    if (least.bound_bytes > limit_) part.bound = kNever;
    if (least.slots.empty() || least.peak_bytes > limit_) return;
    Search(part, fastest, least.slots);
  }

  // Of the least bound; none if nothing faster than the incumbent is open.
  Part* Next() const {
    Part* next = nullptr;
    for (const auto& part : parts_) {
      if (part->search == nullptr || part->search->IsOver()) continue;
      if (next == nullptr || part->Bound() < next->Bound()) next = part.get();
    }
    return next;
  }

  void Take(const Part& part, const MinSumResult& fastest) {
    if (fastest.cost >= incumbent_.time) return;
    incumbent_.time = fastest.cost;
    incumbent_.bytes = FootprintOf(part.graph, fastest.slots).bytes;
    incumbent_.slots = fastest.slots;
  }

  void Search(Part& part, const MinSumResult& fastest,
              const std::vector<int>& small) {
    part.search = std::make_unique<LineSearch>(part.graph, part.components,
                                               part.line, limit_, effort_,
                                               until_, incumbent_, candidates_);
    part.search->Begin(fastest.slots, small, part.bound);
  }

  const int64_t limit_;
  const Effort& effort_;
  const Until& until_;
  Incumbent& incumbent_;
  int64_t candidates_ = 0;  // labels looked at, in all parts
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace

bool SolveLimitedLine(const Graph& graph,
                      const std::vector<Component>& components,
                      int64_t limit_bytes, const MinSumResult& fastest,
                      const Effort& effort, const Until& until,
                      Incumbent& incumbent) {
  Parts parts(limit_bytes, effort, until, incumbent);
  if (auto line = ToLine(graph, components); line.has_value()) {
    parts.AddWhole(graph, components, *std::move(line), fastest);
    parts.Run();
    return true;
  }
  const std::vector<int> variables =
      VariablesToSettle(graph, components, kMostSettings);
  if (variables.empty()) return false;
  for (Graph& settled : SettleAll(graph, variables)) {
    std::vector<Component> paths = Decompose(settled);
    auto line = ToLine(settled, paths);
    // All are of the same shape.
    if (!line.has_value()) return false;
    parts.Add(std::move(settled), std::move(paths), *std::move(line));
  }
  parts.Begin();
  parts.Run();
  return true;
}

}  // namespace meshwright::search
