// Run: a stretch of equal copies, solved without visiting each.
//
// Concept: values are costs-to-go, computed from the last copy back. Three
// ways, tried in this order, all exact:
//   1. copy by copy, keeping the vectors;
//   2. as soon as two vectors, `period` copies apart, differ by a constant, all
//      earlier copies repeat those between them. ((min,+) maps commute with
//      adding a constant.)
//   3. if that has not happened after some k log n copies, Powers.
// Choices are read off from the first copy on; of equal costs the smallest
// configuration is taken.
#ifndef MESHWRIGHT_PLANNER_SEARCH_GRAPH_RUN_H_
#define MESHWRIGHT_PLANNER_SEARCH_GRAPH_RUN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "planner/search/graph/costs.h"
#include "planner/search/graph/powers.h"

namespace meshwright::search {

// Powers by (unary kind, matrix, direction), shared by runs of one Costs.
class PowersCache {
 public:
  // Made at the first call; valid as long as the cache.
  Powers& FindPowers(int unary, const std::vector<Cost>& costs, int matrix,
                     const MatrixView& link);

 private:
  std::map<std::tuple<int, int, bool>, std::unique_ptr<Powers>> known_;
};

class Run {
 public:
  // `unary` is the cost of each copy, `inner` joins copies, `rest` is the cost
  // of all that follows, by the configuration of the last copy.
  // `powers` makes the Powers of this run when they are needed.
  template <typename MakePowers>
  Run(const std::vector<Cost>& unary, const MatrixView& inner, int64_t copies,
      const std::vector<Cost>& rest, const MakePowers& powers)
      : inner_(inner), copies_(copies) {
    SolveTail(unary, rest);
    const int64_t left = copies_ - static_cast<int64_t>(tail_.size());
    if (left > 0 && period_ == 0) Fold(powers(), left);
  }

  // The cost-to-go at the first copy.
  const std::vector<Cost>& value() const { return value_; }

  // Appends the configurations of the copies after the first, given its own.
  void Choose(int first, std::vector<int>& values) const;

 private:
  struct Block {
    int level;
    std::vector<Cost> next;  // value after the block
  };

  void SolveTail(const std::vector<Cost>& unary, const std::vector<Cost>& rest);
  void Fold(Powers& powers, int64_t left);
  size_t Shape(int64_t from_end) const;
  void ChooseSteady(int& at, std::vector<int>& values) const;
  int Best(int from, const std::vector<Cost>& next) const;

  MatrixView inner_;
  int64_t copies_;
  std::vector<std::vector<Cost>> tail_;  // value at the last copy, one before
  size_t period_ = 0;  // not 0: earlier values repeat the end of tail_
  Powers* powers_ = nullptr;
  std::vector<Block> blocks_;  // from the first copy on
  std::vector<Cost> value_;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_GRAPH_RUN_H_
