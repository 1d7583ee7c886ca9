// One family of stress modules, of any size.
#ifndef MESHWRIGHT_TESTS_STRESS_STRESS_MODULE_H_
#define MESHWRIGHT_TESTS_STRESS_STRESS_MODULE_H_

#include "proto/hlo/hlo.pb.h"

namespace meshwright::stress {

struct StressModule {
  const char* name;
  // About `size` instructions; fewer where one alone is as large as many.
  hlo::HloModuleProto (*make)(int size);
};

}  // namespace meshwright::stress

#endif  // MESHWRIGHT_TESTS_STRESS_STRESS_MODULE_H_
