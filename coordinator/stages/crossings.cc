#include "coordinator/stages/crossings.h"

#include <algorithm>
#include <map>
#include <utility>

#include "coordinator/ir/links/contraction_dims.h"

namespace meshwright::stages {
namespace {

using ir::ValueId;
using segmenter::Analysis;
using segmenter::SegmentGraph;
using segmenter::SegmentIndex;

// How the segment reads one of its inputs, but for the update.
struct Reads {
  bool forward = false;
  bool backward = false;
};

Reads FindReads(const Analysis& analysis, const StepPasses& passes,
                const SegmentGraph& graph, int input) {
  Reads reads;
  for (const int user : graph.values[input].users) {
    const ValueId id = graph.values[user].origin;
    if (passes.update[id]) continue;
    (analysis.passes.forward[id] ? reads.forward : reads.backward) = true;
  }
  return reads;
}

class CutFinder {
 public:
  CutFinder(const Analysis& analysis, const StepPasses& passes,
            int64_t micro_batches)
      : analysis_(analysis), passes_(passes), micro_batches_(micro_batches) {}

  std::vector<Cut> Run() {
    cuts_.resize(analysis_.graphs.size() - 1);
    known_.resize(cuts_.size());
    for (const SegmentGraph& graph : analysis_.graphs) {
      for (int i = 0; i < graph.input_count; ++i) Enter(graph, i);
    }
    return std::move(cuts_);
  }

 private:
  void Enter(const SegmentGraph& graph, int input) {
    const ValueId id = graph.values[input].origin;
    const ir::Instruction& it = analysis_.module.at(id);
    const segmenter::Owner owner = analysis_.plan.owner[id];
    if (it.opcode == ir::Opcode::kParameter || !owner.IsSegment()) return;
    const SegmentIndex from = owner.segment();
    const SegmentIndex to = graph.segment;
    if (from == to) return;
    const Reads reads = FindReads(analysis_, passes_, graph, input);
    if (!reads.forward && !reads.backward) return;  // once per step
    if (micro_batches_ > 1 && segmenter::CountTripsAround(analysis_, id) == 1) {
      return;
    }
    const bool is_forward = analysis_.passes.forward[id] != 0;
    // A gradient behind, a forward value before: the wrong way round.
    const bool turned = from < to ? !is_forward : reads.forward;
    for (size_t cut = std::min(from, to); cut < std::max(from, to); ++cut) {
      if (turned || it.shape.is_tuple()) cuts_[cut].possible = false;
      Add(cut, {id, from, to, from > to});
    }
  }

  // To the nearest of several readers.
  void Add(size_t cut, const Crossing& crossing) {
    std::vector<Crossing>& crossings = cuts_[cut].crossings;
    const auto [known, added] = known_[cut].try_emplace(
        {crossing.value, crossing.backward}, crossings.size());
    if (added) {
      crossings.push_back(crossing);
      return;
    }
    SegmentIndex& to = crossings[known->second].to;
    to = crossing.backward ? std::max(to, crossing.to)
                           : std::min(to, crossing.to);
  }

  const Analysis& analysis_;
  const StepPasses& passes_;
  const int64_t micro_batches_;
  std::vector<Cut> cuts_;
  // By cut: the number of a value's crossing there, forward and backward.
  std::vector<std::map<std::pair<ValueId, bool>, size_t>> known_;
};

}  // namespace

std::vector<Cut> FindCuts(const Analysis& analysis, const StepPasses& passes,
                          int64_t micro_batches) {
  return CutFinder(analysis, passes, micro_batches).Run();
}

int64_t CountOwnMicroBatches(const Analysis& analysis) {
  int64_t trips = 1;
  for (const ValueId id : analysis.module.ids()) {
    if (!analysis.passes.forward[id] ||
        !ir::IsContraction(analysis.module, id)) {
      continue;
    }
    trips = std::max(trips, segmenter::CountTripsAround(analysis, id));
  }
  return trips;
}

std::vector<SharedArgument> FindShared(const Analysis& analysis,
                                       const StepPasses& passes) {
  std::map<int, std::vector<SegmentIndex>> readers;
  for (const SegmentGraph& graph : analysis.graphs) {
    for (int i = 0; i < graph.input_count; ++i) {
      const ir::Instruction& it = analysis.module.at(graph.values[i].origin);
      if (it.opcode != ir::Opcode::kParameter) continue;
      const auto number = static_cast<int>(it.attributes().parameter_number());
      if (analysis.passes.roles[number] !=
          segmenter::ArgumentRole::kParameter) {
        continue;
      }
      const Reads reads = FindReads(analysis, passes, graph, i);
      if (!reads.forward && !reads.backward) continue;
      readers[number].push_back(graph.segment);
    }
  }
  std::vector<SharedArgument> shared;
  for (const auto& [number, segments] : readers) {
    if (segments.size() < 2) continue;
    const ir::Shape& shape =
        analysis.module.at(analysis.module.parameters[number]).shape;
    shared.push_back({number, segments, shape.byte_size()});
  }
  return shared;
}

}  // namespace meshwright::stages
