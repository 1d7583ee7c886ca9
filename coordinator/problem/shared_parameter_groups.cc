#include "coordinator/problem/shared_parameter_groups.h"

#include <map>
#include <set>
#include <utility>

namespace meshwright::formulation {
namespace {

using segmenter::SegmentTypeId;

// A value of the graph of a type.
struct Slot {
  SegmentTypeId type;
  int value = 0;
  auto operator<=>(const Slot&) const = default;
};

// Slots that links join are one shared thing.
class Roles {
 public:
  void Join(const Slot& a, const Slot& b) {
    const Slot first = std::min(Root(a), Root(b));
    const Slot second = std::max(Root(a), Root(b));
    parent_[second] = first;
  }

  Slot Root(Slot slot) {
    for (auto at = parent_.try_emplace(slot, slot).first; at->second != slot;
         at = parent_.find(slot)) {
      slot = at->second;
    }
    return slot;
  }

  // By role: its slots.
  std::map<Slot, std::vector<Slot>> All() {
    std::map<Slot, std::vector<Slot>> all;
    for (const auto& [slot, parent] : parent_) all[Root(slot)].push_back(slot);
    return all;
  }

 private:
  std::map<Slot, Slot> parent_;
};

// The shared values that one type reads, by role.
struct Reader {
  std::vector<int> values;
  std::vector<Slot> roles;
};

}  // namespace

SharedParameterGroups FindSharedParameterGroups(
    const segmenter::Analysis& analysis, const space::ProfileSpace& space,
    const std::vector<std::vector<int>>& usable) {
  Roles roles;
  Roles joined;  // types: slots of value 0
  const auto& type_of = analysis.type_of_segment;
  for (const space::ParameterLink& link : space.links) {
    const SegmentTypeId from = type_of[link.from_segment];
    const SegmentTypeId to = type_of[link.to_segment];
    joined.Join({from, 0}, {to, 0});
    for (const auto& [from_value, to_value] : link.values) {
      roles.Join({from, from_value}, {to, to_value});
    }
  }
  std::map<SegmentTypeId, Reader> readers;
  for (const auto& [role, slots] : roles.All()) {
    for (const auto& [type, value] : slots) {
      readers[type].values.push_back(value);
      readers[type].roles.push_back(role);
    }
  }
  SharedParameterGroups out;
  out.group_of_type.resize(usable.size());
  out.decision.resize(usable.size());
  for (const auto& [root, members] : joined.All()) {
    SharedParameterGroup group;
    // Of a type, or, where the group is complete, of all.
    std::map<
        std::pair<std::optional<SegmentTypeId>, std::vector<space::Sharding>>,
        int>
        numbers;
    const auto& wanted = readers.at(members[0].type).roles;
    const std::set<Slot> once(wanted.begin(), wanted.end());
    group.is_complete = once.size() == wanted.size();
    for (const auto& [type, unused] : members) {
      group.types.push_back(type);
      group.is_complete &= readers.at(type).roles == wanted;
      out.group_of_type[type] = static_cast<int>(out.groups.size());
    }
    for (const SegmentTypeId type : group.types) {
      for (const int c : usable[type]) {
        auto splits = GetSplits(analysis, analysis.types[type],
                                space.types[type].configurations[c],
                                readers.at(type).values, space.context.mesh);
        const std::pair key(
            group.is_complete ? std::nullopt : std::optional(type),
            std::move(splits));
        out.decision[type].push_back(
            numbers.try_emplace(key, static_cast<int>(numbers.size()))
                .first->second);
      }
    }
    out.groups.push_back(std::move(group));
  }
  return out;
}

}  // namespace meshwright::formulation
