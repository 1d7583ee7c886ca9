#include "planner/search/tails.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "planner/search/keep_best.h"
#include "planner/search/walk_states.h"

namespace meshwright::search {
namespace {

constexpr size_t kTurns = 1000;  // tails between two looks at `until`
constexpr int64_t kMuch = 2;     // times what is wanted
constexpr Cost kSteps = 8;       // of the reach
constexpr double kLeastStep = 0.2;

// The same rounds, walked from the end.
std::vector<Loop> Reversed(std::vector<Loop> loops) {
  for (Loop& loop : loops) {
    std::reverse(loop.vertices.begin() + 1, loop.vertices.end());
  }
  return loops;
}

}  // namespace

// Extends tails backward, step by step.
class Tails::Maker {
 public:
  Maker(const LongBlock& where, Cost most, int64_t wanted, const Until& until,
        Tails& made)
      : line_(where.line),
        at_(where.at),
        block_(where.block()),
        loops_(Reversed(where.loops)),
        guides_(where.guides),
        guide_(where.guide()),
        most_(most),
        wanted_(wanted),
        until_(until),
        made_(made) {
    const std::vector<Cost> reached = ReachedOf(where);
    for (size_t v = 0; v < reached.size(); ++v) {
      const bool is_open = reached[v] < kNever && guide_.visited[v] < kNever;
      const Cost through = is_open ? reached[v] + guide_.visited[v] : kNever;
      least_ = std::min(least_, through);
      allowed_.push_back(is_open ? most - through : -1);
    }
    SetArcs();
  }

  // About as many as wanted, if there are: equal steps of the reach multiply
  // them alike.
  bool Run() {
    const Cost slack = most_ - least_;
    if (slack < 0) return false;
    const Cost step = slack / kSteps + 1;
    Cost reach = step;
    if (!Walk(reach)) return false;
    double growth = std::log(Count());
    while (reach < slack) {
      const double before = Count();
      const double ahead = std::log(static_cast<double>(wanted_) / before);
      if (ahead <= 0) return true;
      const double steps = growth > ahead ? ahead / growth : 1;
      if (steps < kLeastStep) return true;
      const Cost next = std::min(
          slack,
          reach + static_cast<Cost>(static_cast<double>(step) * steps) + 1);
      if (!Walk(next)) return !until_() && Walk(reach);
      growth = std::log(Count() / before) / steps;
      reach = next;
    }
    return true;
  }

 private:
  struct Label {
    Cost time = 0;
    int64_t bytes = 0;
    Cost slack = 0;
    int node = -1;
  };
  using Labels = std::vector<Label>;
  struct Arc {
    int from = 0;
    Cost more = 0;  // than the cheapest
    Cost time = 0;
    int64_t bytes = 0;
  };

  bool IsMuch(size_t count) const {
    return static_cast<int64_t>(count) > kMuch * wanted_;
  }

  double Count() const { return 1 + static_cast<double>(made_.tails_.size()); }

  void SetArcs() {
    arcs_.resize(block_.size());
    for (int d = 0; d < block_.size(); ++d) {
      for (int c = 0; c < block_.size(); ++c) {
        const Cost step = guide_.step.at(c, d);
        if (step >= kNever || allowed_[c] < 0 || allowed_[d] < 0) continue;
        const Cost more = step + guide_.visited[d] - guide_.visited[c];
        if (more > allowed_[c]) continue;
        arcs_[d].push_back(
            {c, more, block_.inner.at(c, d) + block_.time[d], block_.bytes[d]});
      }
      std::sort(arcs_[d].begin(), arcs_[d].end(),
                [](const Arc& a, const Arc& b) {
                  return std::pair(a.more, a.from) < std::pair(b.more, b.from);
                });
    }
  }

  int AddNode(int next, size_t block, int vertex) {
    made_.nodes_.push_back(
        {.next = next, .block = static_cast<int>(block), .vertex = vertex});
    return static_cast<int>(made_.nodes_.size()) - 1;
  }

  // What the blocks after the long one may take, by its last vertex. False if
  // that is too much.
  bool After(std::vector<Labels>& ends) {
    ends.assign(line_.back().size(), {Label{}});
    for (size_t b = line_.size() - 1; b > at_; --b) {
      const Block& block = line_[b];
      const std::vector<Cost>& exit = guides_[b - 1].exit;
      std::vector<Labels> before(line_[b - 1].size());
      for (int d = 0; d < block.size(); ++d) {
        for (const Label& end : ends[d]) {
          const int node = AddNode(end.node, b, d);
          for (int c = 0; c < line_[b - 1].size(); ++c) {
            const Cost join = line_[b - 1].next.at(c, d);
            if (join >= kNever || exit[c] >= kNever) continue;
            const Cost priced =
                end.slack + PricedTime(block, d, made_.price_) + join;
            if (priced - exit[c] > reach_) continue;
            before[c].push_back({.time = end.time + block.time[d] + join,
                                 .bytes = end.bytes + block.bytes[d],
                                 .slack = priced,
                                 .node = node});
          }
        }
        if (IsMuch(made_.nodes_.size()) || until_()) return false;
      }
      ends = std::move(before);
      for (Labels& labels : ends) Sift(labels);
    }
    return true;
  }

  static void Sift(Labels& labels) {
    KeepBest(labels, [](const Label&) { return 0; });
  }

  // All that cost at most `reach` more than the cheapest. False if they are too
  // many, or stopped.
  bool Walk(Cost reach) {
    reach_ = made_.reach_ = reach;
    made_.shelves_.assign(block_.size(), {});
    made_.tails_.clear();
    made_.nodes_.clear();
    WalkStates states(loops_);
    std::vector<Labels> now;
    std::vector<Labels> next;
    std::vector<Labels> ends;
    if (!After(ends)) return false;
    for (int v = 0; v < block_.size(); ++v) {
      if (guide_.exit[v] >= kNever) continue;
      for (Label& label : ends[v]) {
        // So far it was priced time.
        label.slack -= guide_.visited[v];
        if (IsUseful(label, v)) Push(states.Begin(v), label, now);
      }
    }
    size_t look = kTurns;
    for (int step = 0; step < block_.copies; ++step) {
      bool is_empty = true;
      for (size_t s = 0; s < now.size(); ++s) {
        if (now[s].empty()) continue;
        is_empty = false;
        Sift(now[s]);
        const WalkState state = states.at(static_cast<int>(s));
        for (const Label& label : now[s]) {
          Add(label, state, step);
          if (step + 1 < block_.copies) {
            Extend(label, static_cast<int>(s), state.vertex, states, next);
          }
        }
        now[s].clear();
        if (made_.tails_.size() < look) continue;
        look = made_.tails_.size() + kTurns;
        if (IsMuch(made_.tails_.size()) || until_()) return false;
      }
      if (is_empty) return true;
      now.swap(next);
    }
    return true;
  }

  bool IsUseful(const Label& label, int v) const {
    return label.slack <= std::min(reach_, allowed_[v]) &&
           label.bytes <= made_.room_;
  }

  static void Push(int state, const Label& label, std::vector<Labels>& to) {
    const auto number = static_cast<size_t>(state);
    if (number >= to.size()) to.resize(number + 1);
    to[number].push_back(label);
  }

  void Add(const Label& label, const WalkState& state, int steps) {
    made_.shelves_[state.vertex].keys.push_back(
        {.place = made_.residues_.Of(label.bytes, steps),
         .slack = label.slack,
         .tail = static_cast<int>(made_.tails_.size())});
    made_.tails_.push_back({.time = label.time,
                            .bytes = label.bytes,
                            .steps = steps,
                            .node = label.node,
                            .met = {state.met[0], state.met[1]}});
  }

  void Extend(const Label& label, int state, int vertex, WalkStates& states,
              std::vector<Labels>& next) {
    const std::vector<Arc>& arcs = arcs_[vertex];
    int node = -1;
    for (size_t a = 0; a < arcs.size(); ++a) {
      const Arc& arc = arcs[a];
      if (label.slack + arc.more > reach_) return;
      const int to = states.After(state, a, arcs.size(), arc.from);
      if (to == WalkStates::kForbidden) continue;
      const Cost slack = label.slack + arc.more;
      const int64_t bytes = label.bytes + arc.bytes;
      if (slack > allowed_[arc.from] || bytes > made_.room_) continue;
      if (node < 0) node = AddNode(label.node, at_, vertex);
      if (to >= static_cast<int>(next.size())) next.resize(to + 1);
      next[to].push_back({label.time + arc.time, bytes, slack, node});
    }
  }

  const Line& line_;
  const size_t at_;
  const Block& block_;
  const std::vector<Loop> loops_;
  const std::vector<Guide>& guides_;
  const Guide& guide_;
  const Cost most_;
  const int64_t wanted_;
  const Until& until_;
  Tails& made_;
  Cost least_ = kNever;        // of any plan
  std::vector<Cost> allowed_;  // by vertex: more than the cheapest through it
  std::vector<std::vector<Arc>> arcs_;  // by the vertex they lead to
  Cost reach_ = 0;
};

// About two of a shelf to a part of the modulus: parts by counting, and each
// part by comparing.
void Tails::Sort(Shelf& shelf) const {
  const size_t parts = 1 + shelf.keys.size() / 2;
  shelf.per_place =
      static_cast<double>(parts) / static_cast<double>(residues_.modulus);
  shelf.begins.assign(parts + 2, 0);
  for (const Key& key : shelf.keys) ++shelf.begins[shelf.PartOf(key.place)];
  std::partial_sum(shelf.begins.begin(), shelf.begins.end(),
                   shelf.begins.begin());
  std::vector<Key> sorted(shelf.keys.size());
  for (const Key& key : shelf.keys) {
    sorted[--shelf.begins[shelf.PartOf(key.place)]] = key;
  }
  for (size_t part = 0; part <= parts; ++part) {
    std::sort(sorted.begin() + shelf.begins[part],
              sorted.begin() + shelf.begins[part + 1],
              [](const Key& a, const Key& b) {
                return std::pair(a.place, a.tail) < std::pair(b.place, b.tail);
              });
  }
  shelf.keys.swap(sorted);
}

std::optional<Tails> Tails::Make(const LongBlock& where, Cost most,
                                 int64_t wanted, const Until& until) {
  for (size_t b = where.at + 1; b < where.line.size(); ++b) {
    if (where.line[b].copies > 1) return std::nullopt;
  }
  const auto residues = Residues::Make(where.block(), where.loops, where.room);
  if (!residues.has_value()) return std::nullopt;
  Tails made;
  made.residues_ = *residues;
  made.price_ = where.price;
  made.room_ = where.room;
  if (!Maker(where, most, wanted, until, made).Run()) {
    return std::nullopt;
  }
  for (Shelf& shelf : made.shelves_) {
    if (until()) return std::nullopt;
    made.Sort(shelf);
  }
  return made;
}

}  // namespace meshwright::search
