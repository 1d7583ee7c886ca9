// The sample training steps of tests/testdata, for the tests of this folder and
// of those that build on it.
//
// Concept: a sample goes by the stem of its file, "gpt2_tiny"
// (tests/testdata/README.md). Tests run in the root of the tree. A sample that
// is not there or does not load ends the test with the reason.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_TESTING_TEST_STEPS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_TESTING_TEST_STEPS_H_

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

// Errors: those of Analyze for this request.
absl::StatusOr<Analysis> AnalyzeSample(std::string_view name,
                                       std::vector<int64_t> mesh,
                                       StrategyRequest request = {});

// HLO text of a step in plain gradient descent: features [8,16,32], each scaled
// by a number of its own. So many layers h + tanh(h a) b follow. The scaling is
// a depthwise convolution of one tap; no contraction, it stands in the
// prologue. `flattened`: a layer takes all rows as one dimension, as layers of
// experts do.
std::string ScaledFeaturesText(int layers, bool flattened = false);

// HLO text of a step in plain gradient descent: features [8,16,32] are
// projected to 96. A depthwise convolution of so many taps along the 16
// follows, and a projection back.
std::string DepthwiseText(int taps);

// HLO text of a step of bfloat16 in plain gradient descent: features [8,16,32],
// each scaled by a number of its own. So many layers h + tanh(n(h) a) b follow,
// and a head n(h) w. The norm n computes in float32.
std::string NarrowLayersText(int layers);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_TESTING_TEST_STEPS_H_
