// Random cases of every operation that has a rule.
#ifndef MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_GENERATORS_H_
#define MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_GENERATORS_H_

#include <functional>
#include <string>
#include <vector>

#include "tests/conformance/op_rules_case.h"

namespace meshwright::conformance {

struct OpGenerator {
  std::string opcode;
  std::function<OpCase(Draw&)> make;
  int cases = 6;       // enough to meet every kind of dimension
  bool on_cpu = true;  // false: the CPU plugin has no code for it
};

std::vector<OpGenerator> ElementwiseGenerators();
std::vector<OpGenerator> MovementGenerators();
std::vector<OpGenerator> WindowGenerators();
std::vector<OpGenerator> IndexedGenerators();
std::vector<OpGenerator> ContractionGenerators();
std::vector<OpGenerator> MatrixGenerators();
std::vector<OpGenerator> CollectiveGenerators();

// All of the above.
std::vector<OpGenerator> OpGenerators();

}  // namespace meshwright::conformance

#endif  // MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_GENERATORS_H_
