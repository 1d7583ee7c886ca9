#include "cli/text/pipeline_text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/text/format.h"
#include "cli/text/table.h"
#include "planner/pipeline/timeline.h"

namespace meshwright::cli {
namespace {

using pipeline::Delivery;
using pipeline::Figures;
using pipeline::OperationKind;
using pipeline::Picoseconds;
using pipeline::PipelineAnswer;
using pipeline::Span;
using pipeline::Timeline;

constexpr int kColumns = 90;     // of the timeline; its labels take up to ten
constexpr size_t kMaxRows = 64;  // of a table or a timeline

std::string Time(Picoseconds time) {
  return FormatSeconds(problem::ToSeconds(time));
}

char Mark(const pipeline::Operation& operation, bool few) {
  const auto k = static_cast<char>(operation.micro_batch);
  switch (operation.kind) {
    case OperationKind::kForward:
      return few ? static_cast<char>('0' + k) : 'f';
    case OperationKind::kBackward:
    case OperationKind::kBackwardInput:
      return few ? static_cast<char>('a' + k) : 'b';
    case OperationKind::kBackwardWeight:
      return few ? static_cast<char>('A' + k) : 'W';
  }
  return '?';
}

// One row: in each column what fills most of it, if half of it is filled.
class Row {
 public:
  explicit Row(Picoseconds step)
      : step_(static_cast<double>(step.count())), parts_(kColumns) {}

  void Add(Picoseconds start, Picoseconds end, char mark) {
    const double from = Column(start);
    const double to = Column(end);
    for (int column = static_cast<int>(from); column < kColumns && column < to;
         ++column) {
      parts_[column][mark] +=
          std::min(to, column + 1.0) - std::max(from, column + 0.0);
    }
  }

  std::string Text() const {
    std::string text(kColumns, '.');
    for (int column = 0; column < kColumns; ++column) {
      double filled = 0;
      double max_part = 0;
      char mark = '.';
      for (const auto& [other, part] : parts_[column]) {
        filled += part;
        if (part <= max_part) continue;
        max_part = part;
        mark = other;
      }
      if (filled >= 0.5) text[column] = mark;
    }
    return text;
  }

 private:
  double Column(Picoseconds time) const {
    return static_cast<double>(time.count()) / step_ * kColumns;
  }

  const double step_;
  std::vector<std::map<char, double>> parts_;
};

void AppendTimeline(const PipelineAnswer& answer, std::string& out) {
  const Timeline& timeline = answer.choice.chosen->timeline;
  if (timeline.step.count() == 0) return;
  const bool few = answer.problem.micro_batches <= 10;
  absl::StrAppend(&out, "timeline (",
                  few ? "0 forward of micro-batch 0, a its backward, A of its "
                        "weights alone"
                      : "f forward, b backward, W of the weights alone",
                  answer.problem.overlap ? ")\n" : ", ~ transfer)\n");
  const size_t stages = std::min(kMaxRows, timeline.stages.size());
  for (size_t i = 0; i < stages; ++i) {
    Row row(timeline.step);
    for (const Span& span : timeline.stages[i]) {
      row.Add(span.start, span.end, Mark(span.operation, few));
    }
    if (!answer.problem.overlap) {
      for (const auto* links :
           {&timeline.forward_links, &timeline.backward_links}) {
        for (const size_t link : {i, i - 1}) {
          if (link >= links->size()) continue;
          for (const Delivery& delivery : (*links)[link]) {
            row.Add(delivery.start, delivery.end, '~');
          }
        }
      }
    }
    absl::StrAppend(&out, absl::StrFormat("%4d |%s|\n", i + 1, row.Text()));
  }
  if (stages < timeline.stages.size()) {
    absl::StrAppend(&out, "     and ", timeline.stages.size() - stages,
                    " more\n");
  }
}

void AppendSchedules(const PipelineAnswer& answer, std::string& out) {
  if (answer.choice.tried.empty()) return;
  std::vector<TableRow> rows;
  for (const Figures& figures : answer.choice.tried) {
    const int64_t peak =
        *std::max_element(figures.peak_bytes.begin(), figures.peak_bytes.end());
    rows.push_back({std::string(Name(figures.schedule)), Time(figures.step),
                    absl::StrFormat("%.1f %%", 100 * figures.bubble),
                    FormatBytes(peak), figures.fits ? "" : "does not fit"});
  }
  absl::StrAppend(&out, FormatTable({{"schedule", Align::kLeft},
                                     {"step"},
                                     {"bubble"},
                                     {"peak memory"},
                                     {"", Align::kLeft}},
                                    rows));
}

void AppendStages(const PipelineAnswer& answer, std::string& out) {
  const std::vector<int64_t>& peaks = answer.choice.chosen->figures.peak_bytes;
  const bool cut = answer.partition.has_value();
  std::vector<TableRow> rows;
  for (size_t i = 0; i < std::min(kMaxRows, peaks.size()); ++i) {
    const pipeline::Stage& stage = answer.problem.stages[i];
    const auto backward =
        ComputeBackward(answer.choice.chosen->figures.schedule, stage);
    TableRow& row = rows.emplace_back(
        TableRow{absl::StrCat(i + 1), Time(stage.forward), Time(backward),
                 FormatBytes(peaks[i]), "", ""});
    if (!cut) continue;
    const auto& part = (*answer.partition->partition)[i];
    row[4] = FormatRange(part.first, part.end - 1);
    row[5] = absl::StrCat(answer.meshes[part.mesh].devices);
  }
  absl::StrAppend(&out, FormatTable({{"stage", Align::kLeft},
                                     {"forward"},
                                     {"backward"},
                                     {"peak memory"},
                                     {cut ? "segments" : "", Align::kLeft},
                                     {cut ? "devices" : ""}},
                                    rows));
}

}  // namespace

std::string DescribePipelineAnswer(const PipelineAnswer& answer) {
  std::string out;
  const auto& chosen = answer.choice.chosen;
  if (chosen.has_value()) {
    absl::StrAppend(&out, std::string(Name(chosen->figures.schedule)), ": ",
                    Time(chosen->figures.step), " per step, lower bound ",
                    Time(answer.choice.lower_bound), "\n");
  } else if (answer.min_bytes.empty()) {
    out +=
        "infeasible: the devices do not suffice for meshes that run all "
        "segments\n";
  } else {
    const auto listed = [](const std::vector<int64_t>& bytes) {
      return absl::StrJoin(bytes, ", ", [](std::string* text, int64_t b) {
        text->append(FormatBytes(b));
      });
    };
    absl::StrAppend(&out, "infeasible: the stages need ",
                    listed(answer.min_bytes), ", but the limit is ",
                    listed(answer.limit_bytes), "\n");
  }
  AppendSchedules(answer, out);
  if (!chosen.has_value()) return out;
  AppendStages(answer, out);
  AppendTimeline(answer, out);
  return out;
}

}  // namespace meshwright::cli
