// Respecifier: other splits for some values of an annotation, on one mesh axis.
//
// Concept: the caller names the values whose split changes; Finish makes the
// rest hold. An operation that keeps its split gets its operands as they were.
// One whose split changed gets them as the new split asks. A sum over a
// dimension that is split now adds its parts up. State leaves the segment split
// as it came.
// In -> Out: an annotation and changes -> the annotation of that axis.
// Threads: one; the references outlive it.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_RESPECIFY_H_
#define MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_RESPECIFY_H_

#include "coordinator/segmenter/segment_view.h"
#include "coordinator/space/annotation/segment_annotation.h"

namespace meshwright::space {

class Respecifier : segmenter::SegmentView {
 public:
  Respecifier(const segmenter::Analysis& analysis,
              const segmenter::SegmentGraph& graph,
              const SegmentAnnotation& annotation, int axis, const Mesh& mesh);

  int Before(int value) const { return before_.split[value]; }
  int Now(int value) const { return now_[value]; }
  // The split in which `user` was given its operand.
  int Asked(int user, int operand) const;
  bool Changed(int value) const { return now_[value] != before_.split[value]; }
  // Whole on this axis, and nobody has changed it yet.
  bool IsOpen(int value) const { return now_[value] < 0 && !Changed(value); }

  // Whether the dimension divides, beside what other axes make of it.
  bool Fits(int value, int dim) const;
  // Whether another axis splits this dimension of the value.
  bool IsSplitElsewhere(int value, int dim) const;
  // Sets the split on this axis. Operands and users are not touched until
  // Finish.
  void Change(int value, int dim) { now_[value] = dim; }

  // The split of the user that a split of its operand leads to, and the other
  // way round; kWhole where the operation passes none.
  int PushThrough(int user, int operand, int dim) const;
  int PullThrough(int user, int operand, int dim) const;

  // The changed annotation, with the demands that keep every user correct.
  AxisAnnotation Finish() const;

 private:
  void Repair(int user, AxisAnnotation& out) const;

  const SegmentAnnotation& annotation_;
  const int axis_;
  const Mesh& mesh_;
  const AxisAnnotation& before_;
  std::vector<int> now_;  // by value
};

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_RESPECIFY_H_
