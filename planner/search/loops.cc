#include "planner/search/loops.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace meshwright::search {
namespace {

using Counts = std::map<Closed, int64_t>;  // copies covered

// The same closed walk, from its smallest vertex on.
Closed Turned(Closed walk) {
  std::rotate(walk.begin(), std::min_element(walk.begin(), walk.end()),
              walk.end());
  return walk;
}

Counts TakenApart(const Walk& walk) {
  Counts counts;
  Walk open;
  for (const int v : walk) {
    const auto before = std::find(open.begin(), open.end(), v);
    if (before != open.end()) {
      const Closed closed = Turned(Closed(before, open.end()));
      counts[closed] += static_cast<int64_t>(closed.size());
      open.erase(before, open.end());
    }
    open.push_back(v);
  }
  return counts;
}

std::optional<Closed> Most(const Counts& counts, const Closed& but) {
  std::optional<Closed> most;
  int64_t covered = 0;
  for (const auto& [walk, copies] : counts) {
    if (copies <= covered || walk == but) continue;
    most = walk;
    covered = copies;
  }
  return most;
}

Loop MakeLoop(const Block& block, const Closed& vertices) {
  Loop loop{.vertices = vertices};
  for (size_t i = 0; i < vertices.size(); ++i) {
    const int to = vertices[(i + 1) % vertices.size()];
    loop.time += block.inner.at(vertices[i], to) + block.time[to];
    loop.bytes += block.bytes[to];
  }
  return loop;
}

// Lets both begin where they meet, if they do.
void Align(Closed& a, Closed& b) {
  for (auto v = a.begin(); v != a.end(); ++v) {
    const auto met = std::find(b.begin(), b.end(), *v);
    if (met == b.end()) continue;
    std::rotate(a.begin(), v, a.end());
    std::rotate(b.begin(), met, b.end());
    return;
  }
}

}  // namespace

std::vector<Loop> LoopsOf(const Block& block, const Walk& first,
                          const Walk& second) {
  auto a = Most(TakenApart(first), {});
  auto b = Most(TakenApart(second), a.value_or(Closed()));
  if (a.has_value() && b.has_value()) Align(*a, *b);
  std::vector<Loop> loops;
  for (const auto& closed : {a, b}) {
    if (closed.has_value()) loops.push_back(MakeLoop(block, *closed));
  }
  return loops;
}

// Every `period` rounds more of the second are so many fewer of the first. Time
// and bytes are linear in that number, so one end of what fits is the fastest.
std::optional<Rounds> Fill(const Loop& first, const Loop& second, int64_t steps,
                           int64_t room) {
  const int64_t common = std::gcd(first.length(), second.length());
  const int64_t period = first.length() / common;
  const int64_t fewer = second.length() / common;
  Rounds least;
  while (least.second < period &&
         (steps - least.second * second.length()) % first.length() != 0) {
    ++least.second;
  }
  const int64_t left = steps - least.second * second.length();
  if (least.second == period || left < 0) return std::nullopt;
  least.first = left / first.length();
  // How many periods more, from and to.
  int64_t from = 0;
  int64_t to = least.first / fewer;
  const int64_t over =
      least.first * first.bytes + least.second * second.bytes - room;
  const int64_t rise = period * second.bytes - fewer * first.bytes;
  if (rise < 0) {
    if (over > 0) from = (over - rise - 1) / -rise;
  } else if (over > 0) {
    return std::nullopt;
  } else if (rise > 0) {
    to = std::min(to, -over / rise);
  }
  if (from > to) return std::nullopt;
  const bool is_slower = period * second.time > fewer * first.time;
  const int64_t periods = is_slower ? from : to;
  return Rounds{least.first - periods * fewer, least.second + periods * period};
}

}  // namespace meshwright::search
