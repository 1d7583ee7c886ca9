// The command line as a function: arguments in, exit status out.
//
// Errors: one line "meshwright: sentence" on `err`; see exit_status.h.
#ifndef MESHWRIGHT_CLI_VERBS_APP_H_
#define MESHWRIGHT_CLI_VERBS_APP_H_

#include <ostream>
#include <string>
#include <vector>

namespace meshwright::cli {

struct Streams {
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  bool terminal = false;  // err is one
};

// `arguments` without the program's name.
int RunCommand(const std::vector<std::string>& arguments,
               const Streams& streams);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_VERBS_APP_H_
