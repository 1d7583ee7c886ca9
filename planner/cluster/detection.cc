#include "planner/cluster/detection.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/cluster/build_cluster.h"
#include "planner/cluster/describe_cluster.h"
#include "planner/cluster/fit.h"

namespace meshwright::cluster {
namespace {

// The send/receives of every two devices.
absl::StatusOr<std::map<DevicePair, std::vector<Timing>>> SortByPair(
    const std::vector<std::string>& devices,
    const std::vector<GroupTiming>& timings,
    const std::set<DevicePair>& untimed) {
  std::map<DevicePair, std::vector<Timing>> pairs;
  for (const GroupTiming& it : timings) {
    if (it.devices.size() != 2 ||
        it.timing.operation != Operation::kSendReceive) {
      continue;
    }
    const auto [a, b] = std::minmax(it.devices[0], it.devices[1]);
    pairs[{a, b}].push_back(it.timing);
  }
  for (size_t a = 0; a < devices.size(); ++a) {
    for (size_t b = a + 1; b < devices.size(); ++b) {
      const DevicePair pair = {DeviceIndex(a), DeviceIndex(b)};
      if (pairs.contains(pair)) continue;
      if (untimed.contains(pair) && !pairs.empty()) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("the link of \"", devices[a], "\" and \"", devices[b],
                       "\" was not timed; time every pair"));
    }
  }
  return pairs;
}

ClassIndex FindSlowest(const Cluster& cluster,
                       const std::vector<DeviceIndex>& devices) {
  ClassIndex slowest;
  for (size_t a = 0; a < devices.size(); ++a) {
    for (size_t b = a + 1; b < devices.size(); ++b) {
      slowest = std::max(slowest, cluster.FindClass(devices[a], devices[b]));
    }
  }
  return slowest;
}

}  // namespace

absl::StatusOr<Description> Detect(const std::vector<std::string>& devices,
                                   const std::vector<GroupTiming>& timings,
                                   const std::string& prefix,
                                   const ClassTolerance& tolerance,
                                   const std::set<DevicePair>& untimed) {
  ASSIGN_OR_RETURN(const auto timings_by_pair,
                   SortByPair(devices, timings, untimed));
  std::vector<DevicePair> pairs;
  base::Links links;
  for (const auto& [pair, own] : timings_by_pair) {
    const auto fit = FitLink(own);
    if (!fit.ok()) {
      return absl::Status(
          fit.status().code(),
          absl::StrCat("the link of \"", devices[pair.first], "\" and \"",
                       devices[pair.second], "\": ", fit.status().message()));
    }
    pairs.push_back(pair);
    links.push_back(fit->link);
  }
  const auto members = GroupIntoClasses(links, tolerance);
  std::vector<LinkClass> classes;
  for (const std::vector<size_t>& alike : members) {
    std::vector<Timing> all;
    for (const size_t i : alike) {
      const std::vector<Timing>& own = timings_by_pair.at(pairs[i]);
      all.insert(all.end(), own.begin(), own.end());
    }
    ASSIGN_OR_RETURN(const LinkFit fit, FitLink(all));
    classes.push_back({absl::StrCat(prefix, classes.size()), fit.link,
                       fit.residual, fit.timings});
  }
  Cluster cluster(devices, std::move(classes));
  for (size_t i = 0; i < members.size(); ++i) {
    for (const size_t pair : members[i]) {
      cluster.SetClass(pairs[pair].first, pairs[pair].second, ClassIndex(i));
    }
  }
  const ClassIndex slowest_class(cluster.classes().size() - 1);
  for (const DevicePair& pair : untimed) {
    if (timings_by_pair.contains(pair)) continue;
    cluster.SetClass(pair.first, pair.second, slowest_class);
  }
  Description description = DescribeCluster(cluster);
  for (const GroupTiming& it : timings) {
    if (it.devices.size() < 2) continue;
    const ClassIndex slowest = FindSlowest(cluster, it.devices);
    description.timings.push_back({cluster.classes()[slowest].name, it.timing});
  }
  return description;
}

absl::StatusOr<Description> NestBoxes(const Description& outer,
                                      const Description& box) {
  Description both;
  both.classes = outer.classes;
  for (const LinkClass& it : box.classes) {
    for (const LinkClass& other : outer.classes) {
      if (it.name != other.name) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("link class \"", it.name,
                       "\" is one of the box and one between boxes; rename "
                       "one of them"));
    }
    both.classes.push_back(it);
  }
  // A box is a group only where the direct links leave it one; the graph of
  // both says which groups there are.
  ASSIGN_OR_RETURN(const Cluster between, BuildCluster(outer));
  ASSIGN_OR_RETURN(const Cluster inside, BuildCluster(box));
  const size_t size = inside.device_count();
  if (between.device_count() * size > kMaxDevices) {
    return absl::InvalidArgumentError(absl::StrCat(
        between.device_count(), " boxes of ", size, " devices are more than ",
        kMaxDevices, " devices; describe a part of them"));
  }
  std::vector<std::string> names;
  for (const std::string& host : between.devices()) {
    for (const std::string& device : inside.devices()) {
      names.push_back(absl::StrCat(host, "/", device));
    }
  }
  SortClasses(both.classes);
  std::map<std::string, ClassIndex> indices;
  for (size_t i = 0; i < both.classes.size(); ++i) {
    indices.emplace(both.classes[i].name, i);
  }
  Cluster cluster(names, both.classes);
  const auto find = [&](const Cluster& part, size_t a, size_t b) {
    const ClassIndex own = part.FindClass(DeviceIndex(a), DeviceIndex(b));
    return indices.at(part.classes()[own].name);
  };
  for (size_t a = 0; a < names.size(); ++a) {
    for (size_t b = a + 1; b < names.size(); ++b) {
      cluster.SetClass(DeviceIndex(a), DeviceIndex(b),
                       a / size == b / size
                           ? find(inside, a % size, b % size)
                           : find(between, a / size, b / size));
    }
  }
  both = DescribeCluster(cluster);
  both.timings = outer.timings;
  both.timings.insert(both.timings.end(), box.timings.begin(),
                      box.timings.end());
  both.notes = outer.notes;
  both.notes.insert(both.notes.end(), box.notes.begin(), box.notes.end());
  return both;
}

std::vector<DeviceMesh> RankMeshes(const Cluster& cluster, int maximum_axes) {
  struct Ranked {
    double seconds;
    DeviceMesh mesh;
  };
  std::vector<Ranked> ranked;
  for (const base::Mesh& shape :
       ListShapes(static_cast<int64_t>(cluster.device_count()), maximum_axes)) {
    auto mesh = FindMesh(cluster, shape);
    if (!mesh.ok()) continue;  // shapes have as many places as devices
    const double seconds = EstimateAllReduceSeconds(
        shape, FindLinks(cluster, *mesh), kAllReduceBytes);
    ranked.push_back({seconds, *std::move(mesh)});
  }
  std::stable_sort(
      ranked.begin(), ranked.end(),
      [](const Ranked& a, const Ranked& b) { return a.seconds < b.seconds; });
  std::vector<DeviceMesh> meshes;
  for (Ranked& it : ranked) meshes.push_back(std::move(it.mesh));
  return meshes;
}

}  // namespace meshwright::cluster
