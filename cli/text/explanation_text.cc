#include "cli/text/explanation_text.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/text/format.h"
#include "cli/text/table.h"

namespace meshwright::cli {
namespace {

constexpr int kMaxChanges = 6;  // shown; --json has all

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
    absl::StrAppend(&text, ", within the noise of ",
                    FormatSeconds(next.noise_seconds()));
  } else if (next.noise_seconds() > 0) {
    absl::StrAppend(&text, ", +- ", FormatSeconds(next.noise_seconds()));
  }
  // The search was cut short; its integers resolve 1e-12 s.
  if (next.at_least_seconds() < next.more_seconds() - 1e-12) {
    absl::StrAppend(&text, "; proven: ", FormatChange(next.at_least_seconds()));
  }
  return text;
}

// The effect on the step, from a simulation of the pipeline.
std::string StepEffect(const v1::PlanAlternative& next) {
  const double more = next.pipeline_more_seconds();
  std::string text =
      more < 0 ? absl::StrCat("the step takes ", FormatSeconds(-more), " more")
               : absl::StrCat("the step takes ", FormatSeconds(more), " less");
  if (next.split_estimated()) {
    absl::StrAppend(&text,
                    "; the next best plan's split into passes is estimated");
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

// Next best plan -> the segments under which it is shown.
using Shown = std::map<std::string, std::string>;

void AppendChoice(const v1::PlanChoice& choice, Shown* shown,
                  std::string* text) {
  absl::StrAppendFormat(text, "  %-7s type %d  %s\n",
                        FormatRanges(choice.segments()), choice.type(),
                        choice.describe());
  if (!choice.has_next_best()) {
    absl::StrAppend(
        text, "          no plan without this choice is allowed and fits\n");
    return;
  }
  const v1::PlanAlternative& next = choice.next_best();
  absl::StrAppend(text, "          ", Saves(next), "\n");
  if (choice.stage() > 0) {
    absl::StrAppend(text, "          ", StepEffect(next), "\n");
  }
  const auto [first, added] = shown->try_emplace(
      next.SerializeAsString(), FormatRanges(choice.segments()));
  if (!added) {
    absl::StrAppend(text, "          the same plan as for segments ",
                    first->second, "\n");
    return;
  }
  absl::StrAppend(text, "          next best plan: ", Sources(next), "\n");
  for (int i = 0; i < std::min(next.changes_size(), kMaxChanges); ++i) {
    const v1::PlanChange& change = next.changes(i);
    absl::StrAppend(text, "            ", FormatRanges(change.segments()), ": ",
                    change.to(), "\n");
  }
  if (next.changes_size() > kMaxChanges) {
    absl::StrAppend(text, "            and ", next.changes_size() - kMaxChanges,
                    " more changes\n");
  }
}

}  // namespace

std::string DescribeExplanation(const v1::PlanExplanation& explanation) {
  std::string text;
  if (explanation.choices().empty()) return text;
  absl::StrAppend(&text, "time saved by each choice",
                  explanation.choices(0).stage() > 0 ? " in its stage" : "",
                  " (segments, type, configuration)\n");
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

std::string DescribeWaits(const v1::PipelineWaits& waits) {
  std::vector<TableRow> rows;
  for (int i = 0; i < waits.stages_size(); ++i) {
    const v1::StageWaits& it = waits.stages(i);
    rows.push_back({absl::StrCat(i + 1), FormatSeconds(it.busy_seconds()),
                    FormatSeconds(it.idle_seconds()),
                    FormatSeconds(it.tenth_saves_seconds())});
  }
  std::string text = FormatTable({{"stage", Align::kLeft},
                                  {"busy"},
                                  {"idle"},
                                  {"step saved by 10 % less work"}},
                                 rows);
  for (int i = 0; i < waits.boundary_seconds_size(); ++i) {
    absl::StrAppend(&text, "boundary ", i + 1, "-", i + 2, " adds ",
                    FormatSeconds(waits.boundary_seconds(i)), " to the step\n");
  }
  if (waits.shared_seconds() > 0) {
    absl::StrAppend(&text, "shared parameters add ",
                    FormatSeconds(waits.shared_seconds()), " to the step\n");
  }
  return text;
}

}  // namespace meshwright::cli
