// HLO text, as XLA prints and dumps it.
//
// Concept: the text is read into the same HloModuleProto that XLA would
// serialise. Every attribute that changes what an operation computes is kept.
// Layouts are kept where the text has them; shardings and schedules are not.
// Names may carry a % or not; operands may carry their shape or not. A constant
// whose value was left out ("{...}") stays without a literal: it can be
// analysed, not run.
// In -> Out: text -> HloModuleProto. It is well-formed as text; ids, operands
// and shapes are checked by whoever takes a proto from a file.
// Errors: kInvalidArgument, one sentence with the line.
// Source: openxla/xla, xla/hlo/parser; docs "HLO text".
#ifndef MESHWRIGHT_COORDINATOR_IR_TEXT_HLO_TEXT_H_
#define MESHWRIGHT_COORDINATOR_IR_TEXT_HLO_TEXT_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

// True for bytes that start like a text, after space and comments.
bool LooksLikeHloText(std::string_view bytes);

absl::StatusOr<hlo::HloModuleProto> ParseHloText(std::string_view text);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_TEXT_HLO_TEXT_H_
