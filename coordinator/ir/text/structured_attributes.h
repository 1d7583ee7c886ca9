// Attributes whose text has a form of its own: windows, paddings, slices,
// replica groups, metadata.
//
// In -> Out: a cursor at the value -> the fields of the instruction.
// Errors: kInvalidArgument with the line.
#ifndef MESHWRIGHT_COORDINATOR_IR_TEXT_STRUCTURED_ATTRIBUTES_H_
#define MESHWRIGHT_COORDINATOR_IR_TEXT_STRUCTURED_ATTRIBUTES_H_

#include "absl/status/status.h"
#include "coordinator/ir/text/text_cursor.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

// {size=3x3 stride=2x2 pad=0_1x0_1 rhs_reversal=1x1}
absl::Status ReadWindow(TextCursor& value, hlo::HloInstructionProto& it);
// b01f_01io->b01f
absl::Status ReadDimLabels(TextCursor& value, hlo::HloInstructionProto& it);
// low_high or low_high_interior per dimension: 1_1x2_0_1
absl::Status ReadPadding(TextCursor& value, hlo::HloInstructionProto& it);
// {[0:4:1], [2:4]}
absl::Status ReadSlice(TextCursor& value, hlo::HloInstructionProto& it);
// {{0,1},{2,3}} or [2,2]<=[4]T(0)
absl::Status ReadReplicaGroups(TextCursor& value, hlo::HloInstructionProto& it);
// {{0,1},{1,0}}
absl::Status ReadSourceTargetPairs(TextCursor& value,
                                   hlo::HloInstructionProto& it);
// {op_type="..." op_name="..." source_file="..." source_line=3}
absl::Status ReadMetadata(TextCursor& value, hlo::HloInstructionProto& it);
// {key="value",other="..."}
absl::Status ReadFrontendAttributes(TextCursor& value,
                                    hlo::HloInstructionProto& it);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_TEXT_STRUCTURED_ATTRIBUTES_H_
