#include "cli/program/man_page.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace meshwright::cli {
namespace {

// No character of it is roff's: a hyphen stays one that can be searched, a line
// begins no request.
std::string Roff(const std::string& text) {
  std::string escaped =
      absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}, {"\n", " "}});
  if (escaped.starts_with('.') || escaped.starts_with('\'')) {
    escaped = absl::StrCat("\\&", escaped);
  }
  return escaped;
}

std::string Synopsis(const ProgramShape& shape) {
  std::string text = absl::StrCat("\\fB", Roff(shape.FullName(" ")), "\\fR");
  bool has_more = false;
  for (const FlagShape& flag : shape.flags) {
    if (flag.is_argument) continue;
    if (!flag.is_required) {
      has_more = true;
      continue;
    }
    absl::StrAppend(&text, " \\fB", Roff(flag.names.back()), "\\fR \\fI",
                    Roff(flag.value), "\\fR");
  }
  for (const FlagShape& flag : shape.flags) {
    if (!flag.is_argument) continue;
    const std::string name = absl::StrCat(
        "\\fI", Roff(absl::AsciiStrToUpper(flag.names[0])), "\\fR");
    absl::StrAppend(&text, " ",
                    flag.is_required ? name : absl::StrCat("[", name, "]"));
  }
  if (!shape.verbs.empty()) absl::StrAppend(&text, " \\fIVERB\\fR");
  return absl::StrCat(text, has_more ? " [\\fIflags\\fR]\n" : "\n");
}

std::string Flags(const ProgramShape& shape) {
  std::string text;
  for (const FlagShape& flag : shape.flags) {
    std::string names =
        flag.is_argument
            ? absl::StrCat("\\fI", Roff(absl::AsciiStrToUpper(flag.names[0])),
                           "\\fR")
            : absl::StrJoin(flag.names, ", ",
                            [](std::string* out, const std::string& name) {
                              absl::StrAppend(out, "\\fB", Roff(name), "\\fR");
                            });
    if (flag.takes_value && !flag.is_argument) {
      absl::StrAppend(
          &names, " \\fI",
          Roff(flag.choices.empty() ? flag.value
                                    : absl::StrJoin(flag.choices, "|")),
          "\\fR");
    }
    std::string description = flag.description;
    if (!flag.default_value.empty()) {
      absl::StrAppend(&description, " (default: ", flag.default_value, ")");
    }
    if (flag.is_required && !flag.is_argument) {
      absl::StrAppend(&description, " (required)");
    }
    absl::StrAppend(&text, ".TP\n", names, "\n", Roff(description), "\n");
  }
  return text;
}

std::string PageName(const ProgramShape& shape) { return shape.FullName("-"); }

ManPage MakePage(const ProgramShape& shape, const std::string& version,
                 const std::vector<std::string>& others) {
  const std::string name = PageName(shape);
  std::string text = absl::StrCat(
      ".\\\" Made of the program's flags.\n.TH ",
      Roff(absl::AsciiStrToUpper(name)), " 1 \"\" \"Meshwright ", Roff(version),
      "\" \"Meshwright\"\n.SH NAME\n", Roff(name), " \\- ",
      Roff(shape.description), "\n.SH SYNOPSIS\n", Synopsis(shape));
  const bool is_program = shape.path.size() == 1;
  if (!shape.verbs.empty()) {
    absl::StrAppend(&text, ".SH VERBS\n");
    for (const ProgramShape& verb : shape.verbs) {
      if (is_program) {
        absl::StrAppend(&text, ".TP\n\\fB", Roff(PageName(verb)), "\\fR(1)\n",
                        Roff(verb.description), "\n");
      } else {
        absl::StrAppend(&text, ".SS ", Roff(verb.FullName(" ")), "\n",
                        Roff(verb.description), "\n.PP\n", Synopsis(verb),
                        Flags(verb));
      }
    }
  }
  absl::StrAppend(&text, ".SH OPTIONS\n", Flags(shape),
                  ".SH EXIT STATUS\n"
                  "0 for success, 1 for a failure of the work, 2 for bad "
                  "input.\n.SH SEE ALSO\n");
  std::vector<std::string> links;
  for (const std::string& other : others) {
    if (other != name) {
      links.push_back(absl::StrCat("\\fB", Roff(other), "\\fR(1)"));
    }
  }
  absl::StrAppend(&text, absl::StrJoin(links, ",\n"), "\n");
  return {absl::StrCat(name, ".1"), text};
}

}  // namespace

std::vector<ManPage> MakeManPages(const ProgramShape& program,
                                  const std::string& version) {
  const std::vector<std::string> others = {
      "meshwright", "meshwright-coordinator", "meshwright-worker"};
  std::vector<ManPage> pages = {MakePage(program, version, others)};
  for (const ProgramShape& verb : program.verbs) {
    pages.push_back(MakePage(verb, version, others));
  }
  return pages;
}

}  // namespace meshwright::cli
