#include "coordinator/segmenter/analysis.h"

#include <algorithm>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/ir/rewrite/split_fused.h"
#include "coordinator/segmenter/blocks/block_strategies.h"
#include "coordinator/segmenter/direction/hash.h"
#include "coordinator/segmenter/direction/state_search.h"
#include "coordinator/segmenter/direction/value_numbering.h"

namespace meshwright::segmenter {

namespace {

// The sizes of the axes that strategies are chosen for: the innermost one with
// more than one device, or all of those.
std::vector<int64_t> SearchedAxes(const Analysis& analysis) {
  std::vector<int64_t> sizes;
  for (auto it = analysis.mesh.rbegin(); it != analysis.mesh.rend(); ++it) {
    if (*it < 2) continue;
    sizes.push_back(*it);
    if (!analysis.request.open_outer_axes) break;
  }
  return sizes;
}

StepView View(const Analysis& it) {
  return {it.module, it.passes, it.blocks, it.gradients, it.classes};
}

// The effect of the request's rules on a segment.
std::string DescribeRules(const Analysis& analysis, const SegmentGraph& graph) {
  std::string text;
  if (!analysis.request.blocks.empty()) {
    const Segment& segment = analysis.plan.segments[graph.segment];
    for (int b = segment.first_block; b < segment.last_block; ++b) {
      for (const Strategy& strategy : analysis.strategies[b].strategies) {
        absl::StrAppend(&text, strategy.name, " ");
      }
      for (const SegmentSwitch it : analysis.allowed.switches[b]) {
        absl::StrAppend(&text, NameSwitch(it), " ");
      }
    }
  }
  if (analysis.request.arguments.empty()) return text;
  for (int i = 0; i < graph.input_count; ++i) {
    const ir::Instruction& it = analysis.module.at(graph.values[i].origin);
    if (it.opcode != ir::Opcode::kParameter) continue;
    const int number = static_cast<int>(it.attributes().parameter_number());
    for (const ArgumentRule& rule : analysis.request.arguments) {
      if (rule.argument != number) continue;
      absl::StrAppend(&text, i, rule.forbid ? "!" : "=", rule.sharding, " ");
    }
  }
  return text;
}

// Graphs of the planned segments, and which of them are equal.
void FindTypes(const std::vector<uint64_t>& hashes, Analysis& analysis) {
  analysis.graphs =
      ExtractSegments(analysis.module, analysis.passes, analysis.plan, hashes);
  std::unordered_map<std::string, SegmentTypeId> known;
  for (SegmentIndex s; s < analysis.graphs.size(); ++s) {
    const auto [found, added] =
        known.emplace(absl::StrCat(analysis.graphs[s].fingerprint,
                                   DescribeRules(analysis, analysis.graphs[s])),
                      SegmentTypeId(analysis.types.size()));
    if (added) analysis.types.push_back(s);
    analysis.type_of_segment.push_back(found->second);
  }
}

// By block, how many strategies it has on the mesh of `analysis`.
absl::StatusOr<std::vector<int>> FindStrategies(Analysis& analysis) {
  analysis.strategies.clear();
  std::vector<int> configurations;
  for (const ParallelBlock& block : analysis.blocks.blocks) {
    analysis.strategies.push_back(
        ListBlockStrategies(analysis.module, block, analysis.mesh,
                            analysis.request.open_outer_axes));
    configurations.push_back(
        static_cast<int>(analysis.strategies.back().strategies.size()));
  }
  ASSIGN_OR_RETURN(
      analysis.allowed,
      ApplyRequest(analysis.request, analysis.module, analysis.blocks,
                   analysis.mesh, analysis.strategies));
  return configurations;
}

absl::Status CheckSwitches(const Analysis& analysis) {
  for (SegmentIndex s; s < analysis.plan.segments.size(); ++s) {
    if (!ListSwitches(analysis, s).empty()) continue;
    const Segment& segment = analysis.plan.segments[s];
    return absl::InvalidArgumentError(absl::StrCat(
        "blocks ", segment.first_block, " to ", segment.last_block - 1,
        " are one segment, and the rules leave them no switch in common"));
  }
  return {};
}

}  // namespace

absl::StatusOr<Analysis> Analyze(ir::Module module, std::vector<int64_t> mesh,
                                 StrategyRequest request) {
  Analysis analysis;
  analysis.request = std::move(request);
  bool stays_fused = false;
  analysis.split_contractions =
      ir::SplitFusedContractions(module, &stays_fused);
  if (stays_fused) {
    analysis.cut_short.push_back(
        "the splitting of fused contractions ended at its bound: parts of one "
        "may still be split together");
  }
  PairDonations(module);
  analysis.module = std::move(module);
  analysis.mesh = std::move(mesh);
  const ir::Module& graph = analysis.module;
  ASSIGN_OR_RETURN(analysis.passes, FindForwardBackward(graph));
  const std::vector<uint64_t> hashes = HashOperations(graph);
  analysis.blocks =
      BuildBlocks(graph, analysis.passes, hashes, SearchedAxes(analysis));
  if (analysis.blocks.is_cut_short) {
    analysis.cut_short.push_back(
        "the search for paths between contractions ended at its bound: "
        "contractions side by side may be blocks of their own");
  }
  ASSIGN_OR_RETURN(const std::vector<int> configurations,
                   FindStrategies(analysis));
  analysis.classes = NumberValues(graph, hashes);
  bool cut_short = false;
  analysis.gradients =
      MatchGradients(graph, analysis.passes, analysis.classes, &cut_short);
  if (cut_short) {
    analysis.cut_short.push_back(
        "the search for gradients ended at its bound: backward contractions "
        "may be split unlike the forward ones that they differentiate");
  }
  analysis.plan = PlanSegments(View(analysis), configurations);
  FindTypes(hashes, analysis);
  RETURN_IF_ERROR(CheckSwitches(analysis));
  return analysis;
}

absl::StatusOr<Analysis> OnMesh(const Analysis& analysis,
                                std::vector<int64_t> mesh) {
  Analysis other = analysis;
  other.mesh = std::move(mesh);
  RETURN_IF_ERROR(FindStrategies(other).status());
  other.type_of_segment.clear();
  other.types.clear();
  FindTypes(HashOperations(other.module), other);
  RETURN_IF_ERROR(CheckSwitches(other));
  return other;
}

std::vector<SegmentSwitch> ListSwitches(const Analysis& analysis,
                                        SegmentIndex segment) {
  const Segment& it = analysis.plan.segments[segment];
  if (it.first_block == it.last_block) return analysis.allowed.end_switches;
  std::vector<SegmentSwitch> switches =
      analysis.allowed.switches[it.first_block];
  for (int b = it.first_block + 1; b < it.last_block; ++b) {
    const auto& others = analysis.allowed.switches[b];
    std::erase_if(switches, [&](SegmentSwitch which) {
      return std::find(others.begin(), others.end(), which) == others.end();
    });
  }
  return switches;
}

Analysis Recut(const Analysis& analysis, std::vector<Segment> cover) {
  Analysis cut = analysis;
  cut.plan = PlaceSegments(View(cut), std::move(cover));
  cut.type_of_segment.clear();
  cut.types.clear();
  FindTypes(HashOperations(cut.module), cut);
  return cut;
}

int64_t CountTripsAround(const Analysis& analysis, ir::ValueId id) {
  constexpr int64_t kMaxTrips = int64_t{1} << 40;
  int64_t trips = 1;
  for (std::optional<ir::LoopId> loop = analysis.module.at(id).loop;
       loop.has_value(); loop = analysis.module.loops[*loop].parent) {
    if (analysis.plan.kept_loops[*loop]) continue;
    const int64_t inner =
        std::max<int64_t>(1, analysis.module.loops[*loop].trips);
    trips = inner > kMaxTrips / trips ? kMaxTrips : trips * inner;
  }
  return trips;
}

}  // namespace meshwright::segmenter
