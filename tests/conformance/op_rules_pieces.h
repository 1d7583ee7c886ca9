// The pieces of a case that its rule promises: what each of P devices runs when
// one dimension of the result is split.
#ifndef MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_PIECES_H_
#define MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_PIECES_H_

#include <vector>

#include "coordinator/ir/links/dim_links.h"
#include "tests/conformance/op_rules_case.h"

namespace meshwright::conformance {

// By operand.
using Links = std::vector<std::vector<ir::DimLink>>;

Links FindLinks(const OpCase& one);

// The dimension of every operand that is cut with dimension `out` of the
// result; -1 where the operand stays whole.
std::vector<int> CutsFor(const Links& links, int out);

// Whether the rule holds for so many parts: `out` has links, and sizes and
// groups divide.
bool Divides(const OpCase& one, const Links& links, int out, int64_t parts);

// The operation on the parts, attributes fitted to them.
OpCase CutPiece(const OpCase& one, const Links& links, int out, int64_t parts);

// Leaf `leaf` of operand `operand` as piece `part` sees it: cut, or with its
// indices counted from the start of the part.
Array PieceArray(const OpCase& one, const Links& links, int out, int64_t parts,
                 int64_t part, int operand, const Array& whole);

}  // namespace meshwright::conformance

#endif  // MESHWRIGHT_TESTS_CONFORMANCE_OP_RULES_PIECES_H_
