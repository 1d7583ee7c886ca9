// StateSearch: the output that is an argument's new state, as far as the graph
// tells.
//
// Concept: an output is new state if it has the argument's shape and is reached
// from it elementwise, be it in another floating type. An argument takes the
// output that is the fewest operations away: the average of old weights is
// further from these than the new ones. No two take the same one. The search is
// bounded: so many looks at users for all arguments together.
// In -> Out: a module -> per argument an output number.
// Threads and ownership: not shared; the module outlives it.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_STATE_SEARCH_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_STATE_SEARCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/ir/module.h"

namespace meshwright::segmenter {

class StateSearch {
 public:
  // `taken`, by output number: outputs that no argument gets, and that no
  // search goes beyond; empty: none.
  explicit StateSearch(const ir::Module& module,
                       const std::vector<char>& taken = {});

  // Of an argument, by parameter number; asked once for each.
  std::optional<int> Claim(int number);

  bool is_cut_short() const { return looks_left_ <= 0; }

 private:
  const ir::Module& module_;
  // By ValueId: its first output not claimed; by output number: the next one.
  std::vector<std::optional<int>> output_at_;
  std::vector<std::optional<int>> next_output_;
  std::vector<char> is_end_;                 // by ValueId: a taken output
  std::vector<std::optional<int>> seen_by_;  // by ValueId: the last argument
  int64_t looks_left_;
};

// By parameter number: floating tensors that are not donated.
std::vector<int> ListKeptTensors(const ir::Module& module);

// Pairs donated arguments with their own new states. JAX pairs one with the
// first output of its shape. Where a step returns its optimizer's state before
// the parameters, or does not donate these, that is another one's new state.
// Any pairing of equal shapes is as good for memory. Nothing changes but in two
// cases, where the donor has a new state of its own:
// * its output is the new state of an argument that is not donated, or
// * it does not reach its output elementwise, or only through other pairs'.
void PairDonations(ir::Module& module);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_STATE_SEARCH_H_
