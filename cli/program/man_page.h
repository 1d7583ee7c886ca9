// Man pages of a program: one for itself, and one for each of its verbs.
//
// Concept: the text is roff with the macros of man(7). A verb of a verb (plans
// submit) is a section of the verb's page.
// Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_CLI_PROGRAM_MAN_PAGE_H_
#define MESHWRIGHT_CLI_PROGRAM_MAN_PAGE_H_

#include <string>
#include <vector>

#include "cli/program/program_shape.h"

namespace meshwright::cli {

struct ManPage {
  std::string file;  // "meshwright-plan.1"
  std::string text;
};

std::vector<ManPage> MakeManPages(const ProgramShape& program,
                                  const std::string& version);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_PROGRAM_MAN_PAGE_H_
