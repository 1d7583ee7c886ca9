// The text of --help.
//
// Concept: CLI11's own, without the lists of flags that a flag needs or
// excludes: a refusal names those when it matters. A variable that stands for
// a flag is named by its description, as on the other pages.
// Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_CLI_PROGRAM_HELP_FORMAT_H_
#define MESHWRIGHT_CLI_PROGRAM_HELP_FORMAT_H_

namespace CLI {
class App;
}  // namespace CLI

namespace meshwright::cli {

// Also of the verbs that are added to `app` afterwards.
void SetHelpFormat(CLI::App& app);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_PROGRAM_HELP_FORMAT_H_
