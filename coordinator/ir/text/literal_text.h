// Literals as HLO text writes them: 3, {1, 2}, { {1}, {2} }, ((1), {2}).
//
// In -> Out: a cursor at the value of a constant and the constant's shape ->
// LiteralProto, the cursor behind it. Elements are stored as XLA stores them
// (element_reader.h).
// Errors: kInvalidArgument with the line, for a value its type cannot hold and
// for braces that do not fit the shape. No size is believed: memory follows
// the elements that are really there.
#ifndef MESHWRIGHT_COORDINATOR_IR_TEXT_LITERAL_TEXT_H_
#define MESHWRIGHT_COORDINATOR_IR_TEXT_LITERAL_TEXT_H_

#include "absl/status/status.h"
#include "coordinator/ir/text/text_cursor.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

absl::Status ReadLiteral(TextCursor& cursor, const hlo::ShapeProto& shape,
                         hlo::LiteralProto& literal, int depth = 0);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_TEXT_LITERAL_TEXT_H_
