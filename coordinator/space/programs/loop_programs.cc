#include "coordinator/space/programs/loop_programs.h"

#include <algorithm>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/loops.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;

// The most trips of the counted loops over layers that the segment keeps. Of
// nested ones the outermost counts: the others run whole within its trips.
int64_t KeptTrips(const Analysis& analysis, const SegmentGraph& graph) {
  const ir::Module& module = analysis.module;
  int64_t trips = 0;
  for (const segmenter::SegmentValue& value : graph.values) {
    const ir::Instruction& it = module.at(value.origin);
    if (!it.loop.has_value() || !analysis.plan.kept_loops[*it.loop] ||
        !ir::IsContraction(module, value.origin)) {
      continue;
    }
    ir::LoopId outermost = *it.loop;
    for (std::optional<ir::LoopId> loop = it.loop;
         loop.has_value() && analysis.plan.kept_loops[*loop];
         loop = module.loops[*loop].parent) {
      outermost = *loop;
    }
    trips = std::max(trips, module.loops[outermost].trips);
  }
  return trips;
}

}  // namespace

int64_t CountOuterTrips(const Analysis& analysis, const SegmentGraph& graph) {
  int64_t trips = 1;
  for (size_t i = graph.input_count; i < graph.values.size(); ++i) {
    trips = std::max(
        trips, segmenter::CountTripsAround(analysis, graph.values[i].origin));
  }
  return trips;
}

void MakeSegmentPrograms(const Analysis& analysis, const SegmentGraph& graph,
                         const std::vector<v1::InputSpec>& inputs,
                         const KeyContext& context, const std::string& label,
                         ProgramSet& programs, Configuration& configuration,
                         const ProgramPart& part) {
  const auto make = [&](ProgramExtent extent, const char* note) {
    extent.recompute = configuration.recompute;
    extent.hands_on = configuration.role.hands_on && part.empty();
    extent.part = part;
    return programs.Keep(
        MakeSegmentProgram(analysis, graph, configuration.annotation, inputs,
                           context, extent),
        label + note);
  };
  if (analysis.module.loops.empty()) {
    configuration.program = make({}, "");
    return;
  }
  const int64_t trips = KeptTrips(analysis, graph);
  const int64_t outer = CountOuterTrips(analysis, graph);
  const LoopSide side = outer > 1 ? LoopSide::kInside : LoopSide::kBoth;
  if (trips > kLongTrips) {
    const double more = static_cast<double>(trips - kLongTrips) /
                        static_cast<double>(kLongTrips - kShortTrips);
    configuration.program = make({trips, kLongTrips, side}, ", 4 trips");
    configuration.weight = 1 + more;
    configuration.corrections.push_back(
        {make({trips, kShortTrips, side}, ", 2 trips"), -more});
  } else {
    configuration.program = make({.side = side}, "");
  }
  if (outer <= 1) return;
  const double times = static_cast<double>(outer);
  configuration.weight *= times;
  for (Correction& correction : configuration.corrections) {
    correction.weight *= times;
  }
  if (!part.empty()) return;
  configuration.corrections.push_back(
      {make({.side = LoopSide::kOutside}, ", outside the loop"), 1});
}

}  // namespace meshwright::space
