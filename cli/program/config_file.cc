#include "cli/program/config_file.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/toml/toml_string.h"

namespace meshwright::cli {
namespace {

constexpr char kConfig[] = "config";
constexpr char kPrintConfig[] = "print-config";

// Empty: the option is no key.
std::string FindKey(const CLI::Option& option) {
  if (option.get_lnames().empty()) return "";
  const std::string& name = option.get_lnames()[0];
  return name == "help" || name == kConfig || name == kPrintConfig ? "" : name;
}

bool IsSwitch(const CLI::Option& option) {
  return option.get_items_expected_max() == 0;
}
bool TakesMany(const CLI::Option& option) {
  return option.get_items_expected_max() > 1;
}

enum class ValueType { kSwitch, kInteger, kNumber, kString, kCountOrNames };

ValueType ClassifyValue(const CLI::Option& option) {
  if (IsSwitch(option)) return ValueType::kSwitch;
  const std::string name = option.get_type_name();
  const std::string_view type =
      std::string_view(name).substr(0, name.find(':'));
  if (type == kCountOrNames) return ValueType::kCountOrNames;
  if (type == "INT" || type == "UINT") return ValueType::kInteger;
  return type == "FLOAT" ? ValueType::kNumber : ValueType::kString;
}

const char* Describe(ValueType type) {
  switch (type) {
    case ValueType::kSwitch:
      return "true or false";
    case ValueType::kInteger:
      return "an integer";
    case ValueType::kNumber:
      return "a number";
    case ValueType::kCountOrNames:
      return "an integer or a string";
    case ValueType::kString:
      break;
  }
  return "a string";
}

// One file, read into the options of an app.
class ConfigReader {
 public:
  ConfigReader(CLI::App& app, const std::string& path)
      : app_(app), path_(path) {}

  void Read() const {
    const auto content = base::ReadFile(path_);
    if (!content.ok()) {
      throw CLI::ConfigError(std::string(content.status().message()));
    }
    const toml::parse_result parsed = toml::parse(*content, path_);
    if (!parsed) {
      Refuse(parsed.error().source(),
             absl::StrCat("it is no TOML: ",
                          std::string(parsed.error().description())));
    }
    for (const auto& [key, value] : parsed.table()) {
      Set(std::string(key.str()), key.source(), value);
    }
  }

 private:
  [[noreturn]] void Refuse(const toml::source_region& where,
                           const std::string& what) const {
    throw CLI::ConfigError(
        absl::StrCat(path_, ":", where.begin.line, ": ", what));
  }

  void Set(const std::string& key, const toml::source_region& where,
           const toml::node& value) const {
    CLI::Option* option = nullptr;
    for (CLI::Option* const known : app_.get_options()) {
      if (FindKey(*known) == key) option = known;
    }
    if (option == nullptr) {
      Refuse(where, absl::StrCat("there is no key \"", key,
                                 "\"; --print-config lists the keys"));
    }
    std::vector<std::string> words;
    const ValueType type = ClassifyValue(*option);
    if (const toml::array* const list = value.as_array()) {
      if (!TakesMany(*option)) {
        Refuse(where, absl::StrCat("\"", key, "\" needs ", Describe(type),
                                   ", not an array"));
      }
      for (const toml::node& item : *list) {
        words.push_back(FormatValue(key, where, type, item));
      }
    } else {
      words.push_back(FormatValue(key, where, type, value));
    }
    if (option->count() > 0) return;  // the command line wins
    try {
      for (const std::string& word : words) option->add_result(word);
      if (!words.empty()) option->run_callback();
    } catch (const CLI::ParseError& error) {
      std::string what = error.what();
      const std::string prefix = absl::StrCat("--", key, ": ");
      if (what.starts_with(prefix)) what = what.substr(prefix.size());
      Refuse(where, absl::StrCat("\"", key, "\" is refused: ", what));
    }
  }

  // As the command line would have it.
  std::string FormatValue(const std::string& key,
                          const toml::source_region& where, ValueType type,
                          const toml::node& value) const {
    if (const auto* const text = value.as_string();
        text != nullptr &&
        (type == ValueType::kString || type == ValueType::kCountOrNames)) {
      return text->get();
    }
    if (const auto* const flag = value.as_boolean();
        flag != nullptr && type == ValueType::kSwitch) {
      return flag->get() ? "true" : "false";
    }
    if (const auto* const whole = value.as_integer();
        whole != nullptr &&
        (type == ValueType::kInteger || type == ValueType::kNumber ||
         type == ValueType::kCountOrNames)) {
      return absl::StrCat(whole->get());
    }
    if (const auto* const number = value.as_floating_point();
        number != nullptr && type == ValueType::kNumber) {
      return absl::StrFormat("%.17g", number->get());
    }
    Refuse(where, absl::StrCat("\"", key, "\" needs ", Describe(type)));
  }

  CLI::App& app_;
  const std::string path_;
};

// scheme://user:PASSWORD@host and ?password=PASSWORD, without them.
std::string WithoutPassword(std::string text) {
  const size_t scheme = text.find("://");
  if (scheme == std::string::npos) return text;
  const size_t begin = scheme + 3;
  const size_t end = text.find('@', begin);
  const size_t colon = text.find(':', begin);
  if (end != std::string::npos && colon < end) text.erase(colon, end - colon);
  constexpr std::string_view kParameter = "password=";
  for (size_t at = text.find(kParameter); at != std::string::npos;
       at = text.find(kParameter, at + kParameter.size())) {
    const size_t value = at + kParameter.size();
    text.erase(value, std::min(text.find('&', value), text.size()) - value);
  }
  return text;
}

std::string ValueText(const CLI::Option& option) {
  std::vector<std::string> words = option.results();
  if (words.empty() && !option.get_default_str().empty()) {
    words.push_back(option.get_default_str());
  }
  const ValueType type = ClassifyValue(option);
  const bool is_text =
      type == ValueType::kString || type == ValueType::kCountOrNames;
  if (words.empty() && type == ValueType::kSwitch) words.push_back("false");
  for (std::string& word : words) {
    if (is_text) word = base::WriteTomlString(WithoutPassword(word));
  }
  if (TakesMany(option)) {
    return absl::StrCat("[", absl::StrJoin(words, ", "), "]");
  }
  if (!words.empty()) return words.back();
  return is_text ? "\"\"" : "0";
}

std::string PrintConfig(const CLI::App& app) {
  std::string name = app.get_name();
  if (app.get_parent() != nullptr) {
    name = absl::StrCat(app.get_parent()->get_name(), " ", name);
  }
  std::string text =
      absl::StrCat("# The configuration of ", name,
                   ".\n# A flag on the command line wins over its key here.\n");
  for (const CLI::Option* const option : app.get_options()) {
    const std::string key = FindKey(*option);
    if (key.empty()) continue;
    // A key that nobody set, without a default, is shown and not in force.
    const bool is_open = option->count() == 0 && !IsSwitch(*option) &&
                         option->get_default_str().empty();
    absl::StrAppend(&text, "\n# ", option->get_description(), "\n",
                    is_open ? "#" : "", key, " = ", ValueText(*option), "\n");
  }
  return text;
}

// Those whose turn comes later are checked first.
void CheckValues(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    if (!FindKey(*option).empty() && option->count() > 0 &&
        !option->get_callback_run()) {
      option->run_callback();
    }
  }
}

}  // namespace

void AddConfigFlags(CLI::App& app, std::ostream* out) {
  // Callbacks run in this order, before required flags are missed.
  app.add_option_function<std::string>(
      absl::StrCat("--", kConfig),
      [&app](const std::string& path) { ConfigReader(app, path).Read(); },
      "TOML file with a key for every flag; flags given here win");
  app.add_flag_callback(
      absl::StrCat("--", kPrintConfig),
      [&app, out] {
        CheckValues(app);
        *out << PrintConfig(app) << std::flush;
        throw CLI::Success();
      },
      "print the configuration in force, as a file for --config");
}

}  // namespace meshwright::cli
