#include "planner/search/reorder.h"

#include <cstdint>
#include <map>
#include <set>

namespace meshwright::search {
namespace {

// By vertex and the next one: how often the step is still to be made.
using Steps = std::map<int, std::map<int, int64_t>>;

void Take(Steps& steps, int from, int to) {
  auto& out = steps[from];
  if (--out[to] == 0) out.erase(to);
  if (out.empty()) steps.erase(from);
}

// Whether a walk from `start` meets every vertex that steps are left from.
bool HangsTogether(const Steps& steps, int start) {
  std::set<int> met = {start};
  std::vector<int> open = {start};
  while (!open.empty()) {
    const auto out = steps.find(open.back());
    open.pop_back();
    if (out == steps.end()) continue;
    for (const auto& [to, count] : out->second) {
      if (met.insert(to).second) open.push_back(to);
    }
  }
  for (const auto& [from, out] : steps) {
    if (!met.contains(from)) return false;
  }
  return true;
}

}  // namespace

std::vector<int> SmallestOrder(const std::vector<int>& walk) {
  if (walk.empty()) return {};
  Steps steps;
  for (size_t i = 0; i + 1 < walk.size(); ++i) ++steps[walk[i]][walk[i + 1]];
  std::vector<int> smallest = {walk.front()};
  while (!steps.empty()) {
    const int from = smallest.back();
    const std::map<int, int64_t> out = steps.at(from);
    for (const auto& [to, count] : out) {
      Take(steps, from, to);
      if (HangsTogether(steps, to)) {
        smallest.push_back(to);
        break;
      }
      ++steps[from][to];
    }
  }
  return smallest;
}

}  // namespace meshwright::search
