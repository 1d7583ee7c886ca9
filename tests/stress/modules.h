// Modules that nobody would train, of any size. Each has more of one thing than
// any real step. That may be operands, outputs, roots side by side, layout
// operations in a row, loop carries, calls in calls. Whatever takes more than
// linear time or memory in it then shows.
#ifndef MESHWRIGHT_TESTS_STRESS_MODULES_H_
#define MESHWRIGHT_TESTS_STRESS_MODULES_H_

#include <vector>

#include "tests/stress/stress_module.h"

namespace meshwright::stress {

const std::vector<StressModule>& StressModules();

}  // namespace meshwright::stress

#endif  // MESHWRIGHT_TESTS_STRESS_MODULES_H_
