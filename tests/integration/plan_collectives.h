// What whole steps send, beside what their plans count.
//
// Concept: a plan's time is the sum of its segments' and of the resharding
// between them. Whatever crosses devices in the whole step and in none of those
// programs is priced at nothing; comparing bytes finds it without a clock.
// Collectives merge across layers, so that their counts differ.
// Units: bytes of results on one device.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_PLAN_COLLECTIVES_H_
#define MESHWRIGHT_TESTS_INTEGRATION_PLAN_COLLECTIVES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/segmenter/strategy_request.h"
#include "coordinator/space/sharding.h"

namespace meshwright {

struct SentBytes {
  double step = 0;   // by the annotated step
  double parts = 0;  // by the programs that its time is the sum of
};

struct PlanCollectives {
  std::string plan;  // names of baselines, or "random"
  std::map<std::string, SentBytes> by_kind;
  std::string failure;  // of a program that did not compile

  SentBytes Total() const;
};

// Of the baselines and `random_plans` more; nothing runs. Errors: those of the
// analysis, kUnimplemented for steps with loops (what a body sends counts once
// in a program, and trips are not told).
absl::StatusOr<std::vector<PlanCollectives>> CompareCollectives(
    const std::string& module, const space::Mesh& mesh,
    const segmenter::StrategyRequest& request, int random_plans, uint64_t seed);

}  // namespace meshwright

#endif  // MESHWRIGHT_TESTS_INTEGRATION_PLAN_COLLECTIVES_H_
