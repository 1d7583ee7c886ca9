// PlanDifference: two plans side by side, from their files alone.
//
// Concept: the figures of any two plans can be compared. Segments and arguments
// are compared only if both plans are of the same model and mesh and have the
// same segments; `reason` says why not. A change joins the segments of a type
// that have one configuration in the first plan and another in the second, with
// its effect on their time, on the resharding at their boundaries and on their
// memory. The changes add up to the difference of the steps, unless a plan has
// stages: figures of segments are then of one micro-batch, and the mesh and the
// stage are part of the configuration.
// In -> Out: two plans -> second minus first.
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
  std::string b;  // equal to a: only the boundaries changed
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
  std::vector<SegmentChange> segments;  // the most expensive first
  std::vector<ArgumentChange> arguments;
  std::vector<ArgumentChange> outputs;
};

PlanDifference ComparePlans(const v1::Plan& first, const v1::Plan& second);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_DIFFERENCE_H_
