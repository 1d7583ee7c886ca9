// The cluster detector on synthetic topologies: how near alpha and beta come,
// whether meshes are those of an exhaustive search, and how long they take.
//
//   build/release/bin/cluster_bench
//
// Timings are off by a normal share of 1 %. Real links: cluster_links.py.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "planner/cluster/build_cluster.h"
#include "planner/cluster/detection.h"
#include "planner/cluster/meshes.h"
#include "planner/cluster/testing/exhaustive_meshes.h"
#include "planner/cluster/testing/topologies.h"
#include "tests/bench/figure.h"

namespace meshwright::cluster {
namespace {

constexpr int kSeeds = 20;

struct Named {
  const char* name;
  Cluster cluster;
};

std::vector<Named> MakeTopologies() {
  return {{"pairs of NVLink (the paper's)", MakePairedBox()},
          {"NVSwitch", MakeSwitchedBox()},
          {"two hosts", MakeTwoHosts(4)},
          {"mixed hosts", MakeMixedHosts()}};
}

struct Errors {
  double alpha = 0;
  double beta = 0;
  int wrong_classes = 0;
};

// The worst over all seeds.
Errors Detect(const Cluster& cluster) {
  Errors worst;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto found =
        Detect(cluster.devices(), TimePairs(cluster, 0.01, seed), "link");
    const auto built = BuildCluster(*found);
    if (built->classes().size() != cluster.classes().size()) {
      ++worst.wrong_classes;
      continue;
    }
    for (size_t i = 0; i < built->classes().size(); ++i) {
      const base::Link& got = built->classes()[i].link;
      const base::Link& wanted = cluster.classes()[i].link;
      worst.alpha =
          std::max(worst.alpha, std::abs(got.alpha / wanted.alpha - 1));
      worst.beta = std::max(worst.beta, std::abs(got.beta / wanted.beta - 1));
    }
  }
  return worst;
}

bool IsBest(const Cluster& cluster, const base::Mesh& shape) {
  const auto mesh = FindMesh(cluster, shape);
  return SearchExhaustively(cluster, shape) ==
         FindCosts(cluster, shape,
                   {mesh->devices.begin(), mesh->devices.end()});
}

void Run() {
  std::printf("%-30s %8s %8s %8s\n", "topology", "alpha", "beta", "classes");
  Errors worst;
  for (const Named& it : MakeTopologies()) {
    const Errors errors = Detect(it.cluster);
    std::printf("%-30s %7.2f%% %7.2f%% %8s\n", it.name, 100 * errors.alpha,
                100 * errors.beta,
                errors.wrong_classes == 0 ? "right" : "wrong");
    worst = {std::max(worst.alpha, errors.alpha),
             std::max(worst.beta, errors.beta),
             worst.wrong_classes + errors.wrong_classes};
  }
  PrintFigure(
      absl::StrFormat("detector on synthetic topologies, %d seeds: worst error "
                      "of alpha, of beta, wrong classes",
                      kSeeds),
      "≤ 1 %, ≤ 1 %, 0",
      absl::StrFormat("%.2f %%, %.2f %%, %d", 100 * worst.alpha,
                      100 * worst.beta, worst.wrong_classes));

  int meshes = 0;
  int best = 0;
  const auto count = [&](const Cluster& cluster) {
    for (const base::Mesh& shape :
         ListShapes(static_cast<int64_t>(cluster.device_count()), 3)) {
      ++meshes;
      best += IsBest(cluster, shape) ? 1 : 0;
    }
  };
  for (const Named& it : MakeTopologies()) count(it.cluster);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    count(MakeRandomCluster(8, 2 + seed % 3, seed));
  }
  PrintFigure("meshes as by exhaustive search", "all",
              absl::StrFormat("%d of %d", best, meshes));

  const Cluster large = MakeTwoHosts(2048);
  const auto begin = std::chrono::steady_clock::now();
  const auto mesh = FindMesh(large, {2, 256, 8});
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  PrintFigure("mesh 2x256x8 of 4,096 devices", "≤ 5 s, proven",
              absl::StrFormat("%.2f s, %s", seconds,
                              mesh->proven ? "proven" : "cut short"));
}

}  // namespace
}  // namespace meshwright::cluster

int main() { meshwright::cluster::Run(); }
