// LineProof: what proves the best plan of a line whose transient is settled.
//
// Concept: the loops that two plans go round, one too large and one that fits,
// and the detours from them (detours.h). Where there is much to look at, walks
// are cut and met by tails (tails.h), and bounds sharpened (leftover.h).
// In → Out: a line without what cannot be best, two plans, a price → plans, up
// to growing times.
// Threads and ownership: stays where it was made, as parts borrow from others.
#ifndef MESHWRIGHT_PLANNER_SEARCH_LINE_PROOF_H_
#define MESHWRIGHT_PLANNER_SEARCH_LINE_PROOF_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "planner/search/blocks.h"
#include "planner/search/detours.h"
#include "planner/search/effort.h"
#include "planner/search/loops.h"
#include "planner/search/until.h"

namespace meshwright::search {

class LineProof {
 public:
  // Every block has a vertex. `fast` and `small` are configurations by slot.
  // Null if stopped.
  static std::unique_ptr<LineProof> Make(Line line,
                                         const std::vector<int>& fast,
                                         const std::vector<int>& small,
                                         int64_t price, int64_t room,
                                         const Until& until);

  // Looks at plans of at most `most`; false if that took too much.
  bool Look(Cost most, int64_t most_candidates, const Effort& effort,
            const Until& until);

  const Detours& detours() const { return *detours_; }

 private:
  explicit LineProof(Line line);
  void SetLoops(const std::vector<int>& fast, const std::vector<int>& small);
  void Help(Cost most, const Effort& effort, const Until& until);

  const Line line_;
  std::vector<std::vector<Loop>> loops_;  // by block
  std::unique_ptr<Detours> detours_;
  int level_ = 0;         // of help, from 1 on; 0: none
  int most_level_ = 0;    // that can be had
  int helped_level_ = 0;  // of what was made, and how far it goes
  Cost helped_most_ = 0;
  bool has_tails_ = true;  // or may have
  bool has_cells_ = true;  // the same of sharper bounds
  int64_t cells_ = 0;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_LINE_PROOF_H_
