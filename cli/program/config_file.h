// The configuration of a daemon: every flag is a key of one TOML file.
//
// Concept: AddConfigFlags adds two flags to an app whose other flags are
// complete:
//   --config FILE    sets each flag that the command line leaves open
//   --print-config   prints, as such a file, what is in force, and ends
// A key is the long name of a flag, at the top level of the file. Its value is
// a string, an integer, a number, or true or false, as the flag takes it. It is
// an array where the flag may be given more than once. A flag whose type is
// called kCountOrNames takes an integer as well as a string.
// docs/formats/config.md lists the keys; a test holds it to the flags.
// Secrets: no flag holds one, only the path of a file. A password in a store's
// URL is not printed.
// Ownership: `out` outlives the parsing of `app`.
// Errors: parsing throws CLI::ParseError, one sentence that names file, line
// and key: an unknown key, a value of another type, one that the flag refuses.
#ifndef MESHWRIGHT_CLI_PROGRAM_CONFIG_FILE_H_
#define MESHWRIGHT_CLI_PROGRAM_CONFIG_FILE_H_

#include <ostream>

namespace CLI {
class App;
}  // namespace CLI

namespace meshwright::cli {

inline constexpr char kCountOrNames[] = "COUNT|NAMES";

void AddConfigFlags(CLI::App& app, std::ostream* out);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_PROGRAM_CONFIG_FILE_H_
