#include "coordinator/segmenter/segments/extract.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/fingerprint.h"
#include "coordinator/ir/loops.h"
#include "coordinator/segmenter/direction/hash.h"
#include "coordinator/segmenter/segments/crossings.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

// The kind of an input or output, a part of the canonical form.
enum class Exit { kNone, kState, kResult, kActivation, kGradient };

class Extractor {
 public:
  Extractor(const Module& module, const ForwardBackward& passes,
            const SegmentPlan& plan, const std::vector<uint64_t>& hashes)
      : module_(module),
        passes_(passes),
        plan_(plan),
        hashes_(hashes),
        walk_(module) {
    const size_t count = module.outputs.size();
    first_number_.resize(module.size());
    next_number_.resize(count);
    for (size_t i = count; i-- > 0;) {
      std::optional<int>& first = first_number_[module.outputs[i]];
      next_number_[i] = std::exchange(first, static_cast<int>(i));
    }
    state_of_output_.resize(count);
    for (size_t p = 0; p < passes.state_output.size(); ++p) {
      if (passes.state_output[p].has_value()) {
        state_of_output_[*passes.state_output[p]] = static_cast<int>(p);
      }
    }
    owned_.resize(plan.segments.size());
    const SegmentIndex loose = LooseOutputsSegment();
    for (const ValueId id : module.ids()) {
      if (plan.owner[id].IsSegment()) {
        owned_[plan.owner[id].segment()].push_back(id);
      } else if (first_number_[id].has_value()) {
        owned_[loose].push_back(id);
      }
    }
    places_.resize(module.size());
  }

  SegmentGraph Extract(SegmentIndex segment) {
    segment_ = segment;
    graph_ = SegmentGraph();
    graph_.segment = segment;
    walk_.Restart();
    const std::vector<ValueId> outputs = SortedOutputs();
    std::vector<ValueId> inputs;
    std::vector<ValueId> nodes;
    Visit(outputs, inputs, nodes);
    for (ValueId id : inputs) AddValue(id);
    graph_.input_count = static_cast<int>(inputs.size());
    for (ValueId id : nodes) AddValue(id);
    for (ValueId id : outputs) graph_.outputs.push_back(GetIndex(id));
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const int user = static_cast<int>(i);
      int number = 0;
      for (int operand : graph_.values[i].operands) {
        auto& read = graph_.values[operand];
        if (read.users.empty() || read.users.back() != user) {
          read.users.push_back(user);
        }
        read.uses.push_back({user, number++});
      }
    }
    PairState(outputs);
    PairBoundaryValues(outputs);
    graph_.fingerprint = ComputeFingerprint();
    return std::move(graph_);
  }

 private:
  // Facts known of a value, and for which segment.
  struct Place {
    std::optional<SegmentIndex> hashed_by;
    std::optional<SegmentIndex> seen_by;
    int index = 0;
    uint64_t hash = 0;
  };

  bool Inner(ValueId id) const {
    return plan_.owner[id] == segment_ || plan_.owner[id].IsEverywhere();
  }

  // The segment of recomputable results and of arguments that are returned.
  SegmentIndex LooseOutputsSegment() const {
    const Segment& first = plan_.segments.front();
    return SegmentIndex(
        first.first_block == first.last_block ? 0 : plan_.segments.size() - 1);
  }

  Exit OutputKind(ValueId id) const {
    if (first_number_[id].has_value()) {
      return state_of_output_[*first_number_[id]].has_value() ? Exit::kState
                                                              : Exit::kResult;
    }
    return passes_.forward[id] ? Exit::kActivation : Exit::kGradient;
  }

  bool IsRead(ValueId id) const {
    const auto& users = module_.at(id).users;
    return std::any_of(users.begin(), users.end(), [&](ValueId user) {
      return plan_.owner[user].IsSegment() && plan_.owner[user] != segment_;
    });
  }

  std::vector<ValueId> SortedOutputs() {
    std::vector<std::tuple<Exit, uint64_t, int, ValueId>> keyed;
    for (ValueId id : owned_[segment_]) {
      const std::optional<int> number = first_number_[id];
      if (!number.has_value() && !IsRead(id)) continue;
      keyed.emplace_back(OutputKind(id), StructuralHash(id), number.value_or(0),
                         id);
    }
    std::sort(keyed.begin(), keyed.end());
    std::vector<ValueId> sorted;
    sorted.reserve(keyed.size());
    for (const auto& [kind, hash, number, id] : keyed) sorted.push_back(id);
    return sorted;
  }

  uint64_t StructuralHash(ValueId root) {
    std::vector<ValueId> stack = {root};
    while (!stack.empty()) {
      const ValueId id = stack.back();
      if (Hashed(id)) {
        stack.pop_back();
        continue;
      }
      const ir::Instruction& it = module_.at(id);
      if (Inner(id)) {
        const size_t size = stack.size();
        for (ValueId operand : it.operands) {
          if (!Hashed(operand)) stack.push_back(operand);
        }
        if (stack.size() > size) continue;
      }
      uint64_t hash = 0;
      if (Inner(id)) {
        hash = hashes_[id];
        for (ValueId operand : it.operands) {
          hash = base::Mix(hash, places_[operand].hash);
        }
      } else {
        hash = base::Mix(InputKind(id), HashShape(it.shape));
      }
      places_[id].hash = hash;
      places_[id].hashed_by = segment_;
      stack.pop_back();
    }
    return places_[root].hash;
  }

  bool Hashed(ValueId id) const { return places_[id].hashed_by == segment_; }

  uint64_t InputKind(ValueId id) const {
    const ir::Instruction& it = module_.at(id);
    if (it.opcode == Opcode::kParameter) {
      return static_cast<uint64_t>(
          passes_.roles[it.attributes().parameter_number()]);
    }
    return passes_.forward[id] ? 100 : 101;
  }

  void Visit(const std::vector<ValueId>& outputs, std::vector<ValueId>& inputs,
             std::vector<ValueId>& nodes) {
    struct Step {
      ValueId id;
      size_t next;
      std::vector<ValueId> before;  // the predecessors of a loop boundary
    };
    std::vector<Step> stack;
    std::vector<ValueId> companions;
    const auto push = [&](ValueId id) {
      if (std::exchange(places_[id].seen_by, segment_) == segment_) return;
      stack.push_back({id, 0, {}});
      if (!Inner(id) || !InKeptLoop(id)) return;
      if (module_.at(id).boundary.has_value()) {
        stack.back().before = walk_.ListPredecessors(id);
      }
      for (ValueId alive : walk_.ListCompanions(id)) {
        // Of a loop around it that is looked through nothing is needed.
        if (plan_.kept_loops[module_.at(alive).boundary->loop]) {
          companions.push_back(alive);
        }
      }
    };
    const auto visit = [&](ValueId start) {
      push(start);
      while (!stack.empty()) {
        Step& top = stack.back();
        const auto& before =
            top.before.empty() ? module_.at(top.id).operands : top.before;
        if (Inner(top.id) && top.next < before.size()) {
          push(before[top.next++]);
        } else {
          (Inner(top.id) ? nodes : inputs).push_back(top.id);
          stack.pop_back();
        }
      }
    };
    for (ValueId output : outputs) visit(output);
    // A kept loop needs what its next trip begins with.
    for (size_t i = 0; i < companions.size(); ++i) visit(companions[i]);
  }

  bool InKeptLoop(ValueId id) const {
    const ir::Instruction& it = module_.at(id);
    return (it.loop.has_value() && plan_.kept_loops[*it.loop]) ||
           (it.boundary.has_value() && plan_.kept_loops[it.boundary->loop]);
  }

  void AddValue(ValueId id) {
    SegmentValue value;
    value.origin = id;
    if (Inner(id)) {
      const auto& operands = module_.at(id).operands;
      value.operands.reserve(operands.size());
      for (ValueId operand : operands) {
        value.operands.push_back(GetIndex(operand));
      }
    }
    places_[id].index = static_cast<int>(graph_.values.size());
    graph_.values.push_back(std::move(value));
  }

  // Of a value the graph has.
  int GetIndex(ValueId id) const { return places_[id].index; }

  void PairState(const std::vector<ValueId>& outputs) {
    for (ValueId output : outputs) {
      for (std::optional<int> number = first_number_[output];
           number.has_value(); number = next_number_[*number]) {
        const std::optional<int> state = state_of_output_[*number];
        if (!state.has_value()) continue;
        const ValueId argument = module_.parameters[*state];
        if (places_[argument].seen_by != segment_) continue;
        graph_.state.push_back({GetIndex(argument), GetIndex(output)});
      }
    }
  }

  // A boundary activation and the gradients that cross the same way back, by
  // shape and canonical order: one for each first, then what is left. Several
  // contractions of a reader, and several readers, send one each.
  void PairBoundaryValues(const std::vector<ValueId>& outputs) {
    Crossings leaving;   // gradients, by the segments that read them
    Crossings entering;  // gradients, by the segment they come from
    for (ValueId g : outputs) {
      if (OutputKind(g) != Exit::kGradient) continue;
      for (const SegmentIndex reader : Readers(g)) {
        leaving.Add(GetDims(g), reader, GetIndex(g));
      }
    }
    for (int i = 0; i < graph_.input_count; ++i) {
      const ValueId g = graph_.values[i].origin;
      if (!plan_.owner[g].IsSegment() || passes_.forward[g]) continue;
      entering.Add(GetDims(g), plan_.owner[g].segment(), i);
    }
    for (int i = 0; i < graph_.input_count; ++i) {
      const ValueId x = graph_.values[i].origin;
      if (!plan_.owner[x].IsSegment() || !passes_.forward[x]) continue;
      const auto g = leaving.Take(GetDims(x), {plan_.owner[x].segment()});
      if (g.has_value()) graph_.entries.push_back({i, *g});
    }
    for (ValueId x : outputs) {
      if (OutputKind(x) != Exit::kActivation) continue;
      const auto g = entering.Take(GetDims(x), Readers(x));
      if (g.has_value()) graph_.exits.push_back({GetIndex(x), *g});
    }
    const auto pair_rest = [&](std::vector<BoundaryPair>& pairs,
                               Crossings& crossings, const auto& beyond) {
      const size_t firsts = pairs.size();
      for (size_t i = 0; i < firsts; ++i) {
        const int activation = pairs[i].activation;
        const ValueId x = graph_.values[activation].origin;
        while (true) {
          const auto g = crossings.Take(GetDims(x), beyond(x));
          if (!g.has_value()) break;
          pairs.push_back({activation, *g});
        }
      }
    };
    pair_rest(graph_.entries, leaving, [&](ValueId x) {
      return std::vector<SegmentIndex>{plan_.owner[x].segment()};
    });
    pair_rest(graph_.exits, entering, [&](ValueId x) { return Readers(x); });
  }

  const std::vector<int64_t>& GetDims(ValueId id) const {
    return module_.at(id).shape.dims;
  }

  // The segments that read a value, each once.
  std::vector<SegmentIndex> Readers(ValueId id) const {
    std::vector<SegmentIndex> readers;
    for (ValueId user : module_.at(id).users) {
      if (!plan_.owner[user].IsSegment()) continue;
      readers.push_back(plan_.owner[user].segment());
    }
    std::sort(readers.begin(), readers.end());
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    return readers;
  }

  std::string ComputeFingerprint() const {
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
      AddLoop(value.origin, print);
    }
    for (int output : graph_.outputs) {
      print.Add(output);
      print.Add(static_cast<int64_t>(OutputKind(graph_.values[output].origin)));
    }
    for (const auto& [in, out] : graph_.state) print.Add(in).Add(out);
    for (const auto* pairs : {&graph_.entries, &graph_.exits}) {
      print.Add(static_cast<int64_t>(pairs->size()));
      for (const BoundaryPair& pair : *pairs) {
        print.Add(pair.activation).Add(pair.gradient);
      }
    }
    return print.Hex();
  }

  // How often a kept loop runs, and between which values.
  void AddLoop(ValueId id, base::Fingerprinter& print) const {
    if (!InKeptLoop(id)) return;
    const ir::Instruction& it = module_.at(id);
    if (it.opcode == Opcode::kCarry) {
      const ir::Loop& loop = module_.loops[it.boundary->loop];
      print.Add(loop.trips).Add(loop.start).Add(loop.step);
      print.Add(static_cast<int64_t>(loop.counter == it.boundary->element));
    }
    if (it.opcode == Opcode::kLoopResult) {
      const ValueId carry =
          *module_.loops[it.boundary->loop].carries[it.boundary->element];
      print.Add(GetIndex(carry));
    }
  }

  const Module& module_;
  const ForwardBackward& passes_;
  const SegmentPlan& plan_;
  const std::vector<uint64_t>& hashes_;
  // Output numbers of a value: the first, and after each the next.
  std::vector<std::optional<int>> first_number_;
  std::vector<std::optional<int>> next_number_;
  std::vector<std::optional<int>> state_of_output_;  // parameter number
  // By segment, ascending; with what nobody owns and the step returns.
  std::vector<std::vector<ValueId>> owned_;
  std::vector<Place> places_;  // by ValueId
  ir::LoopWalk walk_;
  SegmentIndex segment_;
  SegmentGraph graph_;
};

}  // namespace

std::vector<BoundaryPair> SegmentGraph::boundary_pairs() const {
  std::vector<BoundaryPair> pairs = entries;
  pairs.insert(pairs.end(), exits.begin(), exits.end());
  return pairs;
}

std::vector<SegmentGraph> ExtractSegments(const Module& module,
                                          const ForwardBackward& passes,
                                          const SegmentPlan& plan,
                                          const std::vector<uint64_t>& hashes) {
  Extractor extractor(module, passes, plan, hashes);
  std::vector<SegmentGraph> graphs;
  for (SegmentIndex s; s < plan.segments.size(); ++s) {
    graphs.push_back(extractor.Extract(s));
  }
  return graphs;
}

}  // namespace meshwright::segmenter
