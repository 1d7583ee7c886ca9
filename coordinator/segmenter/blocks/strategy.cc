#include "coordinator/segmenter/blocks/strategy.h"

#include <cstddef>
#include <iterator>

namespace meshwright::segmenter {
namespace {

// In the order of the enums.
constexpr const char* kStrategyNames[] = {"rows", "columns", "contraction",
                                          "experts", "replicated"};
constexpr const char* kSwitchNames[] = {
    "plain", "fully-sharded", "optimizer-sharded", "sequence", "recompute"};

}  // namespace

const char* NameStrategy(StrategyKind kind) {
  return kStrategyNames[static_cast<size_t>(kind)];
}

const char* NameSwitch(SegmentSwitch it) {
  return kSwitchNames[static_cast<size_t>(it)];
}

std::optional<SegmentSwitch> ParseSwitch(std::string_view name) {
  for (size_t i = 0; i < std::size(kSwitchNames); ++i) {
    if (name == kSwitchNames[i]) return static_cast<SegmentSwitch>(i);
  }
  return std::nullopt;
}

}  // namespace meshwright::segmenter
