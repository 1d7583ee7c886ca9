#include "planner/cluster/classes.h"

#include <algorithm>
#include <numeric>

#include "planner/cluster/cluster.h"

namespace meshwright::cluster {
namespace {

using Members = std::vector<size_t>;

// Cuts the members, in the order of `figure`, where it jumps.
template <typename Figure>
std::vector<Members> CutAtJumps(Members members, const Figure& figure,
                                double share, double least) {
  std::stable_sort(members.begin(), members.end(),
                   [&](size_t a, size_t b) { return figure(a) < figure(b); });
  std::vector<Members> parts;
  double before = 0;
  for (const size_t member : members) {
    const double value = figure(member);
    if (parts.empty() || value - before > std::max(share * before, least)) {
      parts.emplace_back();
    }
    parts.back().push_back(member);
    before = value;
  }
  return parts;
}

}  // namespace

std::vector<std::vector<size_t>> GroupIntoClasses(
    const std::vector<base::Link>& links, const ClassTolerance& tolerance) {
  Members all(links.size());
  std::iota(all.begin(), all.end(), size_t{0});
  std::vector<Members> classes;
  const auto beta = [&](size_t i) { return links[i].beta; };
  const auto alpha = [&](size_t i) { return links[i].alpha; };
  for (Members& alike : CutAtJumps(std::move(all), beta, tolerance.beta, 0)) {
    for (Members& part : CutAtJumps(std::move(alike), alpha, tolerance.alpha,
                                    tolerance.alpha_seconds)) {
      std::sort(part.begin(), part.end());
      classes.push_back(std::move(part));
    }
  }
  const auto median = [&](const Members& members) {
    std::vector<double> seconds;
    for (const size_t i : members) {
      seconds.push_back(ComputeReferenceSeconds(links[i]));
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  };
  std::stable_sort(classes.begin(), classes.end(),
                   [&](const Members& a, const Members& b) {
                     return median(a) < median(b);
                   });
  return classes;
}

}  // namespace meshwright::cluster
