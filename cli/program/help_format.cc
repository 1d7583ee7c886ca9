#include "cli/program/help_format.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace meshwright::cli {
namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    // They come last, in this order.
    for (const char* list : {" (Env:", " Needs:", " Excludes:"}) {
      text = text.substr(0, text.find(list));
    }
    return text;
  }
};

}  // namespace

void SetHelpFormat(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
}

}  // namespace meshwright::cli
