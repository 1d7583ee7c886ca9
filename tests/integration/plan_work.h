// The work of whole steps, beside the work that their plans count.
//
// Concept: a plan's time is the sum of its segments' and of the resharding
// between them. Work of the whole step that is in none of those programs,
// sending between devices above all, is missing from the plan's time. Work of
// the programs that the step does not do is too much of it. Comparing amounts
// finds either without a clock. Collectives merge across layers, so their
// counts differ.
// Units: of one device; bytes of results sent, operations, transcendental
// functions, bytes that operations read and write.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_PLAN_WORK_H_
#define MESHWRIGHT_TESTS_INTEGRATION_PLAN_WORK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/segmenter/strategy_request.h"
#include "coordinator/space/annotation/sharding.h"

namespace meshwright {

struct Amount {
  double step = 0;   // by the annotated step
  double parts = 0;  // by the programs that its time is the sum of
};

struct PlanWork {
  std::string plan;                    // names of baselines, or "random"
  std::map<std::string, Amount> sent;  // by kind of collective
  // As the compiler's cost analysis counts the optimized programs.
  Amount operations;
  Amount functions;
  Amount accessed;
  std::string failure;  // of a program that did not compile

  Amount Sent() const;
};

// Of the baselines and `random_plans` more; nothing runs. Errors: those of the
// analysis, kUnimplemented for steps with loops (what a body does counts once
// in a program, and trips are unknown).
absl::StatusOr<std::vector<PlanWork>> ComparePlanWork(
    const std::string& module, const space::Mesh& mesh,
    const segmenter::StrategyRequest& request, int random_plans, uint64_t seed);

}  // namespace meshwright

#endif  // MESHWRIGHT_TESTS_INTEGRATION_PLAN_WORK_H_
