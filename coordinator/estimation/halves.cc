#include "coordinator/estimation/halves.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "coordinator/estimation/measured_cost.h"
#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/space/configurations/switches.h"
#include "profiledb/store/row_time.h"

namespace meshwright::estimation {
namespace {

using segmenter::Analysis;
using segmenter::Segment;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;
using space::Configuration;
using space::ProfileSpace;

// By block: the forward values that blocks before it in its segment make and
// the rest of the segment reads.
std::vector<int> CountCrossings(const Analysis& analysis) {
  const auto& owner_of = analysis.blocks.owner_block;
  std::vector<int> crossings(analysis.blocks.blocks.size() + 1, 0);
  for (const ir::ValueId id : analysis.module.ids()) {
    const segmenter::Owner segment = analysis.plan.owner[id];
    if (!analysis.passes.forward[id] || !segment.IsSegment() ||
        !owner_of[id].has_value()) {
      continue;
    }
    const Segment& it = analysis.plan.segments[segment.segment()];
    const int first = std::max(*owner_of[id], it.first_block);
    int last = first;
    for (const ir::ValueId user : analysis.module.at(id).users) {
      if (!analysis.passes.forward[user]) continue;
      if (analysis.plan.owner[user] != segment) continue;
      // Operations that no block owns are behind all of them.
      const int block = owner_of[user].value_or(it.last_block);
      last = std::max(last, std::min(block, it.last_block - 1));
    }
    if (first >= it.last_block) continue;
    ++crossings[first + 1];
    --crossings[last + 1];
  }
  std::partial_sum(crossings.begin(), crossings.end(), crossings.begin());
  return crossings;
}

// The boundary of one activation that leaves the fewest configurations.
std::optional<int> FindCut(const Analysis& analysis,
                           const std::vector<int>& crossings,
                           SegmentIndex segment) {
  const Segment& it = analysis.plan.segments[segment];
  std::optional<int> best;
  int64_t fewest = INT64_MAX;
  for (int block = it.first_block + 1; block < it.last_block; ++block) {
    int64_t halves[2] = {1, 1};
    for (int b = it.first_block; b < it.last_block; ++b) {
      halves[b >= block] *=
          static_cast<int64_t>(analysis.strategies[b].strategies.size());
    }
    if (halves[0] + halves[1] >= fewest) continue;
    if (crossings[block] != 1) continue;
    fewest = halves[0] + halves[1];
    best = block;
  }
  return best;
}

// Equal segments are cut alike. `cuts`: by type, blocks of the first half.
std::vector<Segment> Cover(const Analysis& analysis,
                           const std::map<SegmentTypeId, int>& cuts) {
  std::vector<Segment> cover;
  for (size_t s = 0; s < analysis.plan.segments.size(); ++s) {
    const Segment& it = analysis.plan.segments[s];
    if (it.first_block == it.last_block) continue;
    const auto cut = cuts.find(analysis.type_of_segment[s]);
    if (cut == cuts.end()) {
      cover.push_back(it);
      continue;
    }
    const int middle = it.first_block + cut->second;
    cover.push_back({it.first_block, middle});
    cover.push_back({middle, it.last_block});
  }
  return cover;
}

std::optional<SegmentIndex> FindSegment(const Analysis& analysis,
                                        int first_block, int last_block) {
  for (SegmentIndex s; s < analysis.plan.segments.size(); ++s) {
    const Segment& it = analysis.plan.segments[s];
    if (it.first_block == first_block && it.last_block == last_block) return s;
  }
  return std::nullopt;
}

// Whether the halves do the contractions of the whole. Shared values may be
// computed elsewhere once the cut is made. They differ little between
// configurations, so that the scale of the estimates takes them in.
bool SameContractions(const Analysis& analysis, SegmentIndex whole,
                      const Analysis& halved, SegmentIndex first,
                      SegmentIndex second) {
  for (const ir::ValueId id : analysis.module.ids()) {
    if (!ir::IsContraction(analysis.module, id)) continue;
    const segmenter::Owner owner = halved.plan.owner[id];
    if ((analysis.plan.owner[id] == whole) !=
        (owner == first || owner == second)) {
      return false;
    }
  }
  return true;
}

// The configuration with these strategies under the switch; without it where
// the switch changes nothing.
std::optional<int> Pick(const std::vector<Configuration>& configurations,
                        const std::vector<int>& strategies,
                        segmenter::SegmentSwitch wanted) {
  std::optional<int> plain;
  for (size_t c = 0; c < configurations.size(); ++c) {
    const Configuration& it = configurations[c];
    if (it.strategies != strategies) continue;
    if (it.segment_switch == wanted) return static_cast<int>(c);
    if (it.segment_switch == segmenter::SegmentSwitch::kNone) {
      plain = static_cast<int>(c);
    }
  }
  return plain;
}

}  // namespace

Halves::Halves(const Analysis& analysis, const ProfileSpace& space,
               const std::vector<bool>& cut)
    : types_(space.types.size()) {
  const std::vector<int> crossings = CountCrossings(analysis);
  std::map<SegmentTypeId, int> cuts;
  for (SegmentTypeId t; t < cut.size(); ++t) {
    if (!cut[t]) continue;
    const SegmentIndex segment = analysis.types[t];
    const std::optional<int> block = FindCut(analysis, crossings, segment);
    if (!block.has_value()) continue;
    cuts[t] = *block - analysis.plan.segments[segment].first_block;
  }
  if (cuts.empty()) return;
  const Analysis halved = segmenter::Recut(analysis, Cover(analysis, cuts));
  space_ = BuildProfileSpace(halved, space.context);
  for (const auto& [type, blocks] : cuts) {
    Pair(analysis, space, halved, type, blocks);
  }
  Collect();
}

void Halves::Pair(const Analysis& analysis, const ProfileSpace& whole,
                  const Analysis& halved, SegmentTypeId type, int blocks) {
  const SegmentIndex segment = analysis.types[type];
  const Segment& it = analysis.plan.segments[segment];
  const int middle = it.first_block + blocks;
  const auto first = FindSegment(halved, it.first_block, middle);
  const auto second = FindSegment(halved, middle, it.last_block);
  if (!first.has_value() || !second.has_value()) return;
  if (!SameContractions(analysis, segment, halved, *first, *second)) return;
  HalvedType pair;
  pair.first = halved.type_of_segment[*first];
  pair.second = halved.type_of_segment[*second];
  const auto edge = std::find_if(
      space_.edges.begin(), space_.edges.end(), [&](const auto& candidate) {
        return candidate.segments == space::SegmentPair{*first, *second};
      });
  if (edge == space_.edges.end()) return;
  pair.boundary = edge->boundary;
  const space::BoundaryTensor& tensor =
      space_.boundaries[pair.boundary].tensors[0];
  pair.trips = segmenter::CountTripsAround(
      halved, halved.graphs[*first].values[tensor.from_value].origin);
  const std::vector<int> plain =
      space::FindPlainConfigurations(whole.types[type]);
  for (size_t c = 0; c < plain.size(); ++c) {
    if (plain[c] != static_cast<int>(c)) {
      pair.configurations.emplace_back();
      continue;
    }
    const Configuration& configuration = whole.types[type].configurations[c];
    const std::vector<int>& all = configuration.strategies;
    const auto a =
        Pick(space_.types[pair.first].configurations,
             {all.begin(), all.begin() + blocks}, configuration.segment_switch);
    const auto b =
        Pick(space_.types[pair.second].configurations,
             {all.begin() + blocks, all.end()}, configuration.segment_switch);
    if (!a.has_value() || !b.has_value()) return;
    pair.configurations.push_back(HalfConfigurations{*a, *b});
  }
  types_[type] = std::move(pair);
}

std::vector<space::ProgramId> Halves::ListPrograms(SegmentTypeId type,
                                                   int configuration) const {
  const HalvedType& it = *types_[type];
  if (!it.configurations[configuration].has_value()) return {};
  const auto [a, b] = *it.configurations[configuration];
  std::vector<space::ProgramId> programs =
      space_.boundaries[it.boundary].programs[a][b];
  for (const Configuration* half :
       {&space_.types[it.first].configurations[a],
        &space_.types[it.second].configurations[b]}) {
    programs.push_back(*half->program);
  }
  return programs;
}

void Halves::Collect() {
  std::set<space::ProgramId> used;
  for (SegmentTypeId t; t < types_.size(); ++t) {
    if (!types_[t].has_value()) continue;
    for (size_t c = 0; c < types_[t]->configurations.size(); ++c) {
      for (const space::ProgramId program :
           ListPrograms(t, static_cast<int>(c))) {
        used.insert(program);
      }
    }
  }
  for (const space::ProgramId program : used) {
    v1::Program& kept = programs_.emplace_back(space_.programs[program]);
    kept.set_label("half " + kept.label());
  }
}

std::optional<Estimate> Halves::Sum(SegmentTypeId type, int configuration,
                                    const store::Results& results) const {
  const HalvedType& it = *types_[type];
  if (!it.configurations[configuration].has_value()) return std::nullopt;
  const auto [a, b] = *it.configurations[configuration];
  Estimate sum;
  for (const Configuration* half :
       {&space_.types[it.first].configurations[a],
        &space_.types[it.second].configurations[b]}) {
    const auto cost = FindMeasuredMainCost(space_, *half, results);
    if (!cost.has_value()) return std::nullopt;
    sum.time += cost->time;
    sum.transient_bytes = std::max(sum.transient_bytes, cost->transient_bytes);
  }
  for (const space::ProgramId program :
       space_.boundaries[it.boundary].programs[a][b]) {
    const auto row = results.find(space_.programs[program].key());
    if (row == results.end() || row->second.outcome() != v1::MEASURED) {
      return std::nullopt;
    }
    sum.time = std::min(sum.time + ToCost(static_cast<double>(store::GetTimeNs(
                                              row->second.measurement())) *
                                          static_cast<double>(it.trips)),
                        problem::kMaxTime);
  }
  return sum;
}

const v1::ProfileResult* Halves::Failure(SegmentTypeId type, int configuration,
                                         const store::Results& results) const {
  for (const space::ProgramId program : ListPrograms(type, configuration)) {
    const auto row = results.find(space_.programs[program].key());
    if (row != results.end() && row->second.outcome() != v1::MEASURED) {
      return &row->second;
    }
  }
  return nullptr;
}

}  // namespace meshwright::estimation
