#include "cli/text/plan_summary.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/text/format.h"
#include "cli/text/stages_text.h"
#include "cli/text/tame.h"

namespace meshwright::cli {
namespace {

// Of an interval that is wider than this share of the step, a reader learns
// nothing.
constexpr double kWidestInterval = 0.5;
constexpr int kNoteLines = 4;
constexpr int kIndent = 2;

using Lines = std::vector<std::string>;

// Of a text; a number and its unit are one.
std::vector<std::string> SplitWords(const std::string& text) {
  std::vector<std::string> words;
  bool is_number = false;
  for (const absl::string_view word :
       absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (is_number) {
      absl::StrAppend(&words.back(), " ", word);
    } else {
      words.emplace_back(word);
    }
    is_number = !is_number && absl::ascii_isdigit(word.back());
  }
  return words;
}

// Words in lines of kSummaryColumns; a word that is longer has its own.
Lines Wrap(const std::string& head, const std::string& text) {
  const std::string indent(head.size(), ' ');
  Lines lines = {head};
  bool is_open = false;
  for (const std::string& word : SplitWords(text)) {
    if (is_open && lines.back().size() + 1 + word.size() > kSummaryColumns) {
      lines.push_back(indent);
      is_open = false;
    }
    absl::StrAppend(&lines.back(), is_open ? " " : "", word);
    is_open = true;
  }
  return lines;
}

// At most so many of them, the last one with dots.
Lines Shorten(Lines lines, size_t count) {
  if (lines.size() <= count) return lines;
  lines.resize(count);
  std::string& last = lines.back();
  last = absl::StrCat(last.substr(0, kSummaryColumns - 4), " ...");
  return lines;
}

void Append(Lines more, Lines* lines) {
  lines->insert(lines->end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

void AppendRow(const std::string& label, const std::string& text,
               Lines* lines) {
  Append(Wrap(absl::StrFormat("%*s%-9s  ", kIndent, "", label), text), lines);
}

bool IsWide(const v1::PlanPrediction& predicted) {
  return predicted.interval_seconds(1) - predicted.interval_seconds(0) >
         kWidestInterval * predicted.step_seconds();
}

bool Holds(const v1::Plan& plan, v1::Noise noise) {
  return std::find(plan.noise().begin(), plan.noise().end(), noise) !=
         plan.noise().end();
}

std::string NameCause(const v1::Plan& plan) {
  if (Holds(plan, v1::BUSY_MACHINE)) return "the machine was busy";
  if (Holds(plan, v1::THROTTLED)) return "heat or power held the clocks down";
  if (Holds(plan, v1::SLOW_PERIOD)) return "the machine was slow for a while";
  return "the measurements vary too much";
}

std::string DescribeCertainty(const v1::Plan& plan,
                              const std::string& remeasure) {
  const v1::PlanPrediction& predicted = plan.predicted();
  const std::string again =
      remeasure.empty() ? "plan again on a quiet machine"
                        : absl::StrCat("measure again with `", remeasure, "`");
  if (predicted.interval_seconds_size() != 2) {
    return "none: the times are estimated; compare them with each other alone";
  }
  if (IsWide(predicted)) return absl::StrCat(NameCause(plan), ": ", again);
  std::string range = absl::StrCat(
      "the step takes ", FormatSeconds(predicted.interval_seconds(0)), " to ",
      FormatSeconds(predicted.interval_seconds(1)), " if it is measured again");
  switch (plan.quality()) {
    case v1::NOISY:
      return absl::StrCat("fair: ", range, "; ", NameCause(plan), ": ", again);
    case v1::SUSPECT:
      return absl::StrCat(
          "poor: programs of this plan took another time before; ", again);
    case v1::GOOD:
      return absl::StrCat("good: ", range);
    default:
      return range;
  }
}

std::optional<std::string> DescribeOptimum(const v1::Plan& plan) {
  if (plan.device() == "symbolic") return std::nullopt;
  std::string text =
      plan.gap() < 5e-5 ? "no plan is faster"
                        : absl::StrFormat("no plan is more than %.2f %% faster",
                                          plan.gap() * 100);
  if (plan.not_reached_size() == 0) return text;
  return absl::StrCat(text, "; ", plan.not_reached_size(),
                      " configurations count at their estimates");
}

std::optional<std::string> DescribeEffort(const v1::Plan& plan) {
  const v1::PlanPrograms& programs = plan.programs();
  if (plan.device() == "symbolic" || programs.estimated() > 0) {
    return std::nullopt;
  }
  std::string text = absl::StrCat(programs.profiled(), " measured, ",
                                  programs.cached(), " known before");
  if (programs.failed() > 0) {
    absl::StrAppend(&text, ", ", programs.failed(), " failed");
  }
  return absl::StrCat(text, ", in ", FormatSeconds(plan.seconds().total()));
}

// A part that takes no time is left out.
std::string DescribeStepTime(const v1::PlanPrediction& predicted) {
  std::string text =
      absl::StrCat(FormatSeconds(predicted.step_seconds()), " (compute ",
                   FormatSeconds(predicted.compute_seconds()));
  const auto add = [&](const char* part, double seconds) {
    if (seconds > 0) {
      absl::StrAppend(&text, ", ", part, " ", FormatSeconds(seconds));
    }
  };
  add("communication",
      predicted.communication_seconds() - predicted.resharding_seconds());
  add("resharding", predicted.resharding_seconds());
  return absl::StrCat(text, ")");
}

Lines DescribeFigures(const v1::Plan& plan, const std::string& remeasure) {
  Lines lines;
  if (!plan.feasible()) {
    AppendRow("memory",
              absl::StrCat("infeasible: the smallest plan found needs ",
                           FormatBytes(plan.least_memory_bytes()),
                           " per device, but the limit is ",
                           FormatBytes(plan.limit_bytes())),
              &lines);
    return lines;
  }
  if (!plan.has_predicted()) return lines;
  const v1::PlanPrediction& predicted = plan.predicted();
  AppendRow("step", DescribeStepTime(predicted), &lines);
  std::string memory =
      absl::StrCat(FormatBytes(predicted.peak_bytes()), " per device");
  if (plan.limit_bytes() > 0) {
    absl::StrAppend(&memory, " of ", FormatBytes(plan.limit_bytes()));
  }
  AppendRow("memory", memory, &lines);
  AppendRow("certainty", DescribeCertainty(plan, remeasure), &lines);
  if (const auto optimum = DescribeOptimum(plan)) {
    AppendRow("optimum", *optimum, &lines);
  }
  if (plan.has_pipeline()) {
    AppendRow("pipeline",
              absl::StrFormat("%d stages, %s, %d micro-batches, bubble %.1f %%",
                              plan.stages_size(), plan.pipeline().schedule(),
                              plan.pipeline().micro_batches(),
                              100 * plan.pipeline().bubble()),
              &lines);
  }
  if (const auto effort = DescribeEffort(plan)) {
    AppendRow("programs", *effort, &lines);
  }
  return lines;
}

// The segments of all stages, a line for each run, in `room` lines.
Lines ListSegments(const v1::Plan& plan, size_t room) {
  std::string text;
  DescribeSegments("segments", plan.segments(), 0, &text);
  for (const v1::PlanStage& stage : plan.stages()) {
    DescribeSegments(
        absl::StrCat("segments on mesh ", absl::StrJoin(stage.mesh(), "x")),
        stage.segments(), stage.first_segment(), &text);
  }
  Lines lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  for (std::string& line : lines) {
    if (line.size() > kSummaryColumns) {
      line = absl::StrCat(line.substr(0, kSummaryColumns - 4), " ...");
    }
  }
  if (lines.size() <= room) return lines;
  if (room < 3) return {};
  const size_t more = lines.size() - (room - 1);
  lines.resize(room - 1);
  lines.push_back(absl::StrCat("  and ", more, " lines more"));
  return lines;
}

Lines ListNotes(const v1::Plan& plan) {
  Lines lines;
  for (int i = 0; i < plan.notes_size(); ++i) {
    Lines note = Shorten(Wrap("note: ", Tame(plan.notes(i))), 2);
    if (lines.size() + note.size() > kNoteLines) {
      lines.push_back(
          absl::StrCat("and ", plan.notes_size() - i, " notes more"));
      break;
    }
    Append(std::move(note), &lines);
  }
  return lines;
}

Lines ListNext(const std::vector<NextStep>& next) {
  if (next.empty()) return {};
  size_t width = 0;
  for (const NextStep& step : next) {
    width = std::max(width, step.purpose.size());
  }
  Lines lines = {"next"};
  for (const NextStep& step : next) {
    lines.push_back(absl::StrFormat("%*s%-*s  %s", kIndent, "", width,
                                    step.purpose, step.command));
  }
  return lines;
}

// As many as a terminal shows.
size_t CountLines(const Lines& lines) {
  size_t count = 0;
  for (const std::string& line : lines) {
    count += std::max<size_t>(
        1, (line.size() + kSummaryColumns - 1) / kSummaryColumns);
  }
  return count;
}

}  // namespace

std::string SummarizePlan(const v1::Plan& plan,
                          const std::vector<NextStep>& next,
                          const std::string& remeasure) {
  Lines lines = Shorten(
      Wrap("", absl::StrFormat("%s on %s %s (%s)", Tame(plan.model().name()),
                               plan.has_pipeline() ? "cluster" : "mesh",
                               absl::StrJoin(plan.mesh(), "x"),
                               Tame(plan.device()))),
      1);
  Append(DescribeFigures(plan, remeasure), &lines);
  Lines end = ListNotes(plan);
  Append(ListNext(next), &end);
  const size_t used = CountLines(lines) + CountLines(end);
  // A terminal keeps a line for its prompt.
  if (used + 1 < kSummaryLines) {
    Append(ListSegments(plan, kSummaryLines - 1 - used), &lines);
  }
  Append(std::move(end), &lines);
  return absl::StrCat(absl::StrJoin(lines, "\n"), "\n");
}

}  // namespace meshwright::cli
