// SegmentAnnotation: the shardings of one segment's values on all mesh axes.
//
// Concept: one AxisAnnotation (annotate.h) per mesh axis; together they give
// every value its sharding, and every operand the sharding it is read in.
// Splits that do not divide evenly are dropped (Legalize).
// Shapes: value indices of the segment's graph.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_SEGMENT_ANNOTATION_H_
#define MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_SEGMENT_ANNOTATION_H_

#include <vector>

#include "coordinator/space/annotation/annotate.h"
#include "coordinator/space/annotation/sharding.h"

namespace meshwright::space {

struct SegmentAnnotation {
  std::vector<AxisAnnotation> axes;  // by mesh axis

  // The value's sharding over all axes; whole where the shape is a tuple of
  // unlike ones.
  Sharding GetSharding(int value, const ir::Shape& shape,
                       const Mesh& mesh) const;
  // The sharding that `value` demands of operand number `operand`; the
  // operand's own where nothing is demanded.
  Sharding GetDemanded(int value, int operand, int operand_value,
                       const ir::Shape& shape, const Mesh& mesh) const;
  // The sharding in which an output leaves the segment.
  Sharding GetLeaving(int value, const ir::Shape& shape,
                      const Mesh& mesh) const;
};

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_SEGMENT_ANNOTATION_H_
