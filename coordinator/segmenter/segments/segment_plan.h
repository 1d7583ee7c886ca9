// SegmentPlan: the segments of a step, and the segment of every operation.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENT_PLAN_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENT_PLAN_H_

#include <optional>
#include <string>
#include <vector>

#include "coordinator/segmenter/blocks/blocks.h"
#include "coordinator/segmenter/direction/gradients.h"
#include "coordinator/segmenter/segments/cover.h"
#include "coordinator/segmenter/segments/segment_id.h"

namespace meshwright::segmenter {

// A step before it is cut into segments. Refers to values of its creator.
struct StepView {
  const ir::Module& module;
  const ForwardBackward& passes;
  const BlockGraph& blocks;
  const GradientMatches& gradients;
  const std::vector<ir::ValueId>& classes;  // value_numbering.h
};

// The segment that an operation belongs to, if it belongs to one.
class Owner {
 public:
  constexpr Owner() = default;           // none: parameters and the root
  constexpr Owner(SegmentIndex segment)  // NOLINT: a segment is an owner
      : kind_(Kind::kSegment), segment_(segment) {}
  // Every reader recomputes the value.
  static constexpr Owner Everywhere() {
    Owner owner;
    owner.kind_ = Kind::kEverywhere;
    return owner;
  }

  constexpr bool IsSegment() const { return kind_ == Kind::kSegment; }
  constexpr bool IsEverywhere() const { return kind_ == Kind::kEverywhere; }
  // IsSegment() holds.
  constexpr SegmentIndex segment() const { return segment_; }
  constexpr std::optional<SegmentIndex> FindSegment() const {
    return IsSegment() ? std::optional(segment_) : std::nullopt;
  }

  friend bool operator==(const Owner&, const Owner&) = default;

 private:
  enum class Kind { kNone, kEverywhere, kSegment };

  Kind kind_ = Kind::kNone;
  SegmentIndex segment_;
};

struct SegmentPlan {
  std::vector<Segment> segments;  // in sequence order
  // By LoopId: all of the loop is in one segment, whose programs run it as a
  // loop. The others are looked through: their segments hold one trip.
  std::vector<char> kept_loops;
  std::vector<Owner> owner;  // by ValueId
  // Sentences: searches that their bounds ended, and what may be lost.
  std::vector<std::string> cut_short;
};

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_SEGMENT_PLAN_H_
