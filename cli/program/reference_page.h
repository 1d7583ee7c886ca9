// The reference of a program's verbs and flags as a page of Markdown.
//
// Concept: a section for each verb, and in it one for each verb of that verb; a
// table of flags in each. The documentation site is built from these pages, so
// no list of flags is written twice.
// Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_CLI_PROGRAM_REFERENCE_PAGE_H_
#define MESHWRIGHT_CLI_PROGRAM_REFERENCE_PAGE_H_

#include <string>

#include "cli/program/program_shape.h"

namespace meshwright::cli {

std::string MakeReferencePage(const ProgramShape& program);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_PROGRAM_REFERENCE_PAGE_H_
