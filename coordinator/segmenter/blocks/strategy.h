// Strategies of a ParallelBlock, and switches of a whole segment.
//
// Concept: a strategy says, for every mesh axis, along which dimension the root
// contractions of a block are split. Everything else in the block follows.
//   rows         a free dimension of the activation, the outermost one that
//                divides: the batch
//   columns      a free dimension of the weight
//   contraction  a contracted dimension: partial sums, then a reduction
//   experts      a batch dimension shared with a parameter
//   replicated   where nothing divides
// The innermost axis of more than one device is searched; the outer ones take
// the batch, unless the request opens them. Then a strategy is a combination
// over all axes. Two axes may split one dimension if it divides by the product.
// A switch is chosen per segment, on top of its blocks' strategies:
//   fully-sharded      parameters, gradients and optimizer state are split over
//                      the axes that split the batch, gathered for use
//   optimizer-sharded  optimizer state and update only (ZeRO-1)
//   sequence           what tensor parallelism leaves whole between its blocks
//                      is split along the next row dimension
//   recompute          goes with any of the others: what the backward pass
//                      reads of the forward pass is recomputed
// Shapes: a RootSplit names one dimension per operand and output; none where
// that tensor is whole on every device.
// Source: papers/cfp.txt 3.3; docs/decisions/segmentation.md.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_STRATEGY_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_STRATEGY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meshwright::segmenter {

enum class StrategyKind {
  kRows,
  kColumns,
  kContraction,
  kExperts,
  kReplicated
};

const char* NameStrategy(StrategyKind kind);

enum class SegmentSwitch {
  kNone,
  kFullySharded,
  kOptimizerSharded,
  kSequence,
  kRecompute,
};

// "plain", "fully-sharded", "optimizer-sharded", "sequence", "recompute".
const char* NameSwitch(SegmentSwitch it);
std::optional<SegmentSwitch> ParseSwitch(std::string_view name);

struct RootSplit {
  std::optional<int> lhs;
  std::optional<int> rhs;
  std::optional<int> out;
  bool operator==(const RootSplit&) const = default;
};

struct AxisStrategy {
  StrategyKind kind = StrategyKind::kReplicated;
  std::vector<RootSplit> splits;  // by root of the block
};

struct Strategy {
  StrategyKind kind = StrategyKind::kReplicated;  // on the searched axis
  std::string name;  // "columns"; "rows/columns" where outer axes are open
  std::vector<AxisStrategy> axes;  // by mesh axis
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

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_STRATEGY_H_
