// SecondsWithin: the check of a flag that takes seconds.
//
// Threads: pure function.
#ifndef MESHWRIGHT_CLI_PROGRAM_SECONDS_WITHIN_H_
#define MESHWRIGHT_CLI_PROGRAM_SECONDS_WITHIN_H_

#include <CLI/CLI.hpp>

namespace meshwright::cli {

// As CLI::Range, and refuses `nan`, which lies in every range for it.
CLI::Validator SecondsWithin(double least, double most);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_PROGRAM_SECONDS_WITHIN_H_
