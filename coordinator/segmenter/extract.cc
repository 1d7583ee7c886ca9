#include "coordinator/segmenter/extract.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/fingerprint.h"
#include "coordinator/segmenter/hash.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

// What kind of thing an input or output is: part of the canonical form.
enum class Border { kNone, kState, kResult, kActivation, kGradient };

class Extractor {
 public:
  Extractor(const Module& module, const Direction& direction,
            const SegmentPlan& plan, const std::vector<uint64_t>& hashes)
      : module_(module), direction_(direction), plan_(plan), hashes_(hashes) {
    for (size_t i = 0; i < module.outputs.size(); ++i) {
      output_numbers_[module.outputs[i]].push_back(static_cast<int>(i));
    }
    for (size_t p = 0; p < direction.state_output.size(); ++p) {
      if (direction.state_output[p] >= 0) {
        state_of_output_[direction.state_output[p]] = static_cast<int>(p);
      }
    }
    owned_.resize(plan.segments.size());
    for (ValueId id = 0; id < module.size(); ++id) {
      if (plan.owner[id] >= 0) owned_[plan.owner[id]].push_back(id);
    }
  }

  SegmentGraph Extract(int segment) {
    segment_ = segment;
    graph_ = SegmentGraph();
    graph_.segment = segment;
    index_.clear();
    memo_.clear();
    const std::vector<ValueId> outputs = SortedOutputs();
    std::vector<ValueId> inputs;
    std::vector<ValueId> nodes;
    Visit(outputs, inputs, nodes);
    for (ValueId id : inputs) AddValue(id);
    graph_.input_count = static_cast<int>(inputs.size());
    for (ValueId id : nodes) AddValue(id);
    for (ValueId id : outputs) graph_.outputs.push_back(index_.at(id));
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      for (int operand : graph_.values[i].operands) {
        auto& users = graph_.values[operand].users;
        if (users.empty() || users.back() != static_cast<int>(i)) {
          users.push_back(static_cast<int>(i));
        }
      }
    }
    PairState(outputs);
    PairBorders(inputs, outputs);
    graph_.fingerprint = Fingerprint();
    return std::move(graph_);
  }

 private:
  bool Inner(ValueId id) const {
    return plan_.owner[id] == segment_ ||
           plan_.owner[id] == SegmentPlan::kEverywhere;
  }

  // Recomputable results and arguments that are returned as they are belong to
  // the first segment.
  bool GivesOutput(ValueId id) const {
    if (!output_numbers_.contains(id)) return false;
    return plan_.owner[id] == segment_ ||
           (plan_.owner[id] < 0 && segment_ == LooseOutputsSegment());
  }

  int LooseOutputsSegment() const {
    const Segment& first = plan_.segments.front();
    return first.first_block == first.last_block
               ? 0
               : static_cast<int>(plan_.segments.size()) - 1;
  }

  Border OutputKind(ValueId id) const {
    const auto found = output_numbers_.find(id);
    if (found != output_numbers_.end()) {
      return state_of_output_.contains(found->second.front()) ? Border::kState
                                                              : Border::kResult;
    }
    return direction_.forward[id] ? Border::kActivation : Border::kGradient;
  }

  std::vector<ValueId> SortedOutputs() {
    std::set<ValueId> outputs;
    for (ValueId id : owned_[segment_]) {
      for (ValueId user : module_.at(id).users) {
        if (plan_.owner[user] >= 0 && plan_.owner[user] != segment_) {
          outputs.insert(id);
        }
      }
    }
    for (const auto& [id, numbers] : output_numbers_) {
      if (GivesOutput(id)) outputs.insert(id);
    }
    std::vector<std::tuple<Border, uint64_t, int, ValueId>> keyed;
    for (ValueId id : outputs) {
      const auto found = output_numbers_.find(id);
      const int number =
          found == output_numbers_.end() ? 0 : found->second.front();
      keyed.emplace_back(OutputKind(id), StructuralHash(id), number, id);
    }
    std::sort(keyed.begin(), keyed.end());
    std::vector<ValueId> sorted;
    for (const auto& [kind, hash, number, id] : keyed) sorted.push_back(id);
    return sorted;
  }

  uint64_t StructuralHash(ValueId root) {
    std::vector<ValueId> stack = {root};
    while (!stack.empty()) {
      const ValueId id = stack.back();
      if (memo_.contains(id)) {
        stack.pop_back();
        continue;
      }
      const ir::Instruction& it = module_.at(id);
      if (!Inner(id)) {
        memo_[id] = base::Mix(InputKind(id), HashShape(it.shape));
        stack.pop_back();
        continue;
      }
      bool ready = true;
      for (ValueId operand : it.operands) {
        if (!memo_.contains(operand)) {
          stack.push_back(operand);
          ready = false;
        }
      }
      if (!ready) continue;
      uint64_t hash = hashes_[id];
      for (ValueId operand : it.operands) {
        hash = base::Mix(hash, memo_[operand]);
      }
      memo_[id] = hash;
      stack.pop_back();
    }
    return memo_[root];
  }

  uint64_t InputKind(ValueId id) const {
    const ir::Instruction& it = module_.at(id);
    if (it.opcode == Opcode::kParameter) {
      return static_cast<uint64_t>(
          direction_.roles[it.attributes().parameter_number()]);
    }
    return direction_.forward[id] ? 100 : 101;
  }

  void Visit(const std::vector<ValueId>& outputs, std::vector<ValueId>& inputs,
             std::vector<ValueId>& nodes) const {
    std::set<ValueId> seen;
    std::vector<std::pair<ValueId, size_t>> stack;
    for (ValueId output : outputs) {
      if (!seen.insert(output).second) continue;
      stack.emplace_back(output, 0);
      while (!stack.empty()) {
        auto& [id, next] = stack.back();
        const auto& operands = module_.at(id).operands;
        if (Inner(id) && next < operands.size()) {
          const ValueId operand = operands[next++];
          if (seen.insert(operand).second) stack.emplace_back(operand, 0);
        } else {
          (Inner(id) ? nodes : inputs).push_back(id);
          stack.pop_back();
        }
      }
    }
  }

  void AddValue(ValueId id) {
    SegmentValue value;
    value.origin = id;
    if (Inner(id)) {
      for (ValueId operand : module_.at(id).operands) {
        value.operands.push_back(index_.at(operand));
      }
    }
    index_[id] = static_cast<int>(graph_.values.size());
    graph_.values.push_back(std::move(value));
  }

  void PairState(const std::vector<ValueId>& outputs) {
    for (ValueId output : outputs) {
      const auto numbers = output_numbers_.find(output);
      if (numbers == output_numbers_.end()) continue;
      for (int number : numbers->second) {
        const auto parameter = state_of_output_.find(number);
        if (parameter == state_of_output_.end()) continue;
        const auto input = index_.find(module_.parameters[parameter->second]);
        if (input != index_.end()) {
          graph_.state.emplace_back(input->second, index_.at(output));
        }
      }
    }
  }

  // A border activation and the gradient that crosses the same way back, by
  // shape and canonical order.
  void PairBorders(const std::vector<ValueId>& inputs,
                   const std::vector<ValueId>& outputs) {
    std::set<ValueId> paired;
    for (ValueId x : inputs) {
      const int from = plan_.owner[x];
      if (from < 0 || !direction_.forward[x]) continue;
      for (ValueId g : outputs) {
        if (OutputKind(g) != Border::kGradient || paired.contains(g) ||
            !(module_.at(g).shape.dims == module_.at(x).shape.dims) ||
            !ReadBy(g, from)) {
          continue;
        }
        paired.insert(g);
        graph_.entries.push_back({index_.at(x), index_.at(g)});
        break;
      }
    }
    for (ValueId x : outputs) {
      if (OutputKind(x) != Border::kActivation) continue;
      for (ValueId g : inputs) {
        if (plan_.owner[g] < 0 || direction_.forward[g] || paired.contains(g) ||
            !(module_.at(g).shape.dims == module_.at(x).shape.dims) ||
            !ReadBy(x, plan_.owner[g])) {
          continue;
        }
        paired.insert(g);
        graph_.exits.push_back({index_.at(x), index_.at(g)});
        break;
      }
    }
  }

  bool ReadBy(ValueId id, int segment) const {
    for (ValueId user : module_.at(id).users) {
      if (plan_.owner[user] == segment) return true;
    }
    return false;
  }

  std::string Fingerprint() const {
    base::Fingerprinter print;
    print.Add(graph_.input_count);
    for (const SegmentValue& value : graph_.values) {
      if (!Inner(value.origin)) {
        print.Add(static_cast<int64_t>(InputKind(value.origin)));
        print.Add(
            static_cast<int64_t>(HashShape(module_.at(value.origin).shape)));
        continue;
      }
      print.Add(static_cast<int64_t>(hashes_[value.origin]));
      print.Add(static_cast<int64_t>(value.operands.size()));
      for (int operand : value.operands) print.Add(operand);
    }
    for (int output : graph_.outputs) {
      print.Add(output);
      print.Add(static_cast<int64_t>(OutputKind(graph_.values[output].origin)));
    }
    for (const auto& [in, out] : graph_.state) print.Add(in).Add(out);
    for (const auto* pairs : {&graph_.entries, &graph_.exits}) {
      print.Add(static_cast<int64_t>(pairs->size()));
      for (const BorderPair& pair : *pairs) {
        print.Add(pair.activation).Add(pair.gradient);
      }
    }
    return print.Hex();
  }

  const Module& module_;
  const Direction& direction_;
  const SegmentPlan& plan_;
  const std::vector<uint64_t>& hashes_;
  std::unordered_map<ValueId, std::vector<int>> output_numbers_;
  std::unordered_map<int, int> state_of_output_;  // output -> parameter
  std::vector<std::vector<ValueId>> owned_;
  int segment_ = 0;
  SegmentGraph graph_;
  std::unordered_map<ValueId, int> index_;
  std::unordered_map<ValueId, uint64_t> memo_;
};

}  // namespace

std::vector<SegmentGraph> ExtractSegments(const Module& module,
                                          const Direction& direction,
                                          const SegmentPlan& plan,
                                          const std::vector<uint64_t>& hashes) {
  Extractor extractor(module, direction, plan, hashes);
  std::vector<SegmentGraph> graphs;
  for (size_t s = 0; s < plan.segments.size(); ++s) {
    graphs.push_back(extractor.Extract(static_cast<int>(s)));
  }
  return graphs;
}

}  // namespace meshwright::segmenter
