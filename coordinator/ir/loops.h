// Loops: how often one runs, and which of its values belong together.
//
// Concept: a loop that counts an integer up or down to a limit has a known
// number of trips; any other has not. The elements that a loop carries stay
// alive as a whole. An element that enters a trip needs the value it enters the
// next one with. In -> Out: the condition's message and the carried values ->
// trips in Loop. Source: the while operation of OpenXLA.
#ifndef MESHWRIGHT_COORDINATOR_IR_LOOPS_H_
#define MESHWRIGHT_COORDINATOR_IR_LOOPS_H_

#include <vector>

#include "coordinator/ir/module.h"

namespace meshwright::ir {

// Fills counter, start, step, trips and tested of `loop`, whose carries and
// results are all there yet. A limit that an outer loop carries is found where
// that one's results are there too.
void CountTrips(const Module& module, const hlo::HloComputationProto& condition,
                Loop& loop);

// The values that a walk in dependency order visits beside operands. Each
// loop's share is visited once, so a walk costs no more than the edges it
// follows.
class LoopWalk {
 public:
  explicit LoopWalk(const Module& module);

  // Begins another walk.
  void Restart() { ++walk_; }

  // The values that must come before `id`: its operands. Before the first carry
  // of a loop stands everything that enters it, before its first result
  // everything that leaves it. A loop is thus whole before it is used.
  std::vector<ValueId> ListPredecessors(ValueId id);

  // The values that must be alive when `id` is, beside its operands. They are a
  // carry with its result, and in a loop whatever decides that it goes on.
  std::vector<ValueId> ListCompanions(ValueId id);

 private:
  // The last walk that handed out what enters, leaves and keeps up a loop.
  struct Seen {
    int entered = 0;
    int left = 0;
    int kept = 0;
  };

  const Module& module_;
  std::vector<Seen> seen_;
  int walk_ = 1;
};

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LOOPS_H_
