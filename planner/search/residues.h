// Residues: what rounds of a long block's loops do not change.
//
// Concept: steps and bytes of a walk are counted as one number, of which a
// round of either loop takes a multiple of the modulus. So whatever the counts
// of rounds are, that number says how many bytes are left over when the room is
// full and no step is left, but for a multiple of the modulus.
// In → Out: a block, one loop of it or two → unit, bytes of a step, modulus.
// Units: bytes, cut in as many parts as both loops' lengths are multiples of.
// Source: as leftover.h.
#ifndef MESHWRIGHT_PLANNER_SEARCH_RESIDUES_H_
#define MESHWRIGHT_PLANNER_SEARCH_RESIDUES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/search/blocks.h"
#include "planner/search/loops.h"

namespace meshwright::search {

struct Residues {
  int64_t unit = 1;    // parts of a byte
  int64_t a_step = 0;  // parts that rounds take for a step, but for a multiple
  int64_t modulus = 0;

  // Empty where two loops take the same bytes a step, or where numbers within
  // the room would not fit 64 bits.
  static std::optional<Residues> Make(const Block& block,
                                      const std::vector<Loop>& loops,
                                      int64_t room);

  int64_t Reduced(__int128 amount) const {
    const auto rest = static_cast<int64_t>(amount % modulus);
    return rest < 0 ? rest + modulus : rest;
  }

  // Of bytes within the room, and steps within the block.
  int64_t Of(int64_t bytes, int64_t steps) const {
    const int64_t rest = (unit * bytes - steps * a_step) % modulus;
    return rest < 0 ? rest + modulus : rest;
  }
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_RESIDUES_H_
