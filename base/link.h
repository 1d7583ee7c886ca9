// Link: the alpha-beta model of a link, and what a collective costs on it.
//
//   all-gather          (n-1) (alpha + b beta)
//   reduce-scatter      (n-1) (alpha + b/n beta)
//   all-reduce          2 (n-1) (alpha + b/n beta)
//   all-to-all          (n-1) (alpha + b/n beta)
//   collective-permute  alpha + b beta
//
// with n devices and b bytes held per device before the step; on one device
// everything is free. A step over several mesh axes takes the largest alpha and
// the largest beta of them.
// Units: seconds, seconds per byte. Threads: pure functions.
// Source: docs/formats/links.md.
#ifndef MESHWRIGHT_BASE_LINK_H_
#define MESHWRIGHT_BASE_LINK_H_

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace meshwright::base {

struct Link {
  double alpha = 0;  // seconds
  double beta = 0;   // seconds per byte
};

using Links = std::vector<Link>;  // by mesh axis

enum class Collective {
  kAllGather,
  kReduceScatter,
  kAllReduce,
  kAllToAll,
  kCollectivePermute,
};

// The largest alpha and beta of the two.
inline Link TakeSlowest(const Link& a, const Link& b) {
  return {std::max(a.alpha, b.alpha), std::max(a.beta, b.beta)};
}

// `name` as XLA writes it ("all-gather"); any other counts as an all-to-all.
Collective ParseCollective(std::string_view name);

double EstimateCollectiveSeconds(Collective collective, int64_t devices,
                                 double bytes, const Link& link);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_LINK_H_
