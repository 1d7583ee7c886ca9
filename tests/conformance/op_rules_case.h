// One random instance of an HLO operation, for the tests of the rules in
// coordinator/ir/links/dim_links.h.
//
// Concept: a case is an operation with its attributes, the shapes of its
// operands and of its result, and how the operands' elements are drawn. Whole
// numbers stay small, so that sums of floats come out exact in any order.
#ifndef MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_CASE_H_
#define MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_CASE_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "coordinator/ir/module.h"
#include "worker/pjrt/buffer.h"

namespace meshwright::conformance {

using Array = worker::pjrt::HostArray;
using Dims = std::vector<int64_t>;

struct Values {
  enum Kind {
    kWhole,           // whole numbers from low to high
    kReal,            // real numbers from low to high
    kPositiveMatrix,  // batches of symmetric positive definite matrices
    kDominantMatrix,  // batches of matrices with a large diagonal
  };
  Kind kind = kWhole;
  double low = -8;
  double high = 8;
};

struct Operand {
  ir::Shape shape;  // an array, or a tuple of arrays
  Values values = {};
};

// A computation that the operation calls, by name: "add", "maximum" and
// "multiply" of two scalars, "square" of one, "max-and-sum" of two pairs.
// "less" and "at-least" compare the first two of its parameters.
struct Callee {
  std::string kind;
  std::vector<hlo::PrimitiveType> parameters;
};

struct OpCase {
  hlo::HloInstructionProto op;  // opcode and attributes
  std::vector<Operand> operands;
  ir::Shape result;
  std::vector<Callee> callees;
  int replicas = 1;  // devices that run it together
  // The operation that a program runs in its place; empty: the operation
  // itself.
  std::string equivalent;

  std::string Describe() const;
};

// Where generators draw from. Sizes of dimensions come from `sizes`.
class Draw {
 public:
  Draw(uint32_t seed, Dims sizes) : random_(seed), sizes_(std::move(sizes)) {}

  int Below(int bound) { return static_cast<int>(random_() % bound); }
  int Between(int low, int high) { return low + Below(high - low + 1); }
  bool Coin() { return Below(2) == 0; }
  int64_t Size() { return sizes_[Below(static_cast<int>(sizes_.size()))]; }
  // At most a few hundred elements together.
  Dims Sizes(int rank);
  // Some size that is no smaller than 2.
  int64_t LargeSize();
  bool small_sizes() const { return sizes_.size() > 3; }

  std::vector<int64_t> Permutation(int count);
  // `count` of 0 .. bound - 1, ascending.
  std::vector<int64_t> Choose(int count, int bound);

  // An array of the shape, which must be no tuple.
  Array Fill(const ir::Shape& shape, const Values& values);

 private:
  double Number(const Values& values);

  std::mt19937 random_;
  Dims sizes_;
};

ir::Shape ArrayShape(hlo::PrimitiveType type, Dims dims);
ir::Shape TupleShape(std::vector<ir::Shape> elements);
// The array itself or the elements of the tuple.
std::vector<ir::Shape> Leaves(const ir::Shape& shape);
int64_t Product(const Dims& dims);

// Part `part` of `parts` of dimension `dim`.
Array Cut(const Array& whole, int dim, int64_t parts, int64_t part);
// `base` with part `part` of `parts` of dimension `dim` taken from `other`.
Array Graft(const Array& base, const Array& other, int dim, int64_t parts,
            int64_t part);

// The case as the only instruction of a module over parameters: its value is
// `operands.size()`.
ir::Module BuildModule(const OpCase& one);

}  // namespace meshwright::conformance

#endif  // MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_CASE_H_
