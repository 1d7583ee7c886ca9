#include "cli/text/table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/text/tame.h"

namespace meshwright::cli {

std::string FormatTable(const std::vector<Column>& columns,
                        const std::vector<TableRow>& rows, int indent) {
  std::vector<TableRow> lines(1);
  bool titled = false;
  for (const Column& column : columns) {
    lines[0].push_back(column.title);
    titled = titled || !column.title.empty();
  }
  if (!titled) lines.clear();
  lines.insert(lines.end(), rows.begin(), rows.end());
  for (TableRow& line : lines) {
    for (std::string& cell : line) cell = Tame(std::move(cell));
  }

  std::vector<size_t> widths(columns.size());
  for (const TableRow& line : lines) {
    const size_t aligned =
        line.size() < columns.size() ? line.size() - 1 : columns.size();
    for (size_t i = 0; i < aligned; ++i) {
      widths[i] = std::max(widths[i], line[i].size());
    }
  }
  std::string text;
  for (const TableRow& line : lines) {
    std::string written(indent, ' ');
    for (size_t i = 0; i < line.size(); ++i) {
      const bool remark = i + 1 == line.size() && line.size() < columns.size();
      const std::string pad(
          remark ? 0 : widths[i] - std::min(widths[i], line[i].size()), ' ');
      const bool right = columns[i].align == Align::kRight;
      absl::StrAppend(&written, i == 0 ? "" : "  ", right ? pad : "", line[i],
                      right ? "" : pad);
    }
    absl::StripTrailingAsciiWhitespace(&written);
    absl::StrAppend(&text, written, "\n");
  }
  return text;
}

}  // namespace meshwright::cli
