// Linearization: a MultipleChoice as rows and columns of a mixed-integer linear
// program.
//
// Concept: a binary column x(g, o) per option; the x of a group add up to 1. A
// pair gets a column y(i, j) for every entry allowed, and the rows of the local
// polytope: the y of a table row add up to the x of that row's option, those of
// a table column to the x of that column's option.
// The largest transient is a sum of steps: a binary column u(k) says that it is
// at least the k-th of all transients, which an option of such a transient
// asks for; a budget counts what each step adds.
// Bytes have more digits than a solver's tolerance leaves. A budget is
// therefore split into digits of 12 bits, one row each, lowest first,
// with an integer column that carries what a row has too much to the next:
//   sum of lowest digits - 2^12 carry <= lowest digit of the limit
//   sum of next digits + carry - ...  <= next digit of the limit
// which holds in integers if and only if the budget does. One more row says the
// same in a unit so large that 20 bits suffice, rounded in favour of the
// choice: without carries, it is what a solver's cuts are made of. The
// objective is divided by a power of two, so that no coefficient passes 2^17: a
// tolerance then means less than a unit of cost below some 2^45. In → Out: a
// undominated problem whose groups all have options → a program.
#ifndef MESHWRIGHT_PLANNER_ILP_LINEARIZATION_H_
#define MESHWRIGHT_PLANNER_ILP_LINEARIZATION_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "planner/ilp/multiple_choice.h"

namespace meshwright::ilp {

struct Linearization {
  struct Column {
    double cost = 0;
    double lower = 0;
    double upper = 1;
    bool is_integer = false;
  };
  struct Entry {
    int column = 0;
    double value = 0;
  };
  struct Row {
    double lower = 0;
    double upper = 0;
    std::vector<Entry> entries;
  };

  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<int> first_of_group;  // column of a group's first option
  // Of each pair: the column of each entry; none where it is forbidden.
  std::vector<std::vector<std::optional<int>>> columns_of_pair;
  // Columns that follow from the options: each is 1 if one of these is taken.
  struct Step {
    int column = 0;
    std::vector<int> options;  // their columns
  };
  std::vector<Step> steps;
  struct Carry {
    int column = 0;
    int row = 0;
  };
  std::vector<Carry> carries;  // lowest digits first
  int cost_shift = 0;  // the objective counts 2^cost_shift units of cost
};

// After the deadline it gives a program that nobody should use.
Linearization Linearize(const MultipleChoice& problem,
                        const base::Deadline& deadline = {});

// The values of all columns for a choice that ComputeCost allows.
std::vector<double> ToValues(const MultipleChoice& problem,
                             const Linearization& linear,
                             const std::vector<int>& choice);

// The option of largest value in every group.
std::vector<int> ToChoice(const MultipleChoice& problem,
                          const Linearization& linear,
                          const std::vector<double>& values);

}  // namespace meshwright::ilp

#endif  // MESHWRIGHT_PLANNER_ILP_LINEARIZATION_H_
