// Fields of messages as HLO text writes them, read by the type of the field.
//
// Concept: a number, a flag, a word or quoted string, or a list of one of these
// in braces. Fields that XLA numbers and its text names (precisions,
// algorithms, kinds of a Fourier transform) take the number of the name.
// In -> Out: a cursor at the value -> the field of the message.
// Errors: kInvalidArgument with the line; a choice nobody knows is one.
#ifndef MESHWRIGHT_COORDINATOR_IR_TEXT_FIELD_TEXT_H_
#define MESHWRIGHT_COORDINATOR_IR_TEXT_FIELD_TEXT_H_

#include <google/protobuf/message.h>

#include "absl/status/status.h"
#include "coordinator/ir/text/text_cursor.h"

namespace meshwright::ir {

// XLA's number for custom calls that state no version.
inline constexpr int kOriginalApiVersion = 1;

// `field` is one of `message` and holds no message. A repeated one may stand
// without braces where it has one element.
absl::Status ReadField(TextCursor& value,
                       const google::protobuf::FieldDescriptor& field,
                       google::protobuf::Message& message);

// "{1,2,3}", appended to `numbers`.
absl::Status ReadNumbers(TextCursor& cursor,
                         google::protobuf::RepeatedField<int64_t>& numbers,
                         char open = '{', char close = '}');

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_TEXT_FIELD_TEXT_H_
