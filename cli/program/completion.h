// Completion scripts: what a shell offers after a tab.
//
// Concept: the script holds the verbs, flags and choices of the programs; it
// starts none of them. Where a file may stand, the shell's own completion of
// files goes on.
// Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_CLI_PROGRAM_COMPLETION_H_
#define MESHWRIGHT_CLI_PROGRAM_COMPLETION_H_

#include <string>
#include <vector>

#include "cli/program/program_shape.h"

namespace meshwright::cli {

std::string WriteBashCompletion(const std::vector<ProgramShape>& programs);
std::string WriteZshCompletion(const std::vector<ProgramShape>& programs);
std::string WriteFishCompletion(const std::vector<ProgramShape>& programs);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_PROGRAM_COMPLETION_H_
