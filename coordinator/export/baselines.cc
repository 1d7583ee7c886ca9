#include "coordinator/export/baselines.h"

#include <algorithm>

#include "coordinator/ir/dim_links.h"

namespace meshwright::exporting {
namespace {

using segmenter::Analysis;
using segmenter::StrategyKind;

// The place of the first kind a block has; its first strategy if none.
int Pick(const Analysis& analysis, int block,
         std::initializer_list<StrategyKind> kinds) {
  const auto& strategies = analysis.strategies[block].strategies;
  for (StrategyKind kind : kinds) {
    for (size_t i = 0; i < strategies.size(); ++i) {
      if (strategies[i].kind == kind) return static_cast<int>(i);
    }
  }
  return 0;
}

// A root reads its activation straight from inside the block before.
bool FollowsInside(const Analysis& analysis, int block) {
  const auto& it = analysis.blocks.blocks[block];
  for (ir::ValueId operand : analysis.module.at(it.roots[0]).operands) {
    if (analysis.blocks.inside[operand] &&
        analysis.blocks.home[operand] == block - 1) {
      return true;
    }
  }
  return false;
}

SegmentChoice FromBlocks(const Analysis& analysis,
                         const space::ProfileSpace& space,
                         const std::vector<int>& by_block) {
  SegmentChoice choice(analysis.plan.segments.size(), 0);
  for (size_t s = 0; s < choice.size(); ++s) {
    const segmenter::Segment& segment = analysis.plan.segments[s];
    if (segment.first_block == segment.last_block) continue;
    const std::vector<int> wanted(by_block.begin() + segment.first_block,
                                  by_block.begin() + segment.last_block);
    const auto& configurations =
        space.types[analysis.type_of_segment[s]].configurations;
    for (size_t c = 0; c < configurations.size(); ++c) {
      if (configurations[c].strategies == wanted) {
        choice[s] = static_cast<int>(c);
      }
    }
  }
  SettleEnds(analysis, space, choice);
  return choice;
}

// How many border tensors and shared parameters differ between two segments.
int Mismatches(const Analysis& analysis, const space::ProfileSpace& space,
               int a, int config_a, int b, int config_b) {
  const auto& left = analysis.graphs[a];
  const auto& right = analysis.graphs[b];
  const auto& x =
      space.types[analysis.type_of_segment[a]].configurations[config_a];
  const auto& y =
      space.types[analysis.type_of_segment[b]].configurations[config_b];
  int mismatches = 0;
  const auto compare = [&](int i, int j) {
    if (left.values[i].origin != right.values[j].origin) return;
    const ir::Shape& shape = analysis.module.at(left.values[i].origin).shape;
    mismatches += x.annotation.Of(i, shape, space.context.mesh) !=
                  y.annotation.Of(j, shape, space.context.mesh);
  };
  for (const auto& [here, there] : {std::pair{&left.exits, &right.entries},
                                    std::pair{&left.entries, &right.exits}}) {
    for (const auto& p : *here) {
      for (const auto& q : *there) compare(p.activation, q.activation);
    }
  }
  for (int i = 0; i < left.input_count; ++i) {
    const ir::Instruction& it = analysis.module.at(left.values[i].origin);
    if (it.opcode != ir::Opcode::kParameter || it.shape.is_scalar()) continue;
    for (int j = 0; j < right.input_count; ++j) compare(i, j);
  }
  return mismatches;
}

}  // namespace

void SettleEnds(const Analysis& analysis, const space::ProfileSpace& space,
                SegmentChoice& choice) {
  const int count = static_cast<int>(choice.size());
  for (int s = 0; s < count; ++s) {
    const segmenter::Segment& segment = analysis.plan.segments[s];
    if (segment.first_block < segment.last_block) continue;
    const auto& configurations =
        space.types[analysis.type_of_segment[s]].configurations;
    int best = INT32_MAX;
    for (size_t c = 0; c < configurations.size(); ++c) {
      int mismatches = 0;
      for (int other = 0; other < count; ++other) {
        const segmenter::Segment& it = analysis.plan.segments[other];
        if (it.first_block == it.last_block) continue;
        mismatches += Mismatches(analysis, space, s, static_cast<int>(c), other,
                                 choice[other]);
      }
      if (mismatches < best) {
        best = mismatches;
        choice[s] = static_cast<int>(c);
      }
    }
  }
}

std::vector<NamedChoice> Baselines(const Analysis& analysis,
                                   const space::ProfileSpace& space) {
  const int blocks = static_cast<int>(analysis.blocks.blocks.size());
  std::vector<int> dp(blocks), tp(blocks);
  for (int b = 0; b < blocks; ++b) {
    dp[b] = Pick(analysis, b, {StrategyKind::kRows});
    const bool after_columns =
        b > 0 && FollowsInside(analysis, b) &&
        analysis.strategies[b - 1].strategies[tp[b - 1]].kind ==
            StrategyKind::kColumns;
    tp[b] = after_columns
                ? Pick(analysis, b,
                       {StrategyKind::kContraction, StrategyKind::kColumns})
                : Pick(analysis, b,
                       {StrategyKind::kExperts, StrategyKind::kColumns});
  }
  return {{"dp", FromBlocks(analysis, space, dp)},
          {"tp", FromBlocks(analysis, space, tp)}};
}

}  // namespace meshwright::exporting
