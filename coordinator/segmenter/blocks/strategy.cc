#include "coordinator/segmenter/blocks/strategy.h"

namespace meshwright::segmenter {

const char* StrategyName(StrategyKind kind) {
  switch (kind) {
    case StrategyKind::kRows:
      return "rows";
    case StrategyKind::kColumns:
      return "columns";
    case StrategyKind::kContraction:
      return "contraction";
    case StrategyKind::kExperts:
      return "experts";
    case StrategyKind::kReplicated:
      return "replicated";
  }
  return "replicated";
}

const char* SwitchName(SegmentSwitch it) {
  switch (it) {
    case SegmentSwitch::kNone:
      return "plain";
    case SegmentSwitch::kFullySharded:
      return "fully-sharded";
    case SegmentSwitch::kOptimizerSharded:
      return "optimizer-sharded";
    case SegmentSwitch::kSequence:
      return "sequence";
    case SegmentSwitch::kRecompute:
      return "recompute";
  }
  return "plain";
}

std::optional<SegmentSwitch> SwitchNamed(std::string_view name) {
  for (const SegmentSwitch it :
       {SegmentSwitch::kNone, SegmentSwitch::kFullySharded,
        SegmentSwitch::kOptimizerSharded, SegmentSwitch::kSequence,
        SegmentSwitch::kRecompute}) {
    if (name == SwitchName(it)) return it;
  }
  return std::nullopt;
}

}  // namespace meshwright::segmenter
