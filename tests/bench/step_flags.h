// The flags of the benches of whole steps.
#ifndef MESHWRIGHT_TESTS_BENCH_STEP_FLAGS_H_
#define MESHWRIGHT_TESTS_BENCH_STEP_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/integration/plan_outputs.h"

namespace CLI {
class App;
}  // namespace CLI

namespace meshwright {

struct StepFlags {
  space::Mesh mesh = {1, 2};
  bool open = false;  // every switch and outer axes
  int random_plans = 4;
  uint64_t seed = 1;
  double tolerance = 0;  // that a plan may be off
  std::vector<std::string> files;

  segmenter::StrategyRequest Strategies() const {
    return open ? EverythingOpen() : segmenter::StrategyRequest();
  }
};

void AddStepFlags(CLI::App& app, StepFlags& flags);

}  // namespace meshwright

#endif  // MESHWRIGHT_TESTS_BENCH_STEP_FLAGS_H_
