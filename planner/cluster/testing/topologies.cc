#include "planner/cluster/testing/topologies.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::cluster {
namespace {

const LinkClass kSwitch{"nvswitch", {4e-6, 1 / 250e9}, {}, {}};
const LinkClass kNvlink{"nvlink", {5e-6, 1 / 200e9}, {}, {}};
const LinkClass kPcie{"pcie", {8e-6, 1 / 20e9}, {}, {}};
const LinkClass kBridge{"bridge", {1.2e-5, 1 / 10e9}, {}, {}};
const LinkClass kNetwork{"network", {3e-5, 1 / 12.5e9}, {}, {}};

}  // namespace

Cluster MakeCluster(size_t devices, std::vector<LinkClass> classes,
                    const std::function<size_t(size_t, size_t)>& find) {
  std::vector<std::string> names;
  for (size_t i = 0; i < devices; ++i) names.push_back(absl::StrCat(i));
  Cluster cluster(std::move(names), std::move(classes));
  for (size_t a = 0; a < devices; ++a) {
    for (size_t b = a + 1; b < devices; ++b) {
      cluster.SetClass(DeviceIndex(a), DeviceIndex(b), ClassIndex(find(a, b)));
    }
  }
  return cluster;
}

Cluster MakePairedBox() {
  return MakeCluster(8, {kNvlink, kPcie, kBridge}, [](size_t a, size_t b) {
    return a / 2 == b / 2 ? 0 : a / 4 == b / 4 ? 1 : 2;
  });
}

Cluster MakeSwitchedBox() {
  return MakeCluster(8, {kSwitch}, [](size_t, size_t) { return 0; });
}

Cluster MakeTwoHosts(size_t per_host) {
  return MakeCluster(2 * per_host, {kSwitch, kNetwork},
                     [per_host](size_t a, size_t b) {
                       return a / per_host == b / per_host ? 0 : 1;
                     });
}

Cluster MakeMixedHosts() {
  return MakeCluster(8, {kSwitch, kPcie, kNetwork}, [](size_t a, size_t b) {
    return a / 4 != b / 4 ? 2 : a < 4 ? 0 : 1;
  });
}

Cluster MakeRandomCluster(size_t devices, size_t classes, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<LinkClass> made;
  for (size_t i = 0; i < classes; ++i) {
    made.push_back(
        {absl::StrCat("class", i), {1e-6, 1e-11 * (1.0 + i)}, {}, {}});
  }
  return MakeCluster(devices, std::move(made),
                     [&](size_t, size_t) { return random() % classes; });
}

std::vector<Timing> MakeTimings(const base::Link& link,
                                const std::vector<int64_t>& groups,
                                double noise, std::mt19937_64& random) {
  std::normal_distribution<double> share(1, noise);
  std::vector<Timing> timings;
  for (const Operation operation : kOperations) {
    for (const int64_t devices : groups) {
      for (double bytes = 256; bytes <= (64 << 20); bytes *= 2) {
        const Work work = CountWork(operation, devices, bytes);
        const double seconds = work.steps * link.alpha + work.bytes * link.beta;
        timings.push_back({operation, devices, bytes, seconds * share(random)});
      }
    }
  }
  return timings;
}

std::vector<GroupTiming> TimePairs(const Cluster& cluster, double noise,
                                   uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<GroupTiming> timings;
  for (size_t a = 0; a < cluster.device_count(); ++a) {
    for (size_t b = a + 1; b < cluster.device_count(); ++b) {
      const std::vector<DeviceIndex> pair = {DeviceIndex(a), DeviceIndex(b)};
      const base::Link& link =
          cluster.classes()[cluster.FindClass(pair[0], pair[1])].link;
      for (const Timing& it : MakeTimings(link, {2}, noise, random)) {
        timings.push_back({pair, it});
      }
    }
  }
  return timings;
}

}  // namespace meshwright::cluster
