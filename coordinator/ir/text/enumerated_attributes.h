// Attributes that choose from a few: precisions, algorithms, flags of a solve.
//
// In -> Out: a cursor at the value -> the field of the instruction, with XLA's
// number for the choice.
// Errors: kInvalidArgument with the line; a choice nobody knows is one.
#ifndef MESHWRIGHT_COORDINATOR_IR_TEXT_ENUMERATED_ATTRIBUTES_H_
#define MESHWRIGHT_COORDINATOR_IR_TEXT_ENUMERATED_ATTRIBUTES_H_

#include "absl/status/status.h"
#include "coordinator/ir/text/text_cursor.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

// XLA's number for custom calls that state no version.
inline constexpr int kOriginalApiVersion = 1;

// {high,default}
absl::Status ReadOperandPrecision(TextCursor& value,
                                  hlo::HloInstructionProto& it);
// Of a dot, or of a random number generator.
absl::Status ReadAlgorithm(TextCursor& value, hlo::HloInstructionProto& it);
absl::Status ReadApiVersion(TextCursor& value, hlo::HloInstructionProto& it);
absl::Status ReadDistribution(TextCursor& value, hlo::HloInstructionProto& it);
absl::Status ReadFftType(TextCursor& value, hlo::HloInstructionProto& it);
absl::Status ReadEpsilon(TextCursor& value, hlo::HloInstructionProto& it);
absl::Status ReadIotaDimension(TextCursor& value, hlo::HloInstructionProto& it);
// Of a triangular-solve; `lower` of a cholesky too.
absl::Status ReadLeftSide(TextCursor& value, hlo::HloInstructionProto& it);
absl::Status ReadLower(TextCursor& value, hlo::HloInstructionProto& it);
absl::Status ReadUnitDiagonal(TextCursor& value, hlo::HloInstructionProto& it);
absl::Status ReadTransposeA(TextCursor& value, hlo::HloInstructionProto& it);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_TEXT_ENUMERATED_ATTRIBUTES_H_
