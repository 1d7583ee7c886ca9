// Modules that nobody would train, of any size: each has more of one thing
// (operands, outputs, roots side by side, layout operations in a row, loop
// carries, calls in calls) than any real step, so that whatever takes more than
// linear time or memory in it shows.
#ifndef MESHWRIGHT_TESTS_STRESS_MODULES_H_
#define MESHWRIGHT_TESTS_STRESS_MODULES_H_

#include <vector>

#include "proto/hlo/hlo.pb.h"

namespace meshwright::stress {

struct StressModule {
  const char* name;
  // About `size` instructions; fewer where one alone is as large as many.
  hlo::HloModuleProto (*make)(int size);
};

const std::vector<StressModule>& StressModules();

}  // namespace meshwright::stress

#endif  // MESHWRIGHT_TESTS_STRESS_MODULES_H_
