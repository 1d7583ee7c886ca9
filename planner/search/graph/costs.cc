#include "planner/search/graph/costs.h"

#include <utility>

namespace meshwright::search {
namespace {

constexpr int64_t kMaxMultiplier = int64_t{1} << 60;

}  // namespace

Extent FindExtent(const Matrix& matrix) {
  Extent extent;
  for (const Cost entry : matrix.entries) {
    const bool is_never = entry >= kNever;
    extent.min = std::min(extent.min, entry);
    extent.max = std::max(extent.max, is_never ? 0 : entry);
    extent.has_never = extent.has_never | is_never;
  }
  return extent;
}

int MatrixSet::Add(Matrix matrix) {
  extents.push_back(FindExtent(matrix));
  all.push_back(std::move(matrix));
  return static_cast<int>(all.size()) - 1;
}

int64_t FindMultiplier(Cost time, int64_t bytes) {
  if (time <= 0 || bytes <= 0) return 0;
  const __int128 rise = static_cast<__int128>(time) << kMultiplierShift;
  return static_cast<int64_t>(std::min<__int128>(rise / bytes, kMaxMultiplier));
}

}  // namespace meshwright::search
