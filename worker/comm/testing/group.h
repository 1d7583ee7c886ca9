// Group: all ranks of a plan in one process, over the loopback.
//
// Ownership: threads end with Run; destinations hold kOld before.
#ifndef MESHWRIGHT_WORKER_COMM_TESTING_GROUP_H_
#define MESHWRIGHT_WORKER_COMM_TESTING_GROUP_H_

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "worker/comm/executor/rank.h"
#include "worker/comm/protocol/plan.h"
#include "worker/comm/transport/tcp_transport.h"

namespace meshwright::worker::comm {

inline constexpr Strategy kStrategies[] = {
    Strategy::kSendReceive, Strategy::kLocalAllGather,
    Strategy::kGlobalAllGather, Strategy::kBroadcast};

class Group {
 public:
  // Wraps the transport of one rank, to disturb it.
  using Wrap = std::function<std::unique_ptr<Transport>(
      int rank, std::unique_ptr<Transport>)>;

  // Hosts h0, h1, ... on ports of their own, two to a node.
  explicit Group(int hosts);

  Plan& plan() { return plan_; }
  void Add(const std::string& id, int64_t bytes, int sender,
           std::vector<int> receivers, Strategy strategy, int64_t chunks = 0);
  // For six hosts: a large slice, one of fewer bytes than receivers, and one
  // for a single receiver.
  void AddAllSizes(Strategy strategy);
  // Small slices from any host to some others, by any strategy.
  void AddRandom(int tasks, std::mt19937& random);
  // The port that other ranks see in place of `rank`'s own.
  void Redirect(int rank, int port);
  int port(int rank) const { return ports_[rank]; }
  // `rank` gets a plan of its own.
  void Disagree(int rank, Plan plan) { plans_[rank] = std::move(plan); }
  // `rank` does not come.
  void Leave(int rank) { absent_.insert(rank); }
  void WrapWith(Wrap wrap) { wrap_ = std::move(wrap); }

  std::vector<Outcome> Run();
  const Bytes& source(int task) const { return sources_[task]; }
  const Bytes& destination(int rank, int task) const {
    return destinations_[rank][task];
  }
  // Every destination is as it was before Run.
  bool Untouched() const;

 private:
  Plan plan_;
  std::map<int, Plan> plans_;
  std::set<int> absent_;
  std::vector<TcpListener> listeners_;
  std::vector<int> ports_;
  std::vector<Bytes> sources_;
  std::vector<std::vector<Bytes>> destinations_;
  Wrap wrap_;
};

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_TESTING_GROUP_H_
