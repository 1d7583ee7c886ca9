// The part of `plan` that needs the step alone, from the bytes of its module
// on: the passes over graphs that stress modules are for.
#ifndef MESHWRIGHT_TESTS_STRESS_WALK_ALL_H_
#define MESHWRIGHT_TESTS_STRESS_WALK_ALL_H_

#include <string_view>

#include "absl/status/status.h"

namespace meshwright::stress {

// Module, analysis, profile space, groups that recompute together, operators,
// the step with its shardings, cuts, the programs of stages and the modules of
// a launch. The sentence that the step is refused with, if it is.
absl::Status WalkAll(std::string_view bytes);

}  // namespace meshwright::stress

#endif  // MESHWRIGHT_TESTS_STRESS_WALK_ALL_H_
