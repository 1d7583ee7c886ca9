#include "coordinator/problem/group_states.h"

#include <algorithm>
#include <map>
#include <utility>

namespace meshwright::formulation {
namespace {

using space::Configuration;

constexpr int kMaxMembers = 8;

// One sharding: what the members of a group have in common.
std::pair<int, segmenter::SegmentSwitch> GetShardingKey(
    const Configuration& it) {
  return {it.splits, it.segment_switch};
}

}  // namespace

int CountMaxMembers(int copies) {
  int members = 1;
  while (members < kMaxMembers && members * members < 2 * copies) ++members;
  return std::min(members, copies);
}

std::vector<GroupState> ListGroupStates(
    const std::vector<Configuration>& configurations,
    const std::vector<char>& known, int max_members) {
  const int count = static_cast<int>(configurations.size());
  std::map<decltype(GetShardingKey(configurations[0])), bool> complete;
  for (int c = 0; c < count; ++c) {
    const Configuration& it = configurations[c];
    if (!it.role.InGroup()) continue;
    complete.try_emplace(GetShardingKey(it), true).first->second &= known[c];
  }
  std::vector<GroupState> states;
  for (int c = 0; c < count; ++c) {
    if (!known[c]) continue;
    const Configuration& it = configurations[c];
    if (!it.role.InGroup()) {
      states.push_back({c, 0});
      continue;
    }
    if (max_members < 2 || !complete.at(GetShardingKey(it))) continue;
    const int first = it.role.handed ? 1 : 0;
    const int last = it.role.handed ? max_members - it.role.hands_on : 1;
    for (int position = first; position < last; ++position) {
      states.push_back({c, position});
    }
  }
  return states;
}

int64_t CountGroupTransientBytes(const Configuration& configuration,
                                 int position) {
  return configuration.rematerialized_bytes * position;
}

bool MayFollow(const std::vector<Configuration>& configurations,
               const GroupState& a, const GroupState& b) {
  const Configuration& before = configurations[a.configuration];
  const Configuration& after = configurations[b.configuration];
  if (before.role.hands_on != after.role.handed) return false;
  return !after.role.handed ||
         (b.position == a.position + 1 &&
          GetShardingKey(before) == GetShardingKey(after));
}

}  // namespace meshwright::formulation
