// MeasuredLinks: step times read from a table of timings.
//
// Concept: rows are timings of one operation along one axis with some bytes
// per device. Between two rows the time is on the line between them. Below the
// first it is that of the first; above the last it grows in proportion to the
// bytes. A permute over several axes takes as long as the slowest of them. A
// row that is faster than one of fewer bytes is noise, and is raised to it.
// In → Out: rows in any order → link costs for one mesh.
// Errors: kInvalidArgument that names the row, links[i], or the operation and
// axis that has none.
#ifndef MESHWRIGHT_PLANNER_LAYOUT_MEASURED_LINKS_H_
#define MESHWRIGHT_PLANNER_LAYOUT_MEASURED_LINKS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/layout/link_costs.h"

namespace meshwright::layout {

struct LinkTiming {
  Op op = Op::kAllGather;  // not a slice
  int axis = 0;
  int64_t bytes = 0;  // held per device before the step, at least 1
  double seconds = 0;
};

class MeasuredLinks : public LinkCosts {
 public:
  // Every axis of two devices or more needs a row of each operation.
  static absl::StatusOr<std::shared_ptr<const MeasuredLinks>> Create(
      const std::vector<int64_t>& mesh, std::vector<LinkTiming> rows);

  double Seconds(Op op, AxisSet axes, int64_t devices,
                 int64_t bytes) const override;
  int axis_count() const override { return static_cast<int>(curves_.size()); }
  const std::string& content() const override { return content_; }

 private:
  struct Point {
    double bytes = 0;
    double seconds = 0;
  };
  using Curve = std::vector<Point>;  // by bytes, rising

  MeasuredLinks(size_t axes, const std::vector<LinkTiming>& rows);
  static double At(const Curve& curve, double bytes);

  std::vector<std::array<Curve, 4>> curves_;  // by axis and operation
  std::string content_;
};

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_MEASURED_LINKS_H_
