// MultipleChoice: choose exactly one option of every group, at the least cost.
//
// Concept: an option costs something for itself, and pairs of groups cost
// something for the two options taken. A budget bounds the sum of the weights
// of all options taken plus the largest of their transients.
//
//   group 0      group 1      group 2
//   option 0 ──┐ option 0 ──┐ option 0
//   option 1 ──┴ option 1 ──┴ option 1     pairs (0, 1) and (1, 2)
//
// Units: the caller's; all figures are integers of at least 0, and no plan's
// cost or weight may pass kMaxSum, the largest integer up to which a double
// holds every one.
// Threads and ownership: a value; nothing here points anywhere.
#ifndef MESHWRIGHT_PLANNER_ILP_MULTIPLE_CHOICE_H_
#define MESHWRIGHT_PLANNER_ILP_MULTIPLE_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"

namespace meshwright::ilp {

inline constexpr int64_t kMaxSum = int64_t{1} << 53;

// By group and option.
using Figures = std::vector<std::vector<int64_t>>;

struct Pair {
  int a = 0;  // groups
  int b = 0;
  // Row-major, rows are options of `a`. An absent entry forbids the two.
  std::vector<std::optional<int64_t>> costs;
};

struct Budget {
  int64_t limit = 0;
  Figures weights;
  Figures transients;  // empty: none
};

struct MultipleChoice {
  Figures costs;
  std::vector<Pair> pairs;
  std::vector<Budget> budgets;

  int groups() const { return static_cast<int>(costs.size()); }
  int options(int group) const { return static_cast<int>(costs[group].size()); }
  const std::optional<int64_t>& at(const Pair& pair, int row,
                                   int column) const {
    return pair.costs[static_cast<size_t>(row) * options(pair.b) + column];
  }
};

// kInvalidArgument, naming the field, for tables of the wrong size, negative
// figures and sums that pass kMaxSum.
absl::Status Validate(const MultipleChoice& problem);

// kInvalidArgument unless it names an option of every group.
absl::Status ValidateChoice(const MultipleChoice& problem,
                            const std::vector<int>& choice);

// The cost of a choice, one option per group; empty if two of them are
// forbidden together or a budget is passed. Exact.
std::optional<int64_t> ComputeCost(const MultipleChoice& problem,
                                   const std::vector<int>& choice);

}  // namespace meshwright::ilp

#endif  // MESHWRIGHT_PLANNER_ILP_MULTIPLE_CHOICE_H_
