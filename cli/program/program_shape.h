// ProgramShape: the verbs and flags of a program, as a page or a shell needs
// them.
//
// Concept: plain values, read once from the CLI11 app that also parses, so that
// no list of flags is written twice. Verbs and flags of the group "" are left
// out: those are not for people.
// Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_CLI_PROGRAM_PROGRAM_SHAPE_H_
#define MESHWRIGHT_CLI_PROGRAM_PROGRAM_SHAPE_H_

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace meshwright::cli {

struct FlagShape {
  std::vector<std::string> names;  // "-o", "--output"; of an argument: its name
  bool is_argument = false;        // given by its place
  bool is_required = false;
  bool takes_value = false;
  std::string value;                 // "TEXT", "INT", ...
  std::vector<std::string> choices;  // of the value; empty: any
  std::string default_value;
  std::string description;
};

struct ProgramShape {
  std::vector<std::string> path;  // "meshwright", "plans", "submit"
  std::string description;
  std::vector<FlagShape> flags;
  std::vector<ProgramShape> verbs;

  // The path with `separator` between its words: "meshwright plans submit".
  std::string FullName(const char* separator) const;
};

// `app` is a program, not one of its verbs.
ProgramShape DescribeProgram(const CLI::App& app);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_PROGRAM_PROGRAM_SHAPE_H_
