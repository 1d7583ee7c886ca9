// Rematerialization: which forward values a segment recomputes in its backward
// pass.
//
// Concept: activation checkpointing of one segment. The forward values that its
// backward pass reads are computed a second time from the values that enter the
// segment (activations, parameters). That stands behind a barrier that waits
// for a gradient, so only what enters is kept. The readers are the values that
// depend on a gradient from a later segment. They read parameters behind the
// barrier too, so a parameter that was gathered for the forward pass is
// gathered again. Cheap values (masks, iota) stay as they are. Operations that
// must not run twice (random state, custom calls, collectives) are kept. In ->
// Out: a segment graph -> Rematerialization, empty where nothing would be
// freed. That is so if no gradient comes in, a loop over layers is kept, or all
// that the backward pass reads enters the segment anyway. Shapes: by value of
// the graph, except `gradients`.
// Threads: pure functions.
// Source: papers/map_colossal_auto.txt 5.2, one stage of a chain.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_REMATERIALIZATION_REMATERIALIZE_H_
#define MESHWRIGHT_COORDINATOR_SPACE_REMATERIALIZATION_REMATERIALIZE_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"

namespace meshwright::space {

struct Rematerialization {
  std::vector<char> reader;      // depends on a gradient that comes in
  std::vector<char> recomputed;  // for the readers
  std::vector<char> entrance;    // what that is computed from
  std::vector<int> gradients;    // those that come in
  // Entrances that the rematerialization of the segment before computes
  // (groups.h).
  std::vector<char> handed;

  bool empty() const { return recomputed.empty(); }
  // Whether `user` reads its operand `value` as the rematerialization has it.
  bool Redirects(int user, int value) const {
    return !empty() && reader[user] && (recomputed[value] || entrance[value]);
  }
  // Whether `user` reads the recomputed `value`.
  bool ReadsRecomputed(int user, int value) const {
    return Redirects(user, value) && recomputed[value];
  }
  // Whether recomputing `user` reads `value` of the forward pass.
  bool FindRecomputationReads(int user, int value) const {
    return !empty() && recomputed[user] && !recomputed[value];
  }
};

// `exits`: recomputed too, where they can be.
Rematerialization FindRematerialization(const segmenter::Analysis& analysis,
                                        const segmenter::SegmentGraph& graph,
                                        const std::vector<int>& exits = {});

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_REMATERIALIZATION_REMATERIALIZE_H_
