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
    for (const SegmentGraph& graph : analysis_.graphs) {
      for (int i = 0; i < graph.input_count; ++i) Enter(graph, i);
    }
    for (const auto& [id, gradient] : backward_) FindNearest(gradient);
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
    if (from < to) {
      // A gradient behind: the wrong way round.
      EnterForward({id, from, to, false},
                   analysis_.passes.forward[id] && !it.shape.is_tuple());
    } else {
      // A forward value before: the wrong way round.
      EnterBackward({id, from, to, true},
                    !reads.forward && !it.shape.is_tuple());
    }
  }

  // Readers come in the order of the segments. Cuts before an earlier one have
  // it, which is nearer.
  void EnterForward(const Crossing& crossing, bool is_possible) {
    size_t& next =
        forward_.try_emplace(crossing.value, crossing.from).first->second;
    for (; next < crossing.to; ++next) {
      cuts_[next].possible &= is_possible;
      cuts_[next].crossings.push_back(crossing);
    }
  }

  // The first reader is the furthest, so that it crosses every cut.
  void EnterBackward(const Crossing& crossing, bool is_possible) {
    Gradient& gradient = backward_[crossing.value];
    if (gradient.readers.empty()) {
      for (size_t cut = crossing.to; cut < crossing.from; ++cut) {
        gradient.places.push_back(cuts_[cut].crossings.size());
        cuts_[cut].crossings.push_back(crossing);
      }
    }
    gradient.readers.push_back(crossing.to);
    if (is_possible || gradient.is_turned) return;
    gradient.is_turned = true;
    for (size_t cut = crossing.to; cut < crossing.from; ++cut) {
      cuts_[cut].possible = false;
    }
  }

  struct Gradient {
    std::vector<SegmentIndex> readers;  // rising
    // Among the crossings of each cut from the first reader on.
    std::vector<size_t> places;
    bool is_turned = false;
  };

  void FindNearest(const Gradient& gradient) {
    size_t reader = 0;
    size_t cut = gradient.readers.front();
    for (const size_t place : gradient.places) {
      while (reader + 1 < gradient.readers.size() &&
             gradient.readers[reader + 1] <= cut) {
        ++reader;
      }
      cuts_[cut++].crossings[place].to = gradient.readers[reader];
    }
  }

  const Analysis& analysis_;
  const StepPasses& passes_;
  const int64_t micro_batches_;
  std::vector<Cut> cuts_;
  std::map<ValueId, size_t> forward_;  // its first cut without it
  std::map<ValueId, Gradient> backward_;
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
