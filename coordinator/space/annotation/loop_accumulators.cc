#include "coordinator/space/annotation/loop_accumulators.h"

#include <algorithm>
#include <set>

namespace meshwright::space {
namespace {

using ir::Opcode;
using segmenter::Analysis;
using segmenter::SegmentGraph;

// Whether `user` only writes to the value, or adds to all of it.
bool Gathers(const Analysis& analysis, const SegmentGraph& graph, int user,
             int value) {
  const ir::Instruction& it = analysis.module.at(graph.values[user].origin);
  const auto& operands = graph.values[user].operands;
  if (ir::IsLoopBoundary(it.opcode) ||
      std::count(operands.begin(), operands.end(), value) != 1) {
    return false;
  }
  if (it.opcode == Opcode::kDynamicUpdateSlice) return operands[0] == value;
  return ir::IsElementwise(it.opcode) &&
         it.shape.dims ==
             analysis.module.at(graph.values[value].origin).shape.dims;
}

// What reads `carry` and what reads that, up to `result`; empty where one of
// them does more than gather.
std::vector<int> Between(const Analysis& analysis, const SegmentGraph& graph,
                         int carry, int result) {
  std::set<int> between;  // in dependency order
  std::vector<int> stack = {carry};
  bool reached = false;
  while (!stack.empty()) {
    const int value = stack.back();
    stack.pop_back();
    for (int user : graph.values[value].users) {
      if (user == result) {
        reached = true;
      } else if (!Gathers(analysis, graph, user, value)) {
        return {};
      } else if (between.insert(user).second) {
        stack.push_back(user);
      }
    }
  }
  if (!reached) return {};
  return {between.begin(), between.end()};
}

}  // namespace

LoopAccumulators::LoopAccumulators(const Analysis& analysis,
                                   const SegmentGraph& graph) {
  if (analysis.module.loops.empty()) return;
  const auto at = [&](int value) -> const ir::Instruction& {
    return analysis.module.at(graph.values[value].origin);
  };
  std::unordered_map<ir::ValueId, int> index;
  const int count = static_cast<int>(graph.values.size());
  for (int i = 0; i < count; ++i) index[graph.values[i].origin] = i;
  for (int i = graph.input_count; i < count; ++i) {
    if (at(i).opcode != Opcode::kCarry) continue;
    const ir::Loop& loop = analysis.module.loops[at(i).boundary];
    const auto result = index.find(loop.results[at(i).element]);
    if (result == index.end() || graph.is_input(result->second)) continue;
    LoopAccumulator it{graph.values[i].operands[0], i, result->second,
                       Between(analysis, graph, i, result->second)};
    if (it.between.empty() ||
        it.next() != graph.values[it.result].operands[0]) {
      continue;
    }
    const int number = static_cast<int>(elements_.size());
    for (int value : it.between) of_value_[value] = number;
    of_value_[it.carry] = of_value_[it.result] = number;
    elements_.push_back(std::move(it));
  }
}

const LoopAccumulator* LoopAccumulators::Find(int value) const {
  const auto found = of_value_.find(value);
  return found == of_value_.end() ? nullptr : &elements_[found->second];
}

int OperandNumber(const SegmentGraph& graph, int user, int value) {
  const auto& operands = graph.values[user].operands;
  const auto at = std::find(operands.begin(), operands.end(), value);
  return at == operands.end() ? -1 : static_cast<int>(at - operands.begin());
}

}  // namespace meshwright::space
