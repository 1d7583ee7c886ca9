#include "coordinator/space/rematerialization/groups.h"

#include <algorithm>
#include <map>
#include <set>

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

// Values that cross between the first two of the type that follow one another.
std::vector<GroupLink> Crossing(const Analysis& analysis, SegmentTypeId type) {
  std::vector<GroupLink> links;
  const auto& types = analysis.type_of_segment;
  for (size_t s = 0; s + 1 < types.size() && links.empty(); ++s) {
    if (types[s] != type || types[s + 1] != type) continue;
    const SegmentGraph& from = analysis.graphs[s];
    const SegmentGraph& to = analysis.graphs[s + 1];
    std::map<ir::ValueId, int> exits;  // activations, by what they are
    for (const segmenter::BoundaryPair& exit : from.exits) {
      exits.emplace(from.values[exit.activation].origin, exit.activation);
    }
    std::set<GroupLink> found;  // once, however many gradients come back
    for (const segmenter::BoundaryPair& entry : to.entries) {
      const auto exit = exits.find(to.values[entry.activation].origin);
      if (exit == exits.end()) continue;
      const GroupLink link = {exit->second, entry.activation};
      if (found.insert(link).second) links.push_back(link);
    }
  }
  return links;
}

std::vector<int> ListExits(const std::vector<GroupLink>& links) {
  std::vector<int> exits;
  for (const GroupLink& link : links) exits.push_back(link.exit);
  return exits;
}

}  // namespace

std::string NameRole(const GroupRole& role) {
  if (!role.handed) return "recompute, first of a group";
  return role.hands_on ? "recompute, inside a group"
                       : "recompute, last of a group";
}

int FindLongestRun(const Analysis& analysis, SegmentTypeId type) {
  int longest = 0;
  int run = 0;
  for (const SegmentTypeId it : analysis.type_of_segment) {
    run = it == type ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

std::vector<GroupLink> FindLinks(const Analysis& analysis,
                                 SegmentIndex segment) {
  const SegmentTypeId type = analysis.type_of_segment[segment];
  if (FindLongestRun(analysis, type) < kMinGroupedRun) return {};
  std::vector<GroupLink> links = Crossing(analysis, type);
  if (links.empty()) return {};
  const Rematerialization rematerialization = FindRematerialization(
      analysis, analysis.graphs[segment], ListExits(links));
  if (rematerialization.empty()) return {};
  std::erase_if(links, [&](const GroupLink& link) {
    return !rematerialization.recomputed[link.exit] ||
           !rematerialization.entrance[link.entry];
  });
  return links;
}

Rematerialization FindRematerializationInRole(const Analysis& analysis,
                                              const SegmentGraph& graph,
                                              const GroupRole& role) {
  if (!role.InGroup()) return FindRematerialization(analysis, graph);
  const std::vector<GroupLink> links = FindLinks(analysis, graph.segment);
  Rematerialization rematerialization = FindRematerialization(
      analysis, graph, role.hands_on ? ListExits(links) : std::vector<int>());
  if (rematerialization.empty() || !role.handed) return rematerialization;
  for (const GroupLink& link : links) {
    rematerialization.handed[link.entry] =
        rematerialization.entrance[link.entry];
  }
  return rematerialization;
}

}  // namespace meshwright::space
