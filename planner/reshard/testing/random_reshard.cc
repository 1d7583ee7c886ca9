#include "planner/reshard/testing/random_reshard.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"

namespace meshwright::reshard {
namespace {

using Random = std::mt19937_64;

int64_t Below(Random& random, int64_t end) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(end));
}

// 1 .. most different ones of first .. first + count - 1, ascending.
std::vector<int> Some(Random& random, int first, int count, int max_count) {
  std::vector<int> all(count);
  for (int i = 0; i < count; ++i) all[i] = first + i;
  const auto wanted = 1 + Below(random, std::min(max_count, count));
  for (int64_t i = 0; i < wanted; ++i) {
    std::swap(all[i], all[i + Below(random, count - i)]);
  }
  all.resize(wanted);
  std::sort(all.begin(), all.end());
  return all;
}

Side RandomSide(Random& random, int dims) {
  Side side;
  const auto axes = 1 + Below(random, 3);
  for (int64_t a = 0; a < axes; ++a) side.mesh.push_back(1 + Below(random, 4));
  side.spec.resize(dims);
  std::vector<int> free(axes);
  for (int a = 0; a < axes; ++a) free[a] = a;
  for (int64_t a = 0; a < axes; ++a) {
    std::swap(free[a], free[a + Below(random, axes - a)]);
    if (dims > 0 && Below(random, 3) > 0) {
      side.spec[Below(random, dims)].push_back(free[a]);
    }
  }
  return side;
}

void NameHosts(Random& random, Side& side, int names) {
  int64_t devices = 1;
  for (const int64_t size : side.mesh) devices *= size;
  for (int64_t i = 0; i < devices; ++i) {
    side.hosts.push_back(absl::StrCat("h", Below(random, names)));
  }
}

}  // namespace

ReshardProblem RandomTasks(uint64_t seed, const Kind& kind) {
  Random random(seed);
  ReshardProblem problem;
  problem.bandwidth_bytes_per_s = 1.25e9;
  for (int i = 0; i < kind.sender_hosts; ++i) {
    problem.hosts.push_back({.name = absl::StrCat("s", i)});
  }
  for (int i = 0; i < kind.receiver_hosts; ++i) {
    problem.hosts.push_back({.name = absl::StrCat("d", i)});
  }
  for (Host& host : problem.hosts) {
    if (kind.speeds) {
      host.out_bytes_per_s = 1e9 * static_cast<double>(1 + Below(random, 4));
      host.in_bytes_per_s = 1e9 * static_cast<double>(1 + Below(random, 4));
    }
    if (kind.links) {
      host.out_links = static_cast<int>(1 + Below(random, 3));
      host.in_links = static_cast<int>(1 + Below(random, 3));
    }
  }
  if (kind.speeds) {
    for (int i = 0; i < 2; ++i) {
      problem.routes.push_back(
          {static_cast<int>(Below(random, kind.sender_hosts)),
           static_cast<int>(kind.sender_hosts +
                            Below(random, kind.receiver_hosts)),
           0.5e9});
    }
  }
  for (int i = 0; i < kind.tasks; ++i) {
    problem.tasks.push_back(
        {.id = absl::StrCat(i),
         .size_bytes = kind.even_sizes ? kind.max_bytes
                                       : 1 + Below(random, kind.max_bytes),
         .senders = Some(random, 0, kind.sender_hosts, kind.max_senders),
         .receivers = Some(random, kind.sender_hosts, kind.receiver_hosts,
                           kind.max_receivers)});
  }
  return problem;
}

Resharding RandomResharding(uint64_t seed) {
  Random random(seed);
  Resharding resharding;
  const auto dims = Below(random, 4);
  for (int64_t d = 0; d < dims; ++d) {
    resharding.shape.push_back(1 + Below(random, 13));
  }
  resharding.elem_bytes = 1 + Below(random, 8);
  resharding.source = RandomSide(random, static_cast<int>(dims));
  resharding.target = RandomSide(random, static_cast<int>(dims));
  if (Below(random, 3) == 0) {
    NameHosts(random, resharding.source, 5);
    NameHosts(random, resharding.target, 5);
  }
  return resharding;
}

}  // namespace meshwright::reshard
