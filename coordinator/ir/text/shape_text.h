// Shapes as HLO text writes them: f32[8,64]{1,0}, (f32[], /*index=1*/s32[4]).
//
// In -> Out: a cursor at a shape -> ShapeProto, the cursor behind it. A shape
// without a layout gets the default one, most minor dimension last.
// Errors: kInvalidArgument with the line.
#ifndef MESHWRIGHT_COORDINATOR_IR_TEXT_SHAPE_TEXT_H_
#define MESHWRIGHT_COORDINATOR_IR_TEXT_SHAPE_TEXT_H_

#include "absl/status/status.h"
#include "coordinator/ir/text/text_cursor.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

absl::Status ReadShape(TextCursor& cursor, hlo::ShapeProto& shape,
                       int depth = 0);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_TEXT_SHAPE_TEXT_H_
