#include "coordinator/export/planned_step.h"

#include <algorithm>

namespace meshwright::exporting {

using ir::ValueId;
using segmenter::SegmentGraph;
using segmenter::SegmentIndex;
using space::Sharding;

PlannedStep::PlannedStep(const segmenter::Analysis& analysis,
                         const space::ProfileSpace& space,
                         const space::SegmentChoice& choice)
    : PlannedStep(analysis, space, choice,
                  {SegmentIndex(0), SegmentIndex(analysis.graphs.size())}) {
  FindRematerializations();
}

PlannedStep::PlannedStep(const segmenter::Analysis& analysis,
                         const space::ProfileSpace& space,
                         const space::SegmentChoice& choice,
                         const SegmentRange& range)
    : analysis_(analysis), space_(space), choice_(choice), range_(range) {
  index_.resize(analysis.graphs.size());
  for (SegmentIndex s = range.first; s < range.end; ++s) {
    const auto& values = analysis.graphs[s].values;
    for (size_t i = 0; i < values.size(); ++i) {
      index_[s][values[i].origin] = static_cast<int>(i);
    }
  }
  handed_.assign(analysis.graphs.size() + 1, 0);
  rematerializations_.resize(analysis.graphs.size());
  FindOwners();
}

void PlannedStep::FindRematerializations() {
  const size_t count = analysis_.graphs.size();
  for (SegmentIndex s(1); s < count; ++s) {
    handed_[s] = Agree(SegmentIndex(s - 1), s);
  }
  for (SegmentIndex s; s < count; ++s) {
    if (!Configuration(s).recompute) continue;
    rematerializations_[s] = space::FindRematerializationInRole(
        analysis_, analysis_.graphs[s], {handed_[s] != 0, handed_[s + 1] != 0});
  }
}

Sharding PlannedStep::GetSharding(SegmentIndex segment, ValueId id) const {
  const auto found = index_[segment].find(id);
  if (found == index_[segment].end()) return Whole();
  return Configuration(segment).annotation.GetSharding(
      found->second, analysis_.module.at(id).shape, mesh());
}

Sharding PlannedStep::Leaving(SegmentIndex segment, ValueId id) const {
  const auto found = index_[segment].find(id);
  if (found == index_[segment].end()) return Whole();
  return Configuration(segment).annotation.GetLeaving(
      found->second, analysis_.module.at(id).shape, mesh());
}

Sharding PlannedStep::Demanded(SegmentIndex segment, ValueId id,
                               size_t operand) const {
  const ValueId source = analysis_.module.at(id).operands[operand];
  const auto user = index_[segment].find(id);
  const auto value = index_[segment].find(source);
  if (user == index_[segment].end() || value == index_[segment].end()) {
    return Whole();
  }
  return Configuration(segment).annotation.GetDemanded(
      user->second, static_cast<int>(operand), value->second,
      analysis_.module.at(source).shape, mesh());
}

SegmentRange PlannedStep::FindGroup(SegmentIndex segment) const {
  size_t first = segment;
  size_t end = segment + 1;
  while (handed_[first]) --first;
  while (handed_[end]) ++end;
  return {SegmentIndex(first), SegmentIndex(end)};
}

bool PlannedStep::Redirects(SegmentIndex segment, ValueId id,
                            ValueId source) const {
  if (rematerializations_[segment].empty()) return false;
  const auto user = index_[segment].find(id);
  const auto value = index_[segment].find(source);
  return user != index_[segment].end() && value != index_[segment].end() &&
         rematerializations_[segment].Redirects(user->second, value->second);
}

Sharding PlannedStep::GetArgumentSharding(ValueId id) const {
  const auto owner = owner_of_.find(id);
  return owner == owner_of_.end() ? Whole() : GetSharding(owner->second, id);
}

Sharding PlannedStep::AtBoundary(ValueId id) const {
  if (analysis_.module.at(id).opcode == ir::Opcode::kParameter) {
    return GetArgumentSharding(id);
  }
  const std::optional<SegmentIndex> owner =
      analysis_.plan.owner[id].FindSegment();
  if (owner.has_value() && *owner >= range_.first && *owner < range_.end &&
      Has(*owner, id)) {
    return Leaving(*owner, id);
  }
  for (SegmentIndex s = range_.first; s < range_.end; ++s) {
    if (Has(s, id)) return GetSharding(s, id);
  }
  return Whole();
}

bool PlannedStep::Agree(SegmentIndex from, SegmentIndex to) const {
  if (analysis_.type_of_segment[from] != analysis_.type_of_segment[to] ||
      !Configuration(from).role.hands_on || !Configuration(to).role.handed) {
    return false;
  }
  const auto links = space::FindLinks(analysis_, to);
  return !links.empty() &&
         std::all_of(links.begin(), links.end(), [&](const auto& link) {
           return GetGraph(from).values[link.exit].origin ==
                  GetGraph(to).values[link.entry].origin;
         });
}

void PlannedStep::FindOwners() {
  for (SegmentIndex s = range_.first; s < range_.end; ++s) {
    const SegmentGraph& graph = analysis_.graphs[s];
    for (const auto& [argument, updated] : graph.state) {
      owner_of_[graph.values[argument].origin] = s;
    }
  }
  for (SegmentIndex s = range_.first; s < range_.end; ++s) {
    const SegmentGraph& graph = analysis_.graphs[s];
    for (int i = 0; i < graph.input_count; ++i) {
      owner_of_.emplace(graph.values[i].origin, s);
    }
  }
}

}  // namespace meshwright::exporting
