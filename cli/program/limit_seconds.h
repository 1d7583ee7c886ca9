// LimitSeconds: the range of a flag that takes seconds.
//
// Threads: one.
#ifndef MESHWRIGHT_CLI_PROGRAM_LIMIT_SECONDS_H_
#define MESHWRIGHT_CLI_PROGRAM_LIMIT_SECONDS_H_

namespace CLI {
class Option;
}  // namespace CLI

namespace meshwright::cli {

// As CLI::Range, and refuses `nan`, which lies in every range for it.
void LimitSeconds(CLI::Option* option, double least, double most);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_PROGRAM_LIMIT_SECONDS_H_
