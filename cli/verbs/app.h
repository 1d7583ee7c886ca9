// The command line as a function: arguments in, exit status out.
//
// Errors: one line "meshwright: sentence" on `err`; see exit_status.h.
#ifndef MESHWRIGHT_CLI_VERBS_APP_H_
#define MESHWRIGHT_CLI_VERBS_APP_H_

#include <string>
#include <vector>

#include "cli/command/context.h"

namespace meshwright::cli {

// `arguments` without the program's name.
int RunCommand(const std::vector<std::string>& arguments,
               const Streams& streams);

// The program meshwright-coordinator.
int RunCoordinator(const std::vector<std::string>& arguments,
                   const Streams& streams);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_VERBS_APP_H_
