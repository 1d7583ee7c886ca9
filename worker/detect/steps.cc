#include "worker/detect/steps.h"

namespace meshwright::worker::detect {
namespace {

void AddRing(int devices, int rank, int steps, int64_t bytes,
             std::vector<Step>& made) {
  const int next = (rank + 1) % devices;
  const int previous = (rank + devices - 1) % devices;
  for (int i = 0; i < steps; ++i) made.push_back({next, previous, bytes});
}

std::vector<Step> MakeTree(int devices, int rank, int64_t bytes, int root) {
  std::vector<Step> made;
  const int place = (rank + devices - root) % devices;
  const auto at = [&](int other) { return (other + root) % devices; };
  for (int have = 1; have < devices; have *= 2) {
    if (place < have && place + have < devices) {
      made.push_back({at(place + have), std::nullopt, bytes});
    } else if (place >= have && place < 2 * have) {
      made.push_back({std::nullopt, at(place - have), bytes});
    }
  }
  return made;
}

}  // namespace

std::vector<Step> MakeSteps(cluster::Operation operation, int devices, int rank,
                            int64_t bytes, int root) {
  using cluster::Operation;
  const int64_t shard = (bytes + devices - 1) / devices;
  std::vector<Step> made;
  switch (operation) {
    case Operation::kAllGather:
      AddRing(devices, rank, devices - 1, bytes, made);
      break;
    case Operation::kReduceScatter:
      AddRing(devices, rank, devices - 1, shard, made);
      break;
    case Operation::kAllReduce:
      AddRing(devices, rank, 2 * (devices - 1), shard, made);
      break;
    case Operation::kAllToAll:
      for (int i = 1; i < devices; ++i) {
        made.push_back(
            {(rank + i) % devices, (rank + devices - i) % devices, shard});
      }
      break;
    case Operation::kBroadcast:
      return MakeTree(devices, rank, bytes, root);
    case Operation::kSendReceive:
      if (rank == 0) made = {{1, {}, bytes}, {{}, 1, bytes}};
      if (rank == 1) made = {{{}, 0, bytes}, {0, {}, bytes}};
      break;
  }
  return made;
}

int FindNextRoot(int devices, int root) {
  return (root + devices - 1) % devices;
}

}  // namespace meshwright::worker::detect
