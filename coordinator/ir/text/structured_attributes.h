// Attributes whose text has a form of its own: windows, paddings, replica
// groups, enumerators.
//
// In -> Out: a cursor at the value -> the fields of the instruction.
// Errors: kInvalidArgument with the line; an enumerator nobody knows is one.
#ifndef MESHWRIGHT_COORDINATOR_IR_TEXT_STRUCTURED_ATTRIBUTES_H_
#define MESHWRIGHT_COORDINATOR_IR_TEXT_STRUCTURED_ATTRIBUTES_H_

#include "absl/status/status.h"
#include "coordinator/ir/text/text_cursor.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

// XLA's number for custom calls that state no version.
inline constexpr int kOriginalApiVersion = 1;

using It = hlo::HloInstructionProto;

// {size=3x3 stride=2x2 pad=0_1x0_1 rhs_reversal=1x1}
absl::Status ReadWindow(TextCursor& value, It& it);
// b01f_01io->b01f
absl::Status ReadDimLabels(TextCursor& value, It& it);
// low_high or low_high_interior per dimension: 1_1x2_0_1
absl::Status ReadPadding(TextCursor& value, It& it);
// {[0:4:1], [2:4]}
absl::Status ReadSlice(TextCursor& value, It& it);
// {{0,1},{2,3}} or [2,2]<=[4]T(0)
absl::Status ReadReplicaGroups(TextCursor& value, It& it);
// {{0,1},{1,0}}
absl::Status ReadSourceTargetPairs(TextCursor& value, It& it);
// {op_type="..." op_name="..." source_file="..." source_line=3}
absl::Status ReadMetadata(TextCursor& value, It& it);
// {key="value",other="..."}
absl::Status ReadFrontendAttributes(TextCursor& value, It& it);
// {high,default}
absl::Status ReadOperandPrecision(TextCursor& value, It& it);
// Of a dot, or of a random number generator.
absl::Status ReadAlgorithm(TextCursor& value, It& it);
absl::Status ReadApiVersion(TextCursor& value, It& it);
absl::Status ReadDistribution(TextCursor& value, It& it);
absl::Status ReadFftType(TextCursor& value, It& it);
absl::Status ReadEpsilon(TextCursor& value, It& it);
absl::Status ReadIotaDimension(TextCursor& value, It& it);
// Of a triangular-solve; `lower` of a cholesky too.
absl::Status ReadLeftSide(TextCursor& value, It& it);
absl::Status ReadLower(TextCursor& value, It& it);
absl::Status ReadUnitDiagonal(TextCursor& value, It& it);
absl::Status ReadTransposeA(TextCursor& value, It& it);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_TEXT_STRUCTURED_ATTRIBUTES_H_
