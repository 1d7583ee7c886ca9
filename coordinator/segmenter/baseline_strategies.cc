#include "coordinator/segmenter/baseline_strategies.h"

#include <initializer_list>

namespace meshwright::segmenter {
namespace {

// The place of the first kind a block has; its first strategy if none.
int Pick(const Analysis& analysis, int block,
         std::initializer_list<StrategyKind> kinds) {
  const auto& strategies = analysis.strategies[block].strategies;
  for (StrategyKind kind : kinds) {
    for (size_t i = 0; i < strategies.size(); ++i) {
      if (strategies[i].kind == kind && TakesBatchOutside(strategies[i])) {
        return static_cast<int>(i);
      }
    }
  }
  return 0;
}

// A root reads its activation straight from inside the block before.
bool FollowsInside(const Analysis& analysis, int block) {
  const auto& it = analysis.blocks.blocks[block];
  for (ir::ValueId operand : analysis.module.at(it.roots[0]).operands) {
    if (analysis.blocks.inside[operand] &&
        analysis.blocks.owner_block[operand] == block - 1) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool TakesBatchOutside(const Strategy& strategy) {
  bool searched = true;
  for (auto it = strategy.axes.rbegin(); it != strategy.axes.rend(); ++it) {
    if (it->kind == StrategyKind::kReplicated) continue;
    if (!searched && it->kind != StrategyKind::kRows) return false;
    searched = false;
  }
  return true;
}

std::vector<int> ChooseDataParallel(const Analysis& analysis) {
  std::vector<int> choice;
  for (size_t b = 0; b < analysis.blocks.blocks.size(); ++b) {
    choice.push_back(
        Pick(analysis, static_cast<int>(b), {StrategyKind::kRows}));
  }
  return choice;
}

std::vector<int> ChooseTensorParallel(const Analysis& analysis) {
  const int blocks = static_cast<int>(analysis.blocks.blocks.size());
  std::vector<int> choice(blocks);
  for (int b = 0; b < blocks; ++b) {
    const bool after_columns =
        b > 0 && FollowsInside(analysis, b) &&
        analysis.strategies[b - 1].strategies[choice[b - 1]].kind ==
            StrategyKind::kColumns;
    choice[b] = after_columns
                    ? Pick(analysis, b,
                           {StrategyKind::kContraction, StrategyKind::kColumns})
                    : Pick(analysis, b,
                           {StrategyKind::kExperts, StrategyKind::kColumns});
  }
  return choice;
}

}  // namespace meshwright::segmenter
