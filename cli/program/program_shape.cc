#include "cli/program/program_shape.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace meshwright::cli {
namespace {

// Of "TEXT:{cpu,cuda}": cpu and cuda.
std::vector<std::string> ParseChoices(const std::string& type) {
  const size_t begin = type.find(":{");
  const size_t end = type.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  return absl::StrSplit(type.substr(begin + 2, end - begin - 2), ',');
}

FlagShape DescribeFlag(const CLI::Option& option) {
  FlagShape flag;
  flag.is_argument = option.get_positional();
  if (flag.is_argument) {
    flag.names.push_back(option.get_name(true));
  }
  for (const std::string& name : option.get_snames()) {
    flag.names.push_back(absl::StrCat("-", name));
  }
  for (const std::string& name : option.get_lnames()) {
    flag.names.push_back(absl::StrCat("--", name));
  }
  flag.is_required = option.get_required();
  flag.takes_value = option.get_items_expected_max() > 0;
  const std::string type = option.get_type_name();
  flag.value = type.substr(0, type.find(':'));
  flag.choices = ParseChoices(type);
  flag.default_value = option.get_default_str();
  flag.description = option.get_description();
  return flag;
}

ProgramShape DescribeVerb(const CLI::App& app, std::vector<std::string> path) {
  ProgramShape shape;
  path.push_back(app.get_name());
  shape.path = std::move(path);
  shape.description = app.get_description();
  for (const CLI::Option* const option : app.get_options()) {
    if (!option->get_group().empty()) {
      shape.flags.push_back(DescribeFlag(*option));
    }
  }
  for (const CLI::App* const verb : app.get_subcommands(
           [](const CLI::App* it) { return !it->get_group().empty(); })) {
    shape.verbs.push_back(DescribeVerb(*verb, shape.path));
  }
  return shape;
}

}  // namespace

std::string ProgramShape::FullName(const char* separator) const {
  return absl::StrJoin(path, separator);
}

ProgramShape DescribeProgram(const CLI::App& app) {
  return DescribeVerb(app, {});
}

}  // namespace meshwright::cli
