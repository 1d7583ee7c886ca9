// OpNames: what the values of a step are called in its source.
//
// Concept: launchers write the place of an operation in the source as its
// op_name. An analysed module has dropped them, since programs do not depend on
// them; they are read again from the bytes of the step.
// In -> Out: a serialized module -> op_name by instruction name.
// Errors: kInvalidArgument when the bytes are no module.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_OP_NAMES_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_OP_NAMES_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace meshwright::exporting {

using OpNames = std::map<std::string, std::string>;

absl::StatusOr<OpNames> ReadOpNames(const std::string& hlo_module);

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_OP_NAMES_H_
