#include "planner/layout/measured_links.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::layout {
namespace {

constexpr Op kTimed[] = {Op::kAllGather, Op::kAllToAll, Op::kCollectivePermute};

absl::Status CheckRow(const LinkTiming& row, size_t axes,
                      const std::string& field) {
  const auto bad = [&](const std::string& fault) {
    return absl::InvalidArgumentError(absl::StrCat(field, fault));
  };
  if (row.op == Op::kSlice) return bad(".op is slice, which is always free");
  if (row.axis < 0 || row.axis >= static_cast<int>(axes)) {
    return bad(absl::StrCat(".axis is ", row.axis, "; the mesh has axes 0 to ",
                            axes - 1));
  }
  if (row.bytes < 1) {
    return bad(absl::StrCat(".bytes is ", row.bytes, "; give at least 1"));
  }
  if (!std::isfinite(row.seconds) || row.seconds < 0) {
    return bad(".seconds is negative or not finite; give the time of the step");
  }
  return {};
}

}  // namespace

absl::StatusOr<std::shared_ptr<const MeasuredLinks>> MeasuredLinks::Create(
    const std::vector<int64_t>& mesh, std::vector<LinkTiming> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    RETURN_IF_ERROR(
        CheckRow(rows[i], mesh.size(), absl::StrCat("links[", i, "]")));
  }
  const auto order = [](const LinkTiming& row) {
    return std::tie(row.axis, row.op, row.bytes, row.seconds);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const LinkTiming& a, const LinkTiming& b) {
              return order(a) < order(b);
            });
  std::shared_ptr<const MeasuredLinks> links(
      new MeasuredLinks(mesh.size(), rows));
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    for (const Op op : kTimed) {
      if (mesh[axis] > 1 &&
          links->curves_[axis][static_cast<int>(op)].empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("links has no row of ", NameOp(op), " along axis ",
                         axis, "; time it with at least one size"));
      }
    }
  }
  return links;
}

MeasuredLinks::MeasuredLinks(size_t axes, const std::vector<LinkTiming>& rows)
    : curves_(axes), content_("measured") {
  for (const LinkTiming& row : rows) {
    Curve& curve = curves_[row.axis][static_cast<int>(row.op)];
    double seconds = row.seconds + 0.0;
    if (!curve.empty()) seconds = std::max(seconds, curve.back().seconds);
    curve.push_back({static_cast<double>(row.bytes), seconds});
    absl::StrAppend(&content_, ",", row.axis, ",", static_cast<int>(row.op),
                    ",", row.bytes, ",", std::bit_cast<uint64_t>(seconds));
  }
}

double MeasuredLinks::At(const Curve& curve, double bytes) {
  const auto above = std::upper_bound(
      curve.begin(), curve.end(), bytes,
      [](double value, const Point& point) { return value < point.bytes; });
  if (above == curve.begin()) return above->seconds;
  const Point& below = *(above - 1);
  if (above == curve.end()) {
    return below.seconds * std::max(1.0, bytes / below.bytes);
  }
  return below.seconds +
         (above->seconds - below.seconds) *
             ((bytes - below.bytes) / (above->bytes - below.bytes));
}

double MeasuredLinks::Seconds(Op op, AxisSet axes, int64_t /*devices*/,
                              int64_t bytes) const {
  double seconds = 0;
  for (AxisSet rest = axes; rest != 0; rest &= rest - 1) {
    const Curve& curve = curves_[std::countr_zero(rest)][static_cast<int>(op)];
    if (curve.empty()) continue;  // an axis of one device
    seconds = std::max(seconds, At(curve, static_cast<double>(bytes)));
  }
  return seconds;
}

}  // namespace meshwright::layout
