#include "cli/program/reference_page.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace meshwright::cli {
namespace {

// No character of it is Markdown's.
std::string Prose(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"},
                                    {"|", "\\|"},
                                    {"*", "\\*"},
                                    {"_", "\\_"},
                                    {"`", "\\`"},
                                    {"<", "\\<"},
                                    {"[", "\\["},
                                    {"\n", " "}});
}

std::string Code(const std::string& text) {
  return absl::StrCat("`", absl::StrReplaceAll(text, {{"|", "\\|"}}), "`");
}

std::string Usage(const ProgramShape& shape) {
  std::string text = shape.FullName(" ");
  bool has_more = false;
  for (const FlagShape& flag : shape.flags) {
    if (!flag.is_argument && !flag.is_required) has_more = true;
    if (!flag.is_required) continue;
    absl::StrAppend(&text, " ",
                    flag.is_argument
                        ? absl::AsciiStrToUpper(flag.names[0])
                        : absl::StrCat(flag.names.back(), " ", flag.value));
  }
  if (!shape.verbs.empty()) absl::StrAppend(&text, " VERB");
  return absl::StrCat(text, has_more ? " [flags]" : "");
}

std::string Describe(const FlagShape& flag) {
  std::string text = Prose(flag.description);
  if (!flag.choices.empty()) {
    absl::StrAppend(&text, "; one of ", absl::StrJoin(flag.choices, ", "));
  }
  if (!flag.default_value.empty()) {
    absl::StrAppend(&text, " (default: ", Code(flag.default_value), ")");
  }
  if (flag.is_required) absl::StrAppend(&text, " (required)");
  return text;
}

void AppendShape(const ProgramShape& shape, std::string* page) {
  absl::StrAppend(page, std::string(shape.path.size(), '#'), " ",
                  shape.FullName(" "), "\n\n", Prose(shape.description),
                  shape.description.ends_with('.') ? "" : ".", "\n\n```text\n",
                  Usage(shape), "\n```\n\n");
  if (!shape.flags.empty()) {
    absl::StrAppend(page, "| flag | value | meaning |\n| --- | --- | --- |\n");
  }
  for (const FlagShape& flag : shape.flags) {
    const std::vector<std::string> names =
        flag.is_argument ? std::vector{absl::AsciiStrToUpper(flag.names[0])}
                         : flag.names;
    absl::StrAppend(page, "| ",
                    absl::StrJoin(names, ", ",
                                  [](auto* out, auto& it) {
                                    absl::StrAppend(out, Code(it));
                                  }),
                    " | ", flag.takes_value ? Prose(flag.value) : "", " | ",
                    Describe(flag), " |\n");
  }
  absl::StrAppend(page, "\n");
  for (const ProgramShape& verb : shape.verbs) AppendShape(verb, page);
}

}  // namespace

std::string MakeReferencePage(const ProgramShape& program) {
  std::string page;
  AppendShape(program, &page);
  return page;
}

}  // namespace meshwright::cli
