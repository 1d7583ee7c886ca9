// Tables for people.
//
// Concept: a table is columns and rows of text. A column is as wide as its
// longest cell; two spaces separate columns, and no line ends with spaces. A
// row with fewer cells than columns is complete. Its last cell is a remark that
// may run over the columns after it and makes none of them wider.
#ifndef MESHWRIGHT_CLI_TEXT_TABLE_H_
#define MESHWRIGHT_CLI_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace meshwright::cli {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kRight;
};

using TableRow = std::vector<std::string>;

// Titles come first unless all are empty; `indent` spaces begin every line.
std::string FormatTable(const std::vector<Column>& columns,
                        const std::vector<TableRow>& rows, int indent = 0);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TEXT_TABLE_H_
