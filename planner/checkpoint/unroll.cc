#include "planner/checkpoint/unroll.h"

#include <variant>
#include <vector>

namespace meshwright::checkpoint {

using Kind = Operation::Kind;

Sequence Unroll(const Costs& costs, int64_t memory, const Decide& decide) {
  const int last = costs.stages() - 1;
  Sequence sequence;
  std::vector<std::variant<Interval, Operation>> todo;
  todo.push_back(Interval{0, last, memory});
  while (!todo.empty()) {
    const auto next = todo.back();
    todo.pop_back();
    if (const auto* operation = std::get_if<Operation>(&next)) {
      sequence.push_back(*operation);
      continue;
    }
    const auto [s, t, free] = std::get<Interval>(next);
    const auto [kind, k] =
        s == t ? Decision{Decision::Kind::kSaveAll} : decide({s, t, free});
    if (kind == Decision::Kind::kSaveAll) {
      for (int i = s; i <= t; ++i) {
        sequence.push_back({Kind::kForwardSave, i});
      }
      if (t == last) sequence.push_back({Kind::kLoss, 0});
      for (int i = t; i >= s; --i) sequence.push_back({Kind::kBackward, i});
    } else if (kind == Decision::Kind::kSave) {
      sequence.push_back({Kind::kForwardSave, s});
      todo.push_back(Operation{Kind::kBackward, s});
      todo.push_back(Interval{s + 1, t, free - costs.saved(s)});
    } else {
      sequence.push_back({Kind::kForwardKeep, s});
      for (int i = s + 1; i < k; ++i) {
        sequence.push_back({Kind::kForwardDrop, i});
      }
      todo.push_back(Interval{s, k - 1, free});
      todo.push_back(Interval{k, t, free - costs.act(k)});
    }
  }
  return sequence;
}

}  // namespace meshwright::checkpoint
