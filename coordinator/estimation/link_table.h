// LinkTable: latency and bandwidth of every mesh axis, and the time of a
// collective on it.
//
//   all-gather          (n-1) (alpha + b beta)
//   reduce-scatter      (n-1) (alpha + b/n beta)
//   all-reduce          2 (n-1) (alpha + b/n beta)
//   all-to-all          (n-1) (alpha + b/n beta)
//   collective-permute  alpha + b beta
//
// with n devices and b bytes held per device before the step; on one device
// everything is free.
// Units: seconds, seconds per byte.
// Source: design, section 8 (Link).
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_LINK_TABLE_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_LINK_TABLE_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace meshwright::estimation {

struct Link {
  double alpha = 0;
  double beta = 0;
};

using LinkTable = std::vector<Link>;  // by mesh axis

// `kind` as XLA names it; one that is not in the table above counts as an
// all-to-all.
double CollectiveSeconds(std::string_view kind, int64_t devices, double bytes,
                         const Link& link);

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_LINK_TABLE_H_
