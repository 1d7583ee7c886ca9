// Strategies of a ParallelBlock on one mesh axis.
//
// Concept: a strategy says along which dimension the root contractions of a
// block are split; everything else in the block follows.
//   rows         a free dimension of the activation, the outermost one that
//                divides: the batch
//   columns      a free dimension of the weight
//   contraction  a contracted dimension: partial sums, then a reduction
//   experts      a batch dimension shared with a parameter
//   replicated   where nothing divides
// Shapes: a RootSplit names one dimension per operand and output; -1 where that
// tensor is whole on every device.
// Source: papers/cfp.txt 3.3; design, section 4 ("Strategies").
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_STRATEGY_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_STRATEGY_H_

#include <string>
#include <vector>

namespace meshwright::segmenter {

enum class StrategyKind {
  kRows,
  kColumns,
  kContraction,
  kExperts,
  kReplicated
};

const char* StrategyName(StrategyKind kind);

struct RootSplit {
  int lhs = -1;
  int rhs = -1;
  int out = -1;
  bool operator==(const RootSplit&) const = default;
};

struct Strategy {
  StrategyKind kind = StrategyKind::kReplicated;
  std::vector<RootSplit> splits;  // by root of the block
};

// A strategy the block could not keep, and why.
struct LostStrategy {
  StrategyKind kind = StrategyKind::kReplicated;
  std::string reason;
};

struct StrategySet {
  std::vector<Strategy> strategies;  // never empty
  std::vector<LostStrategy> lost;
};

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_STRATEGY_H_
