// MakeBaselines: named plans to compare with, as people write them by hand.
//
//   dp    every block by rows: data parallelism
//   tp    columns, then contraction where the activation comes split from the
//         block before (Megatron); experts where there are any
//   fsdp  dp with every segment fully sharded, where that is open
//   alpa-like  what an op-level solver chooses by communication alone
//   map   and by roofline and links (op_level.h)
// On axes that the request opens beside the searched one, all take the batch.
// Threads: pure functions.
// Source: papers/cfp.txt 5 (PyTorch, Megatron); docs/formats/validate.md.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_BASELINES_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_BASELINES_H_

#include <string>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/segment_choice.h"

namespace meshwright::exporting {

struct NamedChoice {
  std::string name;
  space::SegmentChoice choice;
};

// The strategy per block; blocks that lost a strategy take their first one.
std::vector<NamedChoice> MakeBaselines(const segmenter::Analysis& analysis,
                                       const space::ProfileSpace& space);

// `alpa-like` and `map`; left out where the solver finds no plan. Unlike those
// above they depend on the depth of the model.
std::vector<NamedChoice> MakeOpLevelBaselines(
    const segmenter::Analysis& analysis, const space::ProfileSpace& space);

// The segments of blocks that take these strategies, one index per block,
// made consistent; the wanted switch where a segment has it.
space::SegmentChoice FromBlocks(
    const segmenter::Analysis& analysis, const space::ProfileSpace& space,
    const std::vector<int>& by_block,
    segmenter::SegmentSwitch wanted = segmenter::SegmentSwitch::kNone);

// Makes a choice one that a plan may have. Segments of blocks that share
// parameters split them alike. Prologue and epilogue take what fits their
// neighbours best: equal boundaries, equal shared parameters, the wanted
// switch.
void MakeConsistent(
    const segmenter::Analysis& analysis, const space::ProfileSpace& space,
    space::SegmentChoice& choice,
    segmenter::SegmentSwitch wanted = segmenter::SegmentSwitch::kNone);

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_BASELINES_H_
