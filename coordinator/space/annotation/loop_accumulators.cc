#include "coordinator/space/annotation/loop_accumulators.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace meshwright::space {
namespace {

using ir::Opcode;
using segmenter::Analysis;
using segmenter::SegmentGraph;

// Whether the operation only writes to its operand, or adds to all of it.
bool Gathers(const Analysis& analysis, const SegmentGraph& graph,
             const segmenter::Use& use, int value) {
  const ir::Instruction& it = analysis.module.at(graph.values[use.user].origin);
  if (ir::IsLoopBoundary(it.opcode)) return false;
  if (it.opcode == Opcode::kDynamicUpdateSlice) return use.operand == 0;
  return ir::IsElementwise(it.opcode) &&
         it.shape.dims ==
             analysis.module.at(graph.values[value].origin).shape.dims;
}

// Where a value ends: in one loop's result, in several places or elsewhere, or,
// where nothing reads it, nowhere.
struct End {
  std::optional<int> result;
  bool several = false;
  bool operator==(const End&) const = default;
};
constexpr End kNowhere;
constexpr End kSeveral = {.several = true};

// By value: the loop's result that it ends in, where all that reads the value
// and what reads that, up to the result, only gathers.
std::vector<End> FindEnds(const Analysis& analysis, const SegmentGraph& graph) {
  std::vector<End> ends(graph.values.size());
  for (size_t i = graph.values.size(); i-- > 0;) {
    const int value = static_cast<int>(i);
    const auto join = [&](const End& end) {
      if (end == kNowhere) return;
      ends[i] = ends[i] == kNowhere || ends[i] == end ? end : kSeveral;
    };
    std::optional<int> before;
    for (const segmenter::Use& use : graph.values[i].uses) {
      const bool is_result =
          analysis.module.at(graph.values[use.user].origin).opcode ==
          Opcode::kLoopResult;
      if (is_result) {
        join({use.user});
      } else if (use.user == before || !Gathers(analysis, graph, use, value)) {
        ends[i] = kSeveral;
      } else {
        join(ends[use.user]);
      }
      before = use.user;
      if (ends[i] == kSeveral) break;
    }
  }
  return ends;
}

// The readers of `carry` and theirs, up to `result`, in dependency order.
std::vector<int> Between(const SegmentGraph& graph, int carry, int result) {
  std::set<int> between;
  std::vector<int> stack = {carry};
  while (!stack.empty()) {
    const int value = stack.back();
    stack.pop_back();
    for (int user : graph.values[value].users) {
      if (user != result && between.insert(user).second) stack.push_back(user);
    }
  }
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
  const std::vector<End> ends = FindEnds(analysis, graph);
  for (int i = graph.input_count; i < count; ++i) {
    if (at(i).opcode != Opcode::kCarry) continue;
    const ir::Loop& loop = analysis.module.loops[at(i).boundary->loop];
    const auto result = index.find(*loop.results[at(i).boundary->element]);
    if (result == index.end() || graph.is_input(result->second) ||
        ends[i] != End{result->second}) {
      continue;
    }
    LoopAccumulator it{graph.values[i].operands[0], i, result->second,
                       Between(graph, i, result->second)};
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

std::optional<int> FindOperand(const SegmentGraph& graph, int user, int value) {
  const auto& uses = graph.values[value].uses;
  const auto at = std::lower_bound(
      uses.begin(), uses.end(), user,
      [](const segmenter::Use& use, int wanted) { return use.user < wanted; });
  if (at == uses.end() || at->user != user) return std::nullopt;
  return at->operand;
}

}  // namespace meshwright::space
