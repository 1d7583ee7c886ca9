// Groups: equal segments in a row that recompute together.
//
// Concept: the rotor sequences of a run of equal segments. A group keeps only
// what enters its first segment. When the gradient of the last one arrives, all
// are recomputed, front to back, each from what the one before it hands on.
// Then their backward passes run, back to front.
//
//   kept ─▶ first ─▶ inner ─▶ inner ─▶ last     again, then backward
//           role: hands on   both     is handed
//
// A segment that hands on recomputes what leaves it, which one that recomputes
// alone does not need. Segments differ in nothing else, so a group may have any
// size; a memory limit counts how many come before each (rematerialized_bytes
// of configuration.h). In -> Out: a type of segments -> what one of its run
// hands to the next. Threads: pure functions. Source:
// papers/map_colossal_auto.txt 5.2 (CF, Fn .. Fn, Fe .. Fe over a group),
// restricted to groups that do not nest.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_REMATERIALIZATION_GROUPS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_REMATERIALIZATION_GROUPS_H_

#include <compare>
#include <string>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/rematerialization/rematerialize.h"

namespace meshwright::space {

// The shortest run of equal segments that has groups.
inline constexpr int kMinGroupedRun = 3;

struct GroupRole {
  bool handed =
      false;  // what enters comes from the rematerialization before it
  bool hands_on = false;  // what leaves is recomputed
  bool InGroup() const { return handed || hands_on; }
  bool operator==(const GroupRole&) const = default;
};

// "recompute, first of a group", ...
std::string NameRole(const GroupRole& role);

// Value indices of equal graphs: the exit of one segment is the entry of the
// next.
struct GroupLink {
  int exit = 0;
  int entry = 0;

  friend auto operator<=>(const GroupLink&, const GroupLink&) = default;
};

// The values that segments like this one hand on. Empty where there is no
// group: no run of three, or the segment before cannot recompute the values
// that enter.
std::vector<GroupLink> FindLinks(const segmenter::Analysis& analysis,
                                 segmenter::SegmentIndex segment);

// The rematerialization of a segment in its role.
Rematerialization FindRematerializationInRole(
    const segmenter::Analysis& analysis, const segmenter::SegmentGraph& graph,
    const GroupRole& role);

// The longest run of consecutive segments of a type.
int FindLongestRun(const segmenter::Analysis& analysis,
                   segmenter::SegmentTypeId type);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_REMATERIALIZATION_GROUPS_H_
