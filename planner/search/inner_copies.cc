#include "planner/search/inner_copies.h"

#include <algorithm>

namespace meshwright::search {

const std::vector<int>& RunCopies::Between(int join, int from, int to) {
  const auto [entry, is_new] = known_.try_emplace({join, from, to});
  const Join& run = graph_.joins[join];
  if (!is_new || run.between == 0) return entry->second;
  const int unary = graph_.variables[run.from].unary;
  const std::vector<Cost>& copy = costs_.unaries[unary];
  const Link inner{&costs_.matrix(run.matrix)};
  std::vector<Cost> rest(copy.size());
  for (size_t c = 0; c < rest.size(); ++c) rest[c] = inner.at(c, to);
  const Run solved(copy, inner, run.between, rest, [&]() -> Powers& {
    return powers_.Of(unary, copy, run.matrix, inner);
  });
  int first = 0;
  Cost least = kNever;
  for (size_t c = 0; c < copy.size(); ++c) {
    const Cost cost = inner.at(from, c) + solved.value()[c];
    if (cost >= least) continue;
    least = cost;
    first = c;
  }
  entry->second.push_back(first);
  solved.Choose(first, entry->second);
  return entry->second;
}

}  // namespace meshwright::search
