// The cover of the block sequence by segments.
//
// Concept: a segment spans at most one period of the sequence and at most
// kMaxConfigurations configurations; a longer period is cut where Eq. 7 counts
// the fewest programs.
// In -> Out: block hashes and strategy counts -> segments in sequence order.
// Source: papers/cfp.txt 4.1, Eq. 7.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_COVER_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_COVER_H_

#include <cstdint>
#include <vector>

#include "coordinator/segmenter/blocks/blocks.h"

namespace meshwright::segmenter {

inline constexpr int kMaxConfigurations = 128;

struct Segment {
  int first_block = 0;  // blocks [first, last) of the sequence
  int last_block = 0;   // equal to first: prologue or epilogue
};

// Block hashes of a segment: the same for equal segments.
std::vector<uint64_t> ListBlockHashes(const BlockGraph& blocks,
                                      const Segment& segment);

// The cover alone: block hashes and strategy counts -> segments. The search for
// repeats is bounded; where the bound ends it, `cut_short` is set, where there
// is one.
std::vector<Segment> CoverSequence(const std::vector<uint64_t>& hashes,
                                   const std::vector<int>& configurations,
                                   bool* cut_short = nullptr);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_COVER_H_
