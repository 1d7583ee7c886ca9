// Attributes of an instruction as HLO text writes them: key=value.
//
// Concept: one table from key to the field of HloInstructionProto it fills.
// Keys without an entry say nothing of what the operation computes (layouts of
// custom calls, statistics, schedules) and are skipped.
// In -> Out: key and value -> the field, in the form XLA's own proto has.
// Errors: kInvalidArgument with the line.
#ifndef MESHWRIGHT_COORDINATOR_IR_TEXT_ATTRIBUTE_TEXT_H_
#define MESHWRIGHT_COORDINATOR_IR_TEXT_ATTRIBUTE_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/ir/text/text_cursor.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

// Ids by name; the names are pieces of the text.
using NameTable = std::unordered_map<std::string_view, int64_t>;

// The target of the attributes of one instruction.
struct AttributeTarget {
  hlo::HloInstructionProto& it;
  const NameTable& computations;
  const NameTable& instructions;  // of the same computation, so far
  // Called computations with their place: a while has its body first.
  std::vector<std::pair<int, int64_t>> callees;
};

absl::Status ReadAttribute(std::string_view key, TextCursor value,
                           AttributeTarget& target);

// Fills what XLA's proto always states and its text leaves out, and puts the
// callees in order.
void CompleteAttributes(const std::vector<hlo::PrimitiveType>& operand_types,
                        AttributeTarget& target);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_TEXT_ATTRIBUTE_TEXT_H_
