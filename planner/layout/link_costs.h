// LinkCosts: the seconds of one step of a conversion.
//
// Concept: the search asks only this interface. AlphaBetaLinks is the model of
// base/link.h; MeasuredLinks (measured_links.h) reads a table of timings.
// The search is exact for any implementation that keeps two promises:
//   - more bytes never take less time, nor does a permute over more axes;
//   - equal content() gives equal times: it is part of the key of the cache.
// Units: seconds; bytes held per device before the step.
// Threads: const and safe from any thread.
// Errors: AlphaBetaLinks::Create gives kInvalidArgument, naming alpha[i] or
// beta[i], for a NaN, an infinity or a negative figure. It gives it, too, where
// there are more of one than of the other.
#ifndef MESHWRIGHT_PLANNER_LAYOUT_LINK_COSTS_H_
#define MESHWRIGHT_PLANNER_LAYOUT_LINK_COSTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/link.h"

namespace meshwright::layout {

enum class Op { kAllGather, kSlice, kAllToAll, kCollectivePermute };

const char* NameOp(Op op);  // "all-gather", ...

// Bit a: mesh axis a.
using AxisSet = uint32_t;

class LinkCosts {
 public:
  virtual ~LinkCosts() = default;

  // Along one axis of `devices` devices, at least two; a permute along all of
  // `axes`, one or more. Never asked for a slice, which is free.
  virtual double Seconds(Op op, AxisSet axes, int64_t devices,
                         int64_t bytes) const = 0;
  // The mesh axes that it has costs for.
  virtual int axis_count() const = 0;
  // Equal for links of equal costs; a part of cache keys.
  virtual const std::string& content() const = 0;
};

class AlphaBetaLinks : public LinkCosts {
 public:
  // Seconds per message and per byte, one of each per mesh axis.
  static absl::StatusOr<std::shared_ptr<const AlphaBetaLinks>> Create(
      const std::vector<double>& alpha, const std::vector<double>& beta);

  double Seconds(Op op, AxisSet axes, int64_t devices,
                 int64_t bytes) const override;
  int axis_count() const override { return static_cast<int>(links_.size()); }
  const std::string& content() const override { return content_; }

 private:
  AlphaBetaLinks(const std::vector<double>& alpha,
                 const std::vector<double>& beta);

  base::Links links_;
  std::string content_;
};

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_LINK_COSTS_H_
