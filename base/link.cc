#include "base/link.h"

namespace meshwright::base {

Collective ParseCollective(std::string_view name) {
  if (name == "all-gather") return Collective::kAllGather;
  if (name == "reduce-scatter") return Collective::kReduceScatter;
  if (name == "all-reduce") return Collective::kAllReduce;
  if (name == "collective-permute") return Collective::kCollectivePermute;
  return Collective::kAllToAll;
}

double EstimateCollectiveSeconds(Collective collective, int64_t devices,
                                 double bytes, const Link& link) {
  if (devices <= 1) return 0;
  const auto n = static_cast<double>(devices);
  const double whole = link.alpha + bytes * link.beta;
  const double shard = link.alpha + bytes / n * link.beta;
  switch (collective) {
    case Collective::kAllGather:
      return (n - 1) * whole;
    case Collective::kAllReduce:
      return 2 * (n - 1) * shard;
    case Collective::kReduceScatter:
    case Collective::kAllToAll:
      return (n - 1) * shard;
    case Collective::kCollectivePermute:
      break;
  }
  return whole;
}

}  // namespace meshwright::base
