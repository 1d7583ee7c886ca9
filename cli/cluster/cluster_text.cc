#include "cli/cluster/cluster_text.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/text/format.h"
#include "cli/text/table.h"
#include "planner/cluster/detection.h"
#include "planner/cluster/timing.h"

namespace meshwright::cli {
namespace {

std::string FormatRate(double bytes_per_second) {
  if (bytes_per_second >= 1e9) {
    return absl::StrFormat("%.1f GB/s", bytes_per_second / 1e9);
  }
  return absl::StrFormat("%.1f MB/s", bytes_per_second / 1e6);
}

std::string ListClasses(const cluster::Cluster& cluster) {
  std::map<cluster::ClassIndex, int> pairs;
  for (size_t a = 0; a < cluster.device_count(); ++a) {
    for (size_t b = a + 1; b < cluster.device_count(); ++b) {
      ++pairs[cluster.FindClass(cluster::DeviceIndex(a),
                                cluster::DeviceIndex(b))];
    }
  }
  std::vector<TableRow> rows;
  for (size_t i = 0; i < cluster.classes().size(); ++i) {
    const cluster::LinkClass& it = cluster.classes()[i];
    rows.push_back({it.name, absl::StrCat(pairs[cluster::ClassIndex(i)]),
                    FormatSeconds(it.link.alpha),
                    it.link.beta > 0 ? FormatRate(1 / it.link.beta) : "any",
                    it.residual.has_value()
                        ? absl::StrFormat("%.1f %%", 100 * *it.residual)
                        : ""});
  }
  return FormatTable({{"link class", Align::kLeft},
                      {"pairs"},
                      {"latency"},
                      {"bandwidth"},
                      {"residual"}},
                     rows);
}

// The fastest size of each operation and group.
std::string ListBusBandwidths(const cluster::Description& description) {
  using Key = std::tuple<std::string, cluster::Operation, int64_t>;
  std::map<Key, double> best;
  for (const cluster::ClassTiming& it : description.timings) {
    double& rate =
        best[{it.link_class, it.timing.operation, it.timing.devices}];
    rate = std::max(rate, cluster::ComputeBusBandwidth(it.timing));
  }
  if (best.empty()) return "";
  std::vector<TableRow> rows;
  for (const auto& [key, rate] : best) {
    rows.push_back({std::get<0>(key), cluster::NameOperation(std::get<1>(key)),
                    absl::StrCat(std::get<2>(key)), FormatRate(rate)});
  }
  return "\n" + FormatTable({{"link class", Align::kLeft},
                             {"operation", Align::kLeft},
                             {"devices"},
                             {"bus bandwidth"}},
                            rows);
}

std::string ListMeshes(const cluster::Cluster& cluster,
                       const std::vector<cluster::DeviceMesh>& meshes) {
  std::vector<TableRow> rows;
  for (const cluster::DeviceMesh& mesh : meshes) {
    base::Mesh shape;
    std::vector<std::string> axes;
    for (const cluster::MeshAxis& axis : mesh.axes) {
      shape.push_back(axis.devices);
      axes.push_back(!axis.slowest.has_value()
                         ? "-"
                         : absl::StrCat(cluster.classes()[*axis.slowest].name,
                                        axis.HasEqualLines() ? "" : " (*)"));
    }
    const double seconds = cluster::EstimateAllReduceSeconds(
        shape, cluster::FindLinks(cluster, mesh), cluster::kAllReduceBytes);
    rows.push_back({absl::StrJoin(shape, "x"), FormatSeconds(seconds),
                    absl::StrJoin(axes, ", ") +
                        (mesh.proven ? "" : "; the search was cut short")});
  }
  return "\n" + FormatTable({{"mesh", Align::kLeft},
                             {"all-reduce of 256 MiB"},
                             {"slowest link per axis", Align::kLeft}},
                            rows);
}

}  // namespace

std::string DescribeClusterText(
    const cluster::Description& description, const cluster::Cluster& cluster,
    const std::vector<cluster::DeviceMesh>& meshes) {
  const bool unequal = std::ranges::any_of(meshes, [](const auto& mesh) {
    return std::ranges::any_of(mesh.axes, [](const cluster::MeshAxis& axis) {
      return !axis.HasEqualLines();
    });
  });
  return absl::StrCat(
      description.name.empty() ? "" : description.name + ": ",
      cluster.device_count(), " devices\n", ListClasses(cluster),
      ListBusBandwidths(description), ListMeshes(cluster, meshes),
      unequal ? "(*) some lines of the axis are faster than others\n" : "",
      description.notes.empty() ? "" : "\n",
      absl::StrJoin(description.notes, "\n"),
      description.notes.empty() ? "" : "\n");
}

}  // namespace meshwright::cli
