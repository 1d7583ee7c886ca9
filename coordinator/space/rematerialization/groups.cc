#include "coordinator/space/rematerialization/groups.h"

#include <algorithm>
#include <set>

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;

// What crosses between the first two of the type that follow one another.
std::vector<GroupLink> Crossing(const Analysis& analysis, int type) {
  std::vector<GroupLink> links;
  const auto& types = analysis.type_of_segment;
  for (size_t s = 0; s + 1 < types.size() && links.empty(); ++s) {
    if (types[s] != type || types[s + 1] != type) continue;
    const SegmentGraph& from = analysis.graphs[s];
    const SegmentGraph& to = analysis.graphs[s + 1];
    std::set<GroupLink> found;  // once, however many gradients come back
    for (const segmenter::BorderPair& entry : to.entries) {
      for (const segmenter::BorderPair& exit : from.exits) {
        const GroupLink link = {exit.activation, entry.activation};
        if (from.values[link.exit].origin == to.values[link.entry].origin &&
            found.insert(link).second) {
          links.push_back(link);
        }
      }
    }
  }
  return links;
}

std::vector<int> ExitsOf(const std::vector<GroupLink>& links) {
  std::vector<int> exits;
  for (const GroupLink& link : links) exits.push_back(link.exit);
  return exits;
}

}  // namespace

std::string RoleName(const GroupRole& role) {
  if (!role.handed) return "recompute, first of a group";
  return role.hands_on ? "recompute, inside a group"
                       : "recompute, last of a group";
}

int LongestRun(const Analysis& analysis, int type) {
  int longest = 0;
  int run = 0;
  for (int it : analysis.type_of_segment) {
    run = it == type ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

std::vector<GroupLink> FindLinks(const Analysis& analysis, int segment) {
  const int type = analysis.type_of_segment[segment];
  if (LongestRun(analysis, type) < kLeastGroupedRun) return {};
  std::vector<GroupLink> links = Crossing(analysis, type);
  if (links.empty()) return {};
  const Replay replay =
      FindReplay(analysis, analysis.graphs[segment], ExitsOf(links));
  if (replay.empty()) return {};
  std::erase_if(links, [&](const GroupLink& link) {
    return !replay.again[link.exit] || !replay.entrance[link.entry];
  });
  return links;
}

Replay ReplayIn(const Analysis& analysis, const SegmentGraph& graph,
                const GroupRole& role) {
  if (!role.InGroup()) return FindReplay(analysis, graph);
  const std::vector<GroupLink> links = FindLinks(analysis, graph.segment);
  Replay replay = FindReplay(
      analysis, graph, role.hands_on ? ExitsOf(links) : std::vector<int>());
  if (replay.empty() || !role.handed) return replay;
  for (const GroupLink& link : links) {
    replay.handed[link.entry] = replay.entrance[link.entry];
  }
  return replay;
}

}  // namespace meshwright::space
