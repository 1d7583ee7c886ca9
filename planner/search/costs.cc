#include "planner/search/costs.h"

#include <utility>

#include "planner/search/min_plus.h"

namespace meshwright::search {
namespace {

constexpr int64_t kDearest = int64_t{1} << 60;

}  // namespace

Extent ExtentOf(const Matrix& matrix) {
  Extent extent;
  for (const Cost entry : matrix.entries) {
    const bool is_never = entry >= kNever;
    extent.least = std::min(extent.least, entry);
    extent.most = std::max(extent.most, is_never ? 0 : entry);
    extent.has_never = extent.has_never | is_never;
  }
  return extent;
}

int MatrixSet::Add(Matrix matrix) {
  extents.push_back(ExtentOf(matrix));
  all.push_back(std::move(matrix));
  return static_cast<int>(all.size()) - 1;
}

int64_t PriceBetween(Cost time, int64_t bytes) {
  if (time <= 0 || bytes <= 0) return 0;
  const __int128 rise = static_cast<__int128>(time) << kPriceShift;
  return static_cast<int64_t>(std::min<__int128>(rise / bytes, kDearest));
}

std::vector<Cost> MinPlus(const Link& link, const std::vector<Cost>& next) {
  const Matrix& matrix = *link.matrix;
  const Rows rows{matrix.entries.data(), matrix.columns, matrix.rows,
                  matrix.columns};
  if (link.transposed) {
    std::vector<Cost> out(matrix.columns, kNever);
    MinOverRows(rows, next.data(), out.data());
    return out;
  }
  std::vector<Cost> out(matrix.rows);
  MinOverColumns(rows, next.data(), out.data());
  return out;
}

}  // namespace meshwright::search
