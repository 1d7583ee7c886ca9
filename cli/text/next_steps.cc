#include "cli/text/next_steps.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace meshwright::cli {
namespace {

std::string StoreFlag(const PlanSource& source) {
  return source.store.empty()
             ? ""
             : absl::StrCat(" --store ", QuoteWord(source.store));
}

NextStep ApplyIt(const PlanSource& source) {
  return {"apply it",
          absl::StrCat("meshwright export ", QuoteWord(source.model), " ",
                       QuoteWord(source.plan), " -o ANNOTATED.hlo.pb")};
}

// Its measurements are at the coordinator; the file has the plan alone.
std::vector<NextStep> ListStepsAtCoordinator(const PlanSource& source) {
  std::vector<NextStep> next = ListNextSteps(source.id, source.address_flags);
  if (source.plan.empty()) return next;
  for (NextStep& step : next) {
    if (step.purpose == "keep it") step = ApplyIt(source);
  }
  return next;
}

}  // namespace

std::string QuoteWord(const std::string& word) {
  constexpr absl::string_view kPlain = "-_./:=+@%,";
  bool is_plain = !word.empty();
  for (const char c : word) {
    is_plain &= absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                kPlain.find(c) != absl::string_view::npos;
  }
  return is_plain ? word
                  : absl::StrCat(
                        "'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

std::vector<NextStep> ListNextSteps(const v1::Plan& plan,
                                    const PlanSource& source) {
  if (plan.feasible() && !source.id.empty()) {
    return ListStepsAtCoordinator(source);
  }
  std::vector<NextStep> next;
  const std::string model = QuoteWord(source.model);
  const std::string file = QuoteWord(source.plan);
  const bool is_measured = plan.device() != "symbolic";
  if (!plan.feasible()) {
    next.push_back({"make it fit",
                    "add --open fully-sharded,optimizer-sharded,sequence or "
                    "devices to --mesh"});
  } else if (source.plan.empty()) {
    next.push_back(
        {"keep it", is_measured ? "repeat with -o FILE; the store has its times"
                                : "repeat with -o FILE"});
  } else {
    if (is_measured && source.has_own_devices) {
      next.push_back(
          {"run it", absl::StrCat("meshwright validate ", model, " ", file,
                                  StoreFlag(source), source.device_flags)});
      next.push_back(
          {"see why",
           absl::StrCat("meshwright report ", file, StoreFlag(source), " -o ",
                        QuoteWord(source.plan + ".html"))});
    }
    next.push_back(ApplyIt(source));
  }
  next.push_back({"see all", "repeat with --verbose"});
  return next;
}

std::vector<NextStep> ListNextSteps(const std::string& id,
                                    const std::string& flags) {
  return {{"run it", absl::StrCat("meshwright plans validate ", id, flags)},
          {"see why", absl::StrCat("meshwright plans explain ", id, flags)},
          {"keep it",
           absl::StrCat("meshwright plans export ", id, " -o FILE", flags)},
          {"see all",
           absl::StrCat("meshwright plans get ", id, " --verbose", flags)}};
}

std::string RemeasureCommand(const PlanSource& source) {
  if (source.plan.empty() || !source.has_own_devices) return "";
  return absl::StrCat("meshwright profiles remeasure ", QuoteWord(source.plan),
                      StoreFlag(source), source.device_flags);
}

}  // namespace meshwright::cli
