// MeasurementOrder: which programs to measure first.
//
// Concept: an op-level plan, made by roofline and assumed links, is a good
// guess. Its programs go before the others that are measured with them, so that
// an interrupted plan leaves a store from which `--no-wait` makes one. Which
// programs are measured does not depend on it.
// Errors: none; where the op-level solver finds no plan, the order stays.
// Source: papers/map_colossal_auto.txt 5.1; docs/decisions/op-level-plans.md.
#ifndef MESHWRIGHT_COORDINATOR_SELECTION_MEASUREMENT_ORDER_H_
#define MESHWRIGHT_COORDINATOR_SELECTION_MEASUREMENT_ORDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::selection {

struct MeasurementOrder {
  std::unordered_set<std::string> keys;  // of the programs of the guess

  // The same programs, those of the guess first; else in their order.
  std::vector<const v1::Program*> Sort(
      std::vector<const v1::Program*> programs) const;
};

MeasurementOrder FindMeasurementOrder(
    const segmenter::Analysis& analysis, const space::ProfileSpace& space,
    std::optional<int64_t> memory_limit_bytes);

}  // namespace meshwright::selection

#endif  // MESHWRIGHT_COORDINATOR_SELECTION_MEASUREMENT_ORDER_H_
