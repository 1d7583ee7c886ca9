#include "worker/comm/testing/group.h"

#include <algorithm>
#include <span>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/comm/executor/slices.h"

namespace meshwright::worker::comm {
namespace {

const Bytes kOld(3, std::byte{0x5a});

}  // namespace

Group::Group(int hosts) {
  plan_.link = {1e-5, 1e-9};
  for (int i = 0; i < hosts; ++i) {
    listeners_.push_back(*TcpListener::Listen("127.0.0.1:0"));
    ports_.push_back(listeners_.back().port());
    plan_.hosts.push_back({absl::StrCat("h", i),
                           absl::StrCat("127.0.0.1:", ports_.back()),
                           absl::StrCat("node", i / 2)});
  }
}

void Group::Add(const std::string& id, int64_t bytes, int sender,
                std::vector<int> receivers, Strategy strategy, int64_t chunks) {
  plan_.tasks.push_back(
      {id, bytes, sender, std::move(receivers), strategy, chunks});
  sources_.push_back(*MakeSlice(7, plan_.tasks.back()));
}

void Group::AddAllSizes(Strategy strategy) {
  Add("large", 500'003, 1, {0, 2, 3, 4, 5}, strategy);
  Add("short", 3, 0, {1, 2, 3, 4, 5}, strategy);
  Add("alone", 70'000, 5, {0}, strategy);
}

void Group::AddRandom(int tasks, std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  const auto hosts = static_cast<int>(plan_.hosts.size());
  for (int i = 0; i < tasks; ++i) {
    const int sender = below(hosts);
    std::vector<int> receivers;
    for (int host = 0; host < hosts; ++host) {
      if (host != sender && below(2) == 0) receivers.push_back(host);
    }
    if (receivers.empty()) receivers.push_back((sender + 1) % hosts);
    std::shuffle(receivers.begin(), receivers.end(), random);
    Add(absl::StrCat(i), 1 + below(40'000), sender, receivers,
        kStrategies[below(4)], 1);
  }
}

void Group::Redirect(int rank, int port) {
  plan_.hosts[rank].address = absl::StrCat("127.0.0.1:", port);
}

std::vector<Outcome> Group::Run() {
  const size_t hosts = plan_.hosts.size();
  std::vector<Outcome> outcomes(hosts);
  const std::vector<std::span<const std::byte>> sources(sources_.begin(),
                                                        sources_.end());
  destinations_.assign(hosts, std::vector<Bytes>(sources_.size(), kOld));
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < hosts; ++i) {
    const int rank = static_cast<int>(i);
    if (absent_.contains(rank)) continue;
    threads.emplace_back([this, i, rank, &outcomes, &sources] {
      const auto own = plans_.find(rank);
      const Plan& plan = own == plans_.end() ? plan_ : own->second;
      std::unique_ptr<Transport> transport =
          std::make_unique<TcpTransport>(plan, rank, std::move(listeners_[i]));
      if (wrap_) transport = wrap_(rank, std::move(transport));
      outcomes[i] = RunRank(plan, rank, sources, destinations_[i], *transport);
    });
  }
  threads.clear();  // joins them
  return outcomes;
}

bool Group::Untouched() const {
  return std::ranges::all_of(destinations_, [](const auto& of_rank) {
    return std::ranges::all_of(
        of_rank, [](const Bytes& bytes) { return bytes == kOld; });
  });
}

}  // namespace meshwright::worker::comm
