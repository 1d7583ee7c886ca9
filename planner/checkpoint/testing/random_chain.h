// RandomChain: chains for tests, made from a seed.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_TESTING_RANDOM_CHAIN_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_TESTING_RANDOM_CHAIN_H_

#include <cstdint>

#include "planner/checkpoint/chain.h"

namespace meshwright::checkpoint {

struct ChainKind {
  int stages = 5;
  int64_t largest = 20;  // of a size and of a time
  bool transients = true;
  bool communication = true;
  bool zeros = false;         // a third of the figures are 0
  bool proportional = false;  // times follow the sizes saved
  int distinct = 0;           // stages repeat after this many; 0: never
};

Chain RandomChain(uint64_t seed, const ChainKind& kind);

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_TESTING_RANDOM_CHAIN_H_
