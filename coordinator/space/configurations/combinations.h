// Combinations of the strategies of a segment's blocks.
//
// Concept: all of them, where they are at most kMaxCombinations. A cover never
// leaves more, but a loop is one segment whatever its body holds. In a larger
// one, equal blocks of the body decide alike. Where that is still too many, the
// blocks take data or tensor parallelism, or change once to the other and back
// along the body. One block may also differ from either in any way. On a mesh
// of several axes, all combinations with the batch on the outer axes are added
// where they are few enough.
// In -> Out: analysis, segment -> per combination the index of every block's
// strategy, in lexical order, distinct.
// Threads: pure function.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_COMBINATIONS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_COMBINATIONS_H_

#include <cstdint>
#include <vector>

#include "coordinator/segmenter/analysis.h"

namespace meshwright::space {

inline constexpr int64_t kMaxCombinations = 1024;

struct Combinations {
  std::vector<std::vector<int>> choices;
  int64_t all = 0;  // of all there are; as many as fit where they are more
};

Combinations FindCombinations(const segmenter::Analysis& analysis,
                              segmenter::SegmentIndex segment);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_COMBINATIONS_H_
