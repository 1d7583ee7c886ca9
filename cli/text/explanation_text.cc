#include "cli/text/explanation_text.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/text/format.h"

namespace meshwright::cli {
namespace {

constexpr int kMostChanges = 6;  // shown; --json has all

std::string Saves(const v1::PlanAlternative& next) {
  std::string text = next.more_seconds() < 0
                         ? absl::StrFormat("costs %s (%.2f %%) more than",
                                           FormatSeconds(-next.more_seconds()),
                                           -next.more_share() * 100)
                         : absl::StrFormat("saves %s (%.2f %%) against",
                                           FormatSeconds(next.more_seconds()),
                                           next.more_share() * 100);
  absl::StrAppend(&text, " the next best plan");
  if (next.within_noise()) {
    absl::StrAppend(&text, ", which is within the noise of ",
                    FormatSeconds(next.noise_seconds()));
  } else if (next.noise_seconds() > 0) {
    absl::StrAppend(&text, ", give or take ",
                    FormatSeconds(next.noise_seconds()));
  }
  // A search that was cut short; 1e-12 is what its integers resolve.
  if (next.at_least_seconds() < next.more_seconds() - 1e-12) {
    absl::StrAppend(&text, "; proved is ",
                    FormatChange(next.at_least_seconds()));
  }
  return text;
}

// What the pipeline makes of a stage's work.
std::string OfTheStep(const v1::PlanAlternative& next) {
  const double more = next.pipeline_more_seconds();
  std::string text =
      more < 0 ? absl::StrCat("and the step costs ", FormatSeconds(-more))
               : absl::StrCat("and the step saves ", FormatSeconds(more));
  if (next.split_estimated()) {
    absl::StrAppend(&text, "; how that plan's time splits is estimated");
  }
  return text;
}

std::string Sources(const v1::PlanAlternative& next) {
  return absl::StrCat("compute ", FormatChange(next.compute_seconds()),
                      ", communication ",
                      FormatChange(next.communication_seconds()),
                      ", resharding ", FormatChange(next.resharding_seconds()),
                      ", memory ", FormatBytesChange(next.peak_bytes()));
}

// By next best plan: the segments it was shown for first.
using Shown = std::map<std::string, std::string>;

void AppendChoice(const v1::PlanChoice& choice, Shown* shown,
                  std::string* text) {
  absl::StrAppendFormat(text, "  %-7s type %d  %s\n",
                        FormatRanges(choice.segments()), choice.type(),
                        choice.describe());
  if (!choice.has_next_best()) {
    absl::StrAppend(text, "          without it no plan is allowed and fits\n");
    return;
  }
  const v1::PlanAlternative& next = choice.next_best();
  absl::StrAppend(text, "          ", Saves(next), "\n");
  if (choice.stage() > 0) {
    absl::StrAppend(text, "          ", OfTheStep(next), "\n");
  }
  const auto [first, added] = shown->try_emplace(
      next.SerializeAsString(), FormatRanges(choice.segments()));
  if (!added) {
    absl::StrAppend(text, "          the same as without the choice of ",
                    first->second, "\n");
    return;
  }
  absl::StrAppend(text, "          which has ", Sources(next), ", and\n");
  for (int i = 0; i < std::min(next.changes_size(), kMostChanges); ++i) {
    const v1::PlanChange& change = next.changes(i);
    absl::StrAppend(text, "            ", FormatRanges(change.segments()), ": ",
                    change.to(), "\n");
  }
  if (next.changes_size() > kMostChanges) {
    absl::StrAppend(text, "            and ",
                    next.changes_size() - kMostChanges, " changes more\n");
  }
}

}  // namespace

std::string DescribeExplanation(const v1::PlanExplanation& explanation) {
  std::string text;
  if (explanation.choices().empty()) return text;
  absl::StrAppend(
      &text, "what each choice saves",
      explanation.choices(0).stage() > 0 ? " of its stage's work" : "",
      " (segments, type, choice)\n");
  Shown shown;
  int stage = 0;
  for (const v1::PlanChoice& choice : explanation.choices()) {
    if (choice.stage() != stage) {
      stage = choice.stage();
      absl::StrAppend(&text, " stage ", stage, "\n");
    }
    AppendChoice(choice, &shown, &text);
  }
  return text;
}

nlohmann::ordered_json WaitsJson(
    const explain::StagesExplanation& explanation) {
  auto stages = nlohmann::ordered_json::array();
  for (const explain::StagesExplanation::Stage& it : explanation.stages) {
    stages.push_back({{"busy_seconds", it.busy_seconds},
                      {"idle_seconds", it.idle_seconds},
                      {"tenth_saves_seconds", it.tenth_saves_seconds}});
  }
  return {{"stages", std::move(stages)},
          {"boundary_seconds", explanation.boundary_seconds},
          {"shared_seconds", explanation.shared_seconds}};
}

std::string DescribeWaits(const explain::StagesExplanation& explanation) {
  std::string text = "what the step waits for\n";
  for (size_t i = 0; i < explanation.stages.size(); ++i) {
    const explain::StagesExplanation::Stage& it = explanation.stages[i];
    absl::StrAppendFormat(
        &text,
        "  stage %-5d busy %s, idle %s; a tenth less work makes the step %s "
        "shorter\n",
        i + 1, FormatSeconds(it.busy_seconds), FormatSeconds(it.idle_seconds),
        FormatSeconds(it.tenth_saves_seconds));
  }
  for (size_t i = 0; i < explanation.boundary_seconds.size(); ++i) {
    absl::StrAppend(&text, "  boundary ", i + 1, "-", i + 2, " adds ",
                    FormatSeconds(explanation.boundary_seconds[i]), "\n");
  }
  if (explanation.shared_seconds > 0) {
    absl::StrAppend(&text, "  shared parameters add ",
                    FormatSeconds(explanation.shared_seconds), "\n");
  }
  return text;
}

}  // namespace meshwright::cli
