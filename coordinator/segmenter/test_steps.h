// The sample training steps of tests/testdata, for the tests of this folder and
// of those that build on it.
//
// Concept: a sample goes by the stem of its file, "gpt2_tiny"
// (tests/testdata/README.md). Tests run in the root of the tree. A sample that
// is not there or does not load ends the test with the reason.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_TEST_STEPS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_TEST_STEPS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/segmenter/analysis.h"

namespace meshwright::segmenter {

// The serialized module.
std::string ReadSample(std::string_view name);

ir::Module LoadSample(std::string_view name);

// Errors are those of the request.
absl::StatusOr<Analysis> AnalyzeSample(std::string_view name,
                                       std::vector<int64_t> mesh,
                                       StrategyRequest request = {});

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_TEST_STEPS_H_
