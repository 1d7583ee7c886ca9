// PlannedStep: the sharding that a plan gives every value, segment by segment.
//
// In -> Out: analysis, profile space, one configuration index per segment ->
// the shardings of values by segment, the owner of every argument, and what
// segments recompute. Of a part of the step only the segments of the part have
// a configuration; the others hold nothing. Nothing is recomputed, because the
// part's boundaries say what is kept.
// Threads: const after construction; the references outlive it.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_PLANNED_STEP_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_PLANNED_STEP_H_

#include <unordered_map>
#include <vector>

#include "base/sharding.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/rematerialization/groups.h"
#include "coordinator/space/segment_choice.h"

namespace meshwright::exporting {

struct SegmentRange {
  segmenter::SegmentIndex first;
  segmenter::SegmentIndex end;
};

class PlannedStep {
 public:
  PlannedStep(const segmenter::Analysis& analysis,
              const space::ProfileSpace& space,
              const space::SegmentChoice& choice);
  // The segments of the range alone.
  PlannedStep(const segmenter::Analysis& analysis,
              const space::ProfileSpace& space,
              const space::SegmentChoice& choice, const SegmentRange& range);

  const space::Mesh& mesh() const { return space_.context.mesh; }
  bool keeps_barriers() const { return space_.context.keeps_barriers; }

  // Whether the segment's program has the value, as its own or as an input.
  bool Has(segmenter::SegmentIndex segment, ir::ValueId id) const {
    return index_[segment].contains(id);
  }
  // The value's sharding within the segment; whole where the segment does not
  // have it.
  space::Sharding GetSharding(segmenter::SegmentIndex segment,
                              ir::ValueId id) const;
  // The sharding in which the segment hands the value on; whole where it does
  // not have it.
  space::Sharding Leaving(segmenter::SegmentIndex segment,
                          ir::ValueId id) const;
  // The sharding that operation `id` wants for its operand; whole where the
  // segment lacks either.
  space::Sharding Demanded(segmenter::SegmentIndex segment, ir::ValueId id,
                           size_t operand) const;

  // Empty where the segment recomputes nothing.
  const space::Rematerialization& GetRematerialization(
      segmenter::SegmentIndex segment) const {
    return rematerializations_[segment];
  }
  const segmenter::SegmentGraph& GetGraph(
      segmenter::SegmentIndex segment) const {
    return analysis_.graphs[segment];
  }
  // The segments that recompute together with this one.
  SegmentRange FindGroup(segmenter::SegmentIndex segment) const;
  // Whether the segment's `id` reads its operand as the rematerialization has
  // it.
  bool Redirects(segmenter::SegmentIndex segment, ir::ValueId id,
                 ir::ValueId source) const;

  // The sharding an argument has for the whole step: that of the segment that
  // updates it, else of the first that reads it.
  space::Sharding GetArgumentSharding(ir::ValueId id) const;
  // The sharding of a value where a part begins or ends. It is the one that its
  // segment leaves. If that segment is not in the part, it is the one that the
  // first reader wants.
  space::Sharding AtBoundary(ir::ValueId id) const;

  // The same copy on every device.
  space::Sharding Whole() const {
    return space::Sharding(mesh().size(), base::kCopies);
  }

 private:
  const space::Configuration& Configuration(
      segmenter::SegmentIndex segment) const {
    return space_.types[analysis_.type_of_segment[segment]]
        .configurations[choice_[segment]];
  }
  // Whether what enters the second comes from the rematerialization of the
  // first.
  bool Agree(segmenter::SegmentIndex from, segmenter::SegmentIndex to) const;
  void FindRematerializations();
  void FindOwners();

  const segmenter::Analysis& analysis_;
  const space::ProfileSpace& space_;
  const space::SegmentChoice& choice_;
  const SegmentRange range_;
  std::vector<std::unordered_map<ir::ValueId, int>> index_;
  std::vector<char> handed_;  // by segment, and one behind them
  std::vector<space::Rematerialization> rematerializations_;  // by segment
  std::unordered_map<ir::ValueId, segmenter::SegmentIndex> owner_of_;
};

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_PLANNED_STEP_H_
