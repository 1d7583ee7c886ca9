#include "planner/search/detours.h"

#include <algorithm>
#include <utility>

#include "planner/search/keep_best.h"
#include "planner/search/reorder.h"

namespace meshwright::search {
namespace {

constexpr int64_t kTurns = 1000;          // labels between two looks at `until`
constexpr int64_t kKeysOfCandidate = 16;  // of tails, looked at as fast

}  // namespace

Detours::Detours(const Line& line, const std::vector<std::vector<Loop>>& loops,
                 std::vector<Guide> guides, int64_t price, int64_t room)
    : line_(line),
      loops_(loops),
      price_(price),
      room_(room),
      guides_(std::move(guides)) {
  for (size_t b = 0; b < line.size(); ++b) {
    arcs_.push_back(ArcsOf(b));
    if (loops[b].size() == 2) open_block_ = b;
    if (line[b].copies > 1) last_long_ = b;
  }
  endings_.resize(line.size());
  for (size_t b = line.size(); b > 0; --b) endings_[b - 1] = EndingsOf(b - 1);
}

Cost Detours::bound() const {
  Cost least = kNever;
  for (int v = 0; v < line_[0].size(); ++v) {
    least = std::min(
        least, Clamp(PricedTime(line_[0], v, price_) + guides_[0].entry[v]));
  }
  return least >= kNever ? kNever : least - PriceOf(price_, room_);
}

// Within a long block, and from a block of one copy to the next; the least
// first.
std::vector<std::vector<Detours::Arc>> Detours::ArcsOf(size_t b) const {
  const Block& block = line_[b];
  const Guide& guide = guides_[b];
  std::vector<std::vector<Arc>> arcs(block.size());
  if (block.copies == 1) return arcs;
  for (int c = 0; c < block.size(); ++c) {
    for (int d = 0; d < block.size(); ++d) {
      const Cost priced = guide.step.at(c, d);
      if (priced >= kNever || guide.visited[d] >= kNever) continue;
      arcs[c].push_back({.to = d,
                         .priced = priced,
                         .time = block.inner.at(c, d) + block.time[d],
                         .least = priced + guide.visited[d]});
    }
    std::sort(arcs[c].begin(), arcs[c].end(), [](const Arc& a, const Arc& b) {
      return std::pair(a.least, a.to) < std::pair(b.least, b.to);
    });
  }
  return arcs;
}

std::vector<Detours::Ending> Detours::EndingsOf(size_t b) const {
  std::vector<Ending> endings(line_[b].size());
  if (b + 1 == line_.size()) {
    for (Ending& ending : endings) ending.is_known = true;
    return endings;
  }
  const Block& after = line_[b + 1];
  if (after.copies > 1) return endings;
  for (int c = 0; c < line_[b].size(); ++c) {
    Ending& ending = endings[c];
    for (int d = 0; d < after.size(); ++d) {
      const Ending& rest = endings_[b + 1][d];
      const Cost join = line_[b].next.at(c, d);
      if (join >= kNever || !rest.is_known) continue;
      const Cost priced = join + PricedTime(after, d, price_) + rest.priced;
      if (ending.is_known && priced >= ending.priced) continue;
      ending = {true, d, priced, join + after.time[d] + rest.time,
                after.bytes[d] + rest.bytes};
    }
  }
  return endings;
}

// Where a block before the last long one is open, its bytes are not known.
bool Detours::KnowsLeftover() const {
  const size_t loops = loops_[last_long_].size();
  return loops == 2 || (loops == 1 && loops_[open_block_].size() < 2);
}

bool Detours::Sharpen(Cost most_time, int64_t cells, const Until& until) {
  leftover_.reset();
  if (!KnowsLeftover()) return false;
  leftover_ = Leftover::Make(
      LastLong(), Clamp(most_time + PriceOf(price_, room_)), cells, until);
  return leftover_.has_value();
}

bool Detours::MeetTails(Cost most_time, int64_t wanted, const Until& until) {
  tails_.reset();
  if (!KnowsLeftover()) return false;
  tails_ = Tails::Make(LastLong(), Clamp(most_time + PriceOf(price_, room_)),
                       wanted, until);
  return tails_.has_value();
}

// Whether what is left over makes it too slow.
bool Detours::IsSpare(size_t b, const Label& label, int64_t left) const {
  return leftover_.has_value() && b == last_long_ &&
         label.priced + leftover_->Least(label.vertex, label.bytes, left) >
             most_;
}

bool Detours::Search(Cost most_time, int64_t most_candidates,
                     const Until& until) {
  most_ = Clamp(std::min(most_time, best_time_ - 1) + PriceOf(price_, room_));
  most_candidates_ = candidates_ + most_candidates;
  nodes_.clear();
  Labels exits = {Label{}};
  for (size_t b = 0; b < line_.size(); ++b) {
    Labels entries = Entries(b, std::move(exits));
    exits.clear();
    if (line_[b].copies > 1) {
      if (!Walk(b, entries, exits, until)) return false;
      continue;
    }
    for (Label& label : entries) {
      label.node = AddNode(label, b);
      Leave(b, {.vertex = label.vertex}, label, 0, exits);
    }
    if (until()) return false;
  }
  return true;
}

// The labels at the first copy of block `b`, from those that left the one
// before.
Detours::Labels Detours::Entries(size_t b, Labels exits) {
  const Block& block = line_[b];
  const auto group = [](const Label& label) {
    return std::pair(label.vertex, label.open);
  };
  KeepBest(exits, group);
  Labels entries;
  for (const Label& from : exits) {
    for (int v = 0; v < block.size(); ++v) {
      const Cost join = b == 0 ? 0 : line_[b - 1].next.at(from.vertex, v);
      if (join >= kNever || guides_[b].entry[v] >= kNever) continue;
      Label label = from;
      label.vertex = v;
      label.time += join + block.time[v];
      label.bytes += block.bytes[v];
      label.priced += join + PricedTime(block, v, price_);
      if (label.priced + guides_[b].entry[v] > most_ || label.bytes > room_) {
        continue;
      }
      label.priced += guides_[b].mean * (block.copies - 1);
      if (!IsSpare(b, label, block.copies - 1)) entries.push_back(label);
    }
  }
  candidates_ += static_cast<int64_t>(entries.size());
  KeepBest(entries, group);
  return entries;
}

bool Detours::Walk(size_t b, const Labels& entries, Labels& exits,
                   const Until& until) {
  WalkStates states(loops_[b]);
  for (Labels& labels : now_) labels.clear();
  for (Labels& labels : next_) labels.clear();
  for (const Label& label : entries) {
    const auto number = static_cast<size_t>(states.Begin(label.vertex));
    if (IsCut(b, label)) {
      Join(b, states.at(static_cast<int>(number)), label, line_[b].copies - 1);
      continue;
    }
    if (number >= now_.size()) now_.resize(number + 1);
    now_[number].push_back(label);
  }
  const auto one_group = [](const Label& label) { return label.open; };
  int64_t look = candidates_ + kTurns;
  for (int64_t left = line_[b].copies - 1; left >= 0; --left) {
    bool is_empty = true;
    for (size_t s = 0; s < now_.size(); ++s) {
      KeepBest(now_[s], one_group);
      for (Label& label : now_[s]) {
        label.node = AddNode(label, b);
        is_empty = false;
        Leave(b, states.at(static_cast<int>(s)), label, left, exits);
        if (left > 0) {
          Expand(b, static_cast<int>(s), label, left, states, next_);
        }
        if (candidates_ < look) continue;
        if (candidates_ > most_candidates_ || until()) return false;
        look = candidates_ + kTurns;
      }
      now_[s].clear();
    }
    if (is_empty) break;
    now_.swap(next_);
  }
  return true;
}

void Detours::Expand(size_t b, int state, const Label& label, int64_t left,
                     WalkStates& states, std::vector<Labels>& next) {
  const Block& block = line_[b];
  const Guide& guide = guides_[b];
  const std::vector<Arc>& arcs = arcs_[b][label.vertex];
  for (size_t a = 0; a < arcs.size(); ++a) {
    const Arc& arc = arcs[a];
    if (label.priced + arc.least > most_) return;
    ++candidates_;
    const int to = states.After(state, a, arcs.size(), arc.to);
    if (to == WalkStates::kForbidden) continue;
    Label longer = label;
    longer.vertex = arc.to;
    longer.priced += arc.priced;
    longer.time += arc.time;
    longer.bytes += block.bytes[arc.to];
    const Cost least = guide.Left(arc.to, states.at(to).MetAny(), left - 1);
    if (longer.priced + least > most_ || longer.bytes > room_) continue;
    if (IsCut(b, longer)) {
      Join(b, states.at(to), longer, left - 1);
      continue;
    }
    if (IsSpare(b, longer, left - 1)) continue;
    if (to >= static_cast<int>(next.size())) next.resize(to + 1);
    next[to].push_back(longer);
  }
}

// The label makes no more detours; what is left of the block, rounds fill.
void Detours::Leave(size_t b, const WalkState& state, Label label, int64_t left,
                    Labels& exits) {
  const Guide& guide = guides_[b];
  if (guide.exit[label.vertex] >= kNever) return;
  if (state.met[0] && state.met[1]) {
    label.open = left;
  } else if (left > 0) {
    if (!state.MetAny()) return;
    const int k = state.met[0] ? 0 : 1;
    const Loop& loop = loops_[b][k];
    if (left % loop.length() != 0) return;
    const int64_t rounds = left / loop.length();
    Cost priced = 0;
    for (size_t i = 0; i < loop.vertices.size(); ++i) {
      priced += guide.step.at(loop.vertices[i],
                              loop.vertices[(i + 1) % loop.vertices.size()]);
    }
    label.priced += rounds * priced;
    label.time += rounds * loop.time;
    if (loop.bytes > 0 && rounds > (room_ - label.bytes) / loop.bytes) return;
    label.bytes += rounds * loop.bytes;
    nodes_.push_back({.before = label.node,
                      .block = static_cast<int>(b),
                      .loop = k,
                      .rounds = rounds});
    label.node = static_cast<int>(nodes_.size()) - 1;
  }
  if (label.priced + guide.exit[label.vertex] > most_) return;
  Finish(b, label);
  if (b + 1 < line_.size()) exits.push_back(label);
}

// Takes the label to the end, the cheapest way, if that makes the fastest plan
// so far.
void Detours::Finish(size_t b, Label label) {
  const Ending& ending = endings_[b][label.vertex];
  if (!ending.is_known) return;
  label.time += ending.time;
  label.bytes += ending.bytes;
  Rounds rounds;
  const Cost time = TimeOf(label, rounds);
  if (time >= best_time_) return;
  Record(label.node, time, rounds);
  for (int v = label.vertex; b + 1 < line_.size(); ++b) {
    v = endings_[b][v].next;
    best_.push_back({.block = static_cast<int>(b) + 1, .vertex = v});
  }
}

// Of the plan, the walk up to `node`.
void Detours::Record(int node, Cost time, const Rounds& open) {
  best_time_ = time;
  best_rounds_ = open;
  best_.clear();
  for (int n = node; n != kNoNode; n = nodes_[n].before) {
    best_.push_back(nodes_[n]);
  }
  std::reverse(best_.begin(), best_.end());
  most_ = std::min(most_, Clamp(time - 1 + PriceOf(price_, room_)));
}

// Whether tails take over from the label.
bool Detours::IsCut(size_t b, const Label& label) const {
  return tails_.has_value() && b == last_long_ &&
         label.priced + guides_[b].visited[label.vertex] >
             most_ - tails_->reach();
}

void Detours::Join(size_t b, const WalkState& state, const Label& label,
                   int64_t left) {
  const Cost slack = most_ - label.priced - guides_[b].visited[label.vertex];
  const int64_t looked = tails_->ForEach(
      label.vertex, label.bytes, left, slack, [&](const Tail& tail) {
        FinishBy(tail, b, state, label, left - tail.steps);
      });
  candidates_ += looked / kKeysOfCandidate;
}

// Takes the label to the end by the tail, if that makes the fastest plan so
// far.
void Detours::FinishBy(const Tail& tail, size_t b, const WalkState& state,
                       Label label, int64_t open) {
  label.time += tail.time;
  label.bytes += tail.bytes;
  const bool has_met[] = {state.met[0] || tail.met[0],
                          state.met[1] || tail.met[1]};
  Node round{.block = static_cast<int>(b)};
  Rounds rounds;
  if (has_met[0] && has_met[1]) {
    label.open = open;
  } else if (open > 0) {
    if (!has_met[0] && !has_met[1]) return;
    round.loop = has_met[0] ? 0 : 1;
    const Loop& loop = loops_[b][round.loop];
    if (open % loop.length() != 0) return;
    round.rounds = open / loop.length();
    if (loop.bytes > 0 && round.rounds > (room_ - label.bytes) / loop.bytes) {
      return;
    }
    label.time += round.rounds * loop.time;
    label.bytes += round.rounds * loop.bytes;
  }
  const Cost time = TimeOf(label, rounds);
  if (time >= best_time_) return;
  Record(AddNode(label, b), time, rounds);
  if (round.rounds > 0) best_.push_back(round);
  for (int n = tail.node; n >= 0; n = tails_->node(n).next) {
    best_.push_back(
        {.block = tails_->node(n).block, .vertex = tails_->node(n).vertex});
  }
}

// Of a whole plan, the open steps filled; kNever if it does not fit.
Cost Detours::TimeOf(const Label& label, Rounds& rounds) const {
  if (label.bytes > room_) return kNever;
  if (label.open == 0) return label.time;
  const Loop& first = loops_[open_block_][0];
  const Loop& second = loops_[open_block_][1];
  const auto found = Fill(first, second, label.open, room_ - label.bytes);
  if (!found.has_value()) return kNever;
  rounds = *found;
  return label.time + rounds.first * first.time + rounds.second * second.time;
}

int Detours::AddNode(const Label& label, size_t b) {
  nodes_.push_back({.before = label.node,
                    .block = static_cast<int>(b),
                    .vertex = label.vertex});
  return static_cast<int>(nodes_.size()) - 1;
}

void Detours::Choose(std::vector<int>& slots) const {
  std::vector<search::Walk> walks(line_.size());
  for (const Node& node : best_) {
    if (node.rounds == 0) walks[node.block].push_back(node.vertex);
  }
  const auto go_round = [&](int block, int loop, int64_t rounds) {
    if (rounds == 0) return;  // there may be no such loop
    search::Walk& walk = walks[block];
    const Closed& closed = loops_[block][loop].vertices;
    search::Walk more;
    for (; rounds > 0; --rounds) {
      more.insert(more.end(), closed.begin() + 1, closed.end());
      more.push_back(closed.front());
    }
    walk.insert(std::find(walk.begin(), walk.end(), closed.front()) + 1,
                more.begin(), more.end());
  };
  for (const Node& node : best_) {
    if (node.rounds > 0) go_round(node.block, node.loop, node.rounds);
  }
  go_round(static_cast<int>(open_block_), 0, best_rounds_.first);
  go_round(static_cast<int>(open_block_), 1, best_rounds_.second);
  for (size_t b = 0; b < line_.size(); ++b) {
    const search::Walk walk = SmallestOrder(walks[b]);
    for (size_t copy = 0; copy < walk.size(); ++copy) {
      slots[line_[b].slot(static_cast<int64_t>(copy))] =
          line_[b].configs[walk[copy]];
    }
  }
}

}  // namespace meshwright::search
