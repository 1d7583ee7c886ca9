// PlanDifference: two plans side by side, from their files alone.
//
// Concept: figures can be set against each other whatever the plans are of.
// Segments and arguments only if both are of the same model, in the same mesh
// and cut into the same segments; else `reason` says why not. A change is what
// some segments of a type take in one plan and in the other, with what it makes
// of their time, of the resharding at their borders and of their memory. These
// add up to the difference of the steps, unless a plan has stages: a segment's
// figures are then of one micro-batch, and its mesh and stage are part of what
// it takes.
// In -> Out: two plans -> their difference.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_DIFFERENCE_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_DIFFERENCE_H_

#include <string>
#include <vector>

#include "proto/v1/plan.pb.h"

namespace meshwright::explain {

// b less a.
struct SegmentChange {
  int type = 0;
  std::string a;  // describe
  std::string b;  // the same: only their borders changed
  std::vector<int> segments;
  double seconds = 0;  // of these, `communication_seconds`
  double communication_seconds = 0;
  double resharding_seconds = 0;
  int64_t memory_bytes = 0;
};

struct ArgumentChange {
  std::string role;
  std::string a;  // sharding
  std::string b;
  std::vector<std::string> names;
};

struct PlanDifference {
  std::string reason;     // why only figures are compared; empty: all is
  bool has_costs = true;  // false: a plan of a version that has none by segment
  double noise_seconds = 0;
  bool within_noise = false;
  std::vector<SegmentChange> segments;  // the dearest first
  std::vector<ArgumentChange> arguments;
  std::vector<ArgumentChange> outputs;
};

PlanDifference ComparePlans(const v1::Plan& first, const v1::Plan& second);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_DIFFERENCE_H_
