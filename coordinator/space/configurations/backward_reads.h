// BackwardReads: how a segment's backward pass reads its forward values.
//
//   y = tanh(x)            multiply(g, 1 - y)  reads y; 1 - y is computed again
//   z = y + bias           dot(z, g)           reads z, as a contraction must
//
// Concept: a compiler does not keep what is cheap to compute again. It repeats
// an elementwise operation of one large operand within each operation that it
// fuses with, so that the operand is kept and not the result. Readers that
// nothing is fused with, such as contractions, need the result itself. What
// both passes compute alike it computes once, and keeps.
// In -> Out: a segment's graph -> a mark per forward value, false for others.
// Shapes: one entry per value of the graph.
// Source: XLA's instruction fusion: what is not expensive and effectively at
// most unary may be fused into some readers only.
// Threads and ownership: const; analysis and graph outlive it.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_BACKWARD_READS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_BACKWARD_READS_H_

#include <vector>

#include "coordinator/segmenter/segment_view.h"

namespace meshwright::space {

class BackwardReads {
 public:
  explicit BackwardReads(const segmenter::SegmentView& view);

  // Whether the backward pass needs the forward value to lie in memory because
  // of this user: one of its own, or a forward one that hands the value on.
  bool KeepsFor(int value, int user) const {
    return Keeps(value, FindRead(user));
  }
  // Whether it does as it would compute the same itself.
  bool KeepsForTwin(int value) const {
    return Keeps(value, twin_reads_[value]);
  }

 private:
  struct Read {
    bool whole = false;  // as it lies in memory
    bool fused = false;  // element by element, by who can compute it, too
    Read& operator|=(const Read& other) {
      whole |= other.whole;
      fused |= other.fused;
      return *this;
    }
  };
  void FindTwins();
  Read FindRead(int user) const;
  bool CanRepeat(int value) const;
  bool Keeps(int value, const Read& read) const {
    return read.whole || (read.fused && !repeats_[twin_[value]]);
  }

  const segmenter::SegmentView view_;
  std::vector<int> twin_;         // the first of equal values
  std::vector<int> forward_;      // of those the first forward one, or -1
  std::vector<char> repeats_;     // by first
  std::vector<Read> reads_;       // by first
  std::vector<Read> twin_reads_;  // by first forward one: what reads the others
};

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_BACKWARD_READS_H_
