// The strategies that a person opens, pins and forbids.
//
// Concept: the search space is CFP's unless a request opens more; rules then
// narrow what blocks, segments and arguments may take. Rules never move the
// boundaries of segments, so that a plan made under rules is a plan of the open
// space too.
// In -> Out: StrategyRequest and the strategies of the blocks -> the strategies
// that are left, each that went with its reason, and Allowed.
// Shapes: a sharding of an argument names, per mesh axis, the dimension it
// splits, or base::kCopies.
// Errors: kInvalidArgument for a rule that names nothing of the step, or that
// leaves a block without a strategy.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_STRATEGY_REQUEST_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_STRATEGY_REQUEST_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/segmenter/blocks/blocks.h"
#include "coordinator/segmenter/blocks/strategy.h"

namespace meshwright::segmenter {

// `blocks`: "all", the name of a root, or numbers like "0,4-7".
// `strategies`: names of strategies or switches, one of which a pinned block
// takes.
struct BlockRule {
  std::string blocks;
  std::vector<std::string> strategies;
  bool forbid = false;
};

// `sharding` is written as in a plan: "[1,-]".
struct ArgumentRule {
  int argument = 0;
  std::string sharding;
  bool forbid = false;
};

struct StrategyRequest {
  bool open_outer_axes = false;
  std::vector<SegmentSwitch> switches;  // opened beside the plain ones
  std::vector<BlockRule> blocks;
  std::vector<ArgumentRule> arguments;
  // Configurations that recompute, as a plan describes them, which runs of
  // equal segments may take in groups; what is no configuration changes
  // nothing.
  std::vector<std::string> grouped;
};

using ArgumentSharding = std::pair<int, std::vector<int>>;

// The strategies that the rules leave.
struct Allowed {
  // Switches by block; a segment takes what all of its blocks allow.
  std::vector<std::vector<SegmentSwitch>> switches;
  std::vector<SegmentSwitch> end_switches;  // of prologue and epilogue
  std::map<int, std::vector<int>> pinned_arguments;
  std::vector<ArgumentSharding> forbidden_arguments;
};

absl::StatusOr<Allowed> ApplyRequest(const StrategyRequest& request,
                                     const ir::Module& module,
                                     const BlockGraph& blocks,
                                     const std::vector<int64_t>& mesh,
                                     std::vector<StrategySet>& strategies);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_STRATEGY_REQUEST_H_
