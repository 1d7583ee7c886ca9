// Cases placed in programs, for the tests of the rules.
#ifndef MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_PLACED_H_
#define MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_PLACED_H_

#include <string>
#include <vector>

#include "tests/conformance/op_rules_pieces.h"
#include "tests/conformance/op_rules_program.h"

namespace meshwright::conformance {

// Sizes that 2 and 3 divide or not.
inline const Dims kAnySizes = {1, 2, 3, 4, 6, 6, 12};
// Sizes at which what holds for 2, 3 and 6 parts holds for any.
inline const Dims kSixes = {1, 6, 12};

// The plugin with two devices; one client per process.
const worker::pjrt::Client& CpuClient();

uint32_t HashSeed(const std::string& opcode, int number);

// Equal, or as near as another order of float operations may leave them.
bool Near(const Array& a, const Array& b);

// One array per replica of the case.
Replicated DrawReplicas(Draw& draw, const OpCase& one, const ir::Shape& shape,
                        const Values& values);

// A case with its inputs and outputs in a program.
struct Placed {
  OpCase one;
  Links links;
  std::vector<std::vector<int>> inputs;  // by operand and leaf
  int first_output = 0;
};

Placed Place(Program& program, Draw& draw, OpCase one);

}  // namespace meshwright::conformance

#endif  // MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_PLACED_H_
