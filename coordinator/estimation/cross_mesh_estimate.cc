#include "coordinator/estimation/cross_mesh_estimate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "coordinator/estimation/noise_interval.h"
#include "profiledb/store/row_time.h"

namespace meshwright::estimation {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

struct Group {
  int64_t before = 1;  // devices on the measured mesh
  int64_t after = 1;
  base::Link link;  // of all its axes
};

// Every set of axes whose devices make a group of the size. Where none does, a
// group is part of the smallest sets that are larger, on either mesh alike.
std::vector<Group> ListGroups(int64_t size, const Rescaling& it,
                              const base::Links& links) {
  if (size <= 1) return {};
  std::vector<size_t> axes;  // at most twelve have two devices or more
  for (size_t axis = 0; axis < it.from.size(); ++axis) {
    if (it.from[axis] > 1) axes.push_back(axis);
  }
  std::vector<Group> groups;
  for (uint32_t set = 1; set < (uint32_t{1} << axes.size()); ++set) {
    Group group;
    for (size_t i = 0; i < axes.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      group.before *= it.from[axes[i]];
      group.after *= it.to[axes[i]];
      group.link = base::TakeSlowest(group.link, links[axes[i]]);
    }
    if (group.before < size) continue;
    if (!groups.empty() && group.before > groups[0].before) continue;
    if (!groups.empty() && group.before < groups[0].before) groups.clear();
    groups.push_back(group);
  }
  for (Group& group : groups) {
    group.after = std::max<int64_t>(1, group.after * size / group.before);
    group.before = size;
  }
  return groups;
}

// Bytes held before the step, of a collective with this result.
double BytesBefore(const v1::Collective& it, double devices_measured,
                   double devices) {
  const auto bytes = static_cast<double>(it.bytes());
  if (it.kind() == "all-gather") return bytes / devices;
  if (it.kind() == "reduce-scatter") return bytes * devices_measured;
  if (it.kind() == "all-reduce") return bytes;
  return bytes * devices_measured / devices;
}

// All collectives of the program, on either mesh.
double CommunicationSeconds(const v1::Measurement& measured,
                            const Rescaling& it, const base::Links& links,
                            bool after) {
  double seconds = 0;
  for (const v1::Collective& collective : measured.collectives()) {
    double largest = 0;
    for (const Group& group : ListGroups(collective.group_size(), it, links)) {
      const int64_t devices = after ? group.after : group.before;
      largest = std::max(
          largest,
          base::EstimateCollectiveSeconds(
              base::ParseCollective(collective.kind()), devices,
              BytesBefore(collective, static_cast<double>(group.before),
                          static_cast<double>(devices)),
              group.link));
    }
    seconds += largest * static_cast<double>(collective.count());
  }
  return seconds;
}

// Links and collectives may be anyone's, and the picoseconds of a sum with a
// row's own time fit into 64 bits.
int64_t RoundTime(double nanoseconds) {
  constexpr double kLongest = 5e14;
  return nanoseconds < kLongest ? std::llround(nanoseconds)
                                : static_cast<int64_t>(kLongest);
}

double DivideOrOne(double to, double from) { return from > 0 ? to / from : 1; }

}  // namespace

void AddLinkTimes(const space::Mesh& mesh, const base::Links& links,
                  v1::ProfileResult& row) {
  if (row.outcome() != v1::MEASURED) return;
  v1::Measurement& it = *row.mutable_measurement();
  const Rescaling same{.from = mesh, .to = mesh, .links = links};
  const int64_t communication = RoundTime(
      CommunicationSeconds(it, same, links, true) * kNanosecondsPerSecond);
  const int64_t more = communication - it.communication_ns();
  if (it.time_ns() > 0) it.set_time_ns(it.time_ns() + more);
  it.set_median_ns(std::max(it.median_ns(), it.minimum_ns()) + more);
  it.set_minimum_ns(it.minimum_ns() + more);
  it.set_communication_ns(communication);
  for (int64_t& sample : *it.mutable_samples_ns()) sample += more;
  for (int64_t& time : *it.mutable_quantiles_ns()) time += more;
  it.set_estimate_error_ns(std::max<int64_t>(
      1,
      std::llround(kScalingUncertainty * static_cast<double>(communication))));
}

v1::Measurement EstimateAcrossMeshes(const v1::Measurement& measured,
                                     const Work& from, const Work& to,
                                     const Rescaling& rescaling) {
  const auto communication = static_cast<double>(measured.communication_ns());
  const double compute =
      static_cast<double>(store::GetTimeNs(measured)) - communication;
  const double scaled_compute = compute * DivideOrOne(to.total(), from.total());
  double scaled_communication = 0;
  if (rescaling.links.has_value()) {
    scaled_communication =
        CommunicationSeconds(measured, rescaling, *rescaling.links, true) *
        kNanosecondsPerSecond;
  } else {
    const base::Links even(rescaling.from.size(), base::Link{.beta = 1});
    scaled_communication =
        communication *
        DivideOrOne(CommunicationSeconds(measured, rescaling, even, true),
                    CommunicationSeconds(measured, rescaling, even, false));
  }
  const double total = scaled_compute + scaled_communication;
  const double spread =
      EstimateNoiseNs(measured) *
      DivideOrOne(total, static_cast<double>(store::GetTimeNs(measured)));
  const double uncertainty =
      kScalingUncertainty * (std::abs(scaled_compute - compute) +
                             std::abs(scaled_communication - communication));
  v1::Measurement scaled;
  scaled.set_minimum_ns(RoundTime(total));
  scaled.set_median_ns(scaled.minimum_ns());
  scaled.set_communication_ns(RoundTime(scaled_communication));
  scaled.set_compute_ns(scaled.minimum_ns() - scaled.communication_ns());
  scaled.set_estimate_error_ns(
      std::max<int64_t>(1, RoundTime(spread + uncertainty)));
  const auto scale_bytes = [&](int64_t bytes) {
    return std::llround(static_cast<double>(bytes) *
                        DivideOrOne(to.bytes, from.bytes));
  };
  v1::DeviceMemory& memory = *scaled.mutable_memory();
  memory.set_temporary_bytes(scale_bytes(measured.memory().temporary_bytes()));
  memory.set_argument_copy_bytes(
      scale_bytes(measured.memory().argument_copy_bytes()));
  return scaled;
}

}  // namespace meshwright::estimation
