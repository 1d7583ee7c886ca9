#include "cli/flags/strategy_flags.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace meshwright::cli {
namespace {

// "LEFT=RIGHT", both there.
absl::StatusOr<std::pair<std::string, std::string>> ReadRule(
    const std::string& text, const std::string& example) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is no rule; write one like ", example));
  }
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

absl::Status AddBlockRules(const std::vector<std::string>& texts, bool forbid,
                           v1::StrategyRequest& request) {
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(const auto rule, ReadRule(text, "0,4-7=rows or all=rows"));
    v1::BlockRule& out = *request.add_blocks();
    out.set_blocks(rule.first);
    out.set_forbid(forbid);
    for (absl::string_view name : absl::StrSplit(rule.second, '|')) {
      out.add_strategies(std::string(name));
    }
  }
  return absl::OkStatus();
}

absl::Status AddArgumentRules(const std::vector<std::string>& texts,
                              bool forbid, v1::StrategyRequest& request) {
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(const auto rule, ReadRule(text, "3=[1,-]"));
    int32_t number = 0;
    if (!absl::SimpleAtoi(rule.first, &number)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", rule.first,
          "\" is no number of an argument; see a plan's arguments"));
    }
    v1::ArgumentRule& out = *request.add_arguments();
    out.set_argument(number);
    out.set_sharding(rule.second);
    out.set_forbid(forbid);
  }
  return absl::OkStatus();
}

}  // namespace

void AddStrategyFlags(CLI::App& verb, StrategyFlags* flags) {
  constexpr char kTitle[] = "Strategies";
  verb.add_option("--open", flags->open,
                  "strategies to add to the search: fully-sharded, "
                  "optimizer-sharded, sequence, recompute (added by itself if "
                  "memory is short), outer-axis")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kTitle);
  const auto add = [&](const char* name, std::vector<std::string>& list,
                       const char* help) {
    verb.add_option(name, list, help)->allow_extra_args(false)->group(kTitle);
  };
  add("--pin", flags->pin,
      "BLOCKS=STRATEGY[|STRATEGY]: blocks (all, 0,4-7 or the name of a root) "
      "that take one of these strategies");
  add("--forbid", flags->forbid,
      "BLOCKS=STRATEGY: blocks that do not take this strategy");
  add("--pin-argument", flags->pin_argument,
      "N=SHARDING: sharding of argument N, like [1,-]");
  add("--forbid-argument", flags->forbid_argument,
      "N=SHARDING: a sharding that argument N does not take");
}

absl::StatusOr<v1::StrategyRequest> ToStrategyRequest(
    const StrategyFlags& flags) {
  v1::StrategyRequest request;
  request.mutable_open()->Assign(flags.open.begin(), flags.open.end());
  RETURN_IF_ERROR(AddBlockRules(flags.pin, /*forbid=*/false, request));
  RETURN_IF_ERROR(AddBlockRules(flags.forbid, /*forbid=*/true, request));
  RETURN_IF_ERROR(AddArgumentRules(flags.pin_argument, false, request));
  RETURN_IF_ERROR(AddArgumentRules(flags.forbid_argument, true, request));
  return request;
}

}  // namespace meshwright::cli
