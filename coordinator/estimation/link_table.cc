#include "coordinator/estimation/link_table.h"

namespace meshwright::estimation {

double CollectiveSeconds(std::string_view kind, int64_t devices, double bytes,
                         const Link& link) {
  if (devices <= 1) return 0;
  const auto n = static_cast<double>(devices);
  const double whole = link.alpha + bytes * link.beta;
  const double shard = link.alpha + bytes / n * link.beta;
  if (kind == "collective-permute") return whole;
  if (kind == "all-gather") return (n - 1) * whole;
  if (kind == "all-reduce") return 2 * (n - 1) * shard;
  return (n - 1) * shard;
}

}  // namespace meshwright::estimation
