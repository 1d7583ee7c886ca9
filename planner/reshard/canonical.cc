#include "planner/reshard/canonical.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"

namespace meshwright::reshard {
namespace {

// Refinement looks at so many mentions of hosts; then names decide.
constexpr int64_t kMostVisits = int64_t{1} << 24;

uint64_t Bits(double value) { return std::bit_cast<uint64_t>(value); }

// Colours of hosts that do not depend on how anything is named or ordered.
class Colours {
 public:
  explicit Colours(const ReshardProblem& problem)
      : problem_(problem), colours_(problem.hosts.size()) {
    for (const UnitTask& task : problem.tasks) {
      round_ += static_cast<int64_t>(task.senders.size()) +
                static_cast<int64_t>(task.receivers.size());
    }
    // Hosts are sorted, too.
    round_ +=
        static_cast<int64_t>(problem.routes.size() + 16 * colours_.size());
    for (size_t i = 0; i < colours_.size(); ++i) {
      const Host& host = problem.hosts[i];
      uint64_t colour = base::Mix(1, static_cast<uint64_t>(host.out_links));
      colour = base::Mix(colour, static_cast<uint64_t>(host.in_links));
      colour = base::Mix(colour, Bits(host.out_bytes_per_s.value_or(-1)));
      colours_[i] = base::Mix(colour, Bits(host.in_bytes_per_s.value_or(-1)));
    }
  }

  // Host indices in canonical order.
  std::vector<int> Order() {
    std::vector<int> order(colours_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto before = [&](int a, int b) {
      return std::tie(colours_[a], problem_.hosts[a].name) <
             std::tie(colours_[b], problem_.hosts[b].name);
    };
    int64_t visits = 0;
    for (uint64_t mark = 1;; ++mark) {
      visits += round_ * Refine();
      std::sort(order.begin(), order.end(), before);
      const auto alike = std::adjacent_find(
          order.begin(), order.end(),
          [&](int a, int b) { return colours_[a] == colours_[b]; });
      if (alike == order.end() || visits > kMostVisits) return order;
      colours_[*alike] = base::Mix(colours_[*alike], mark);
    }
  }

 private:
  size_t Count() const {
    std::vector<uint64_t> sorted = colours_;
    std::sort(sorted.begin(), sorted.end());
    return std::unique(sorted.begin(), sorted.end()) - sorted.begin();
  }

  // Until no more colours appear. Out: the rounds that took.
  int Refine() {
    size_t count = Count();
    for (int rounds = 1;; ++rounds) {
      Round();
      const size_t now = Count();
      if (now <= count || now == colours_.size()) return rounds;
      count = now;
    }
  }

  // Every host takes in what its tasks and routes look like. Sums, as their
  // order must not matter.
  void Round() {
    std::vector<uint64_t> next(colours_.size(), 0);
    for (const UnitTask& task : problem_.tasks) {
      uint64_t senders = 0, receivers = 0;
      for (const int host : task.senders) {
        senders += base::Mix(2, colours_[host]);
      }
      for (const int host : task.receivers) {
        receivers += base::Mix(3, colours_[host]);
      }
      const uint64_t look = base::Mix(base::Mix(senders, receivers),
                                      static_cast<uint64_t>(task.size_bytes));
      for (const int host : task.senders) next[host] += base::Mix(4, look);
      for (const int host : task.receivers) next[host] += base::Mix(5, look);
    }
    for (const Route& route : problem_.routes) {
      const uint64_t speed = Bits(route.bytes_per_s);
      next[route.from] += base::Mix(base::Mix(6, colours_[route.to]), speed);
      next[route.to] += base::Mix(base::Mix(7, colours_[route.from]), speed);
    }
    for (size_t i = 0; i < next.size(); ++i) {
      colours_[i] = base::Mix(colours_[i], next[i]);
    }
  }

  const ReshardProblem& problem_;
  std::vector<uint64_t> colours_;
  int64_t round_ = 0;
};

// Says the same without what says nothing: ports as fast as all, routes as
// fast as their ports, a second route of one pair.
ReshardProblem Plain(const ReshardProblem& problem) {
  ReshardProblem plain = problem;
  const double bandwidth = problem.bandwidth_bytes_per_s;
  bool speeds = false;
  for (Host& host : plain.hosts) {
    for (auto* speed : {&host.out_bytes_per_s, &host.in_bytes_per_s}) {
      if (*speed == bandwidth) speed->reset();
      speeds = speeds || speed->has_value();
    }
  }
  std::map<std::pair<int, int>, double> routes;
  for (const Route& route : problem.routes) {
    const double ports =
        std::min(plain.hosts[route.from].out_bytes_per_s.value_or(bandwidth),
                 plain.hosts[route.to].in_bytes_per_s.value_or(bandwidth));
    if (route.bytes_per_s >= ports) continue;
    const auto [at, made] =
        routes.emplace(std::pair(route.from, route.to), route.bytes_per_s);
    if (!made) at->second = std::min(at->second, route.bytes_per_s);
  }
  plain.routes.clear();
  for (const auto& [pair, speed] : routes) {
    plain.routes.push_back({pair.first, pair.second, speed});
  }
  if (!speeds && routes.empty()) plain.bandwidth_bytes_per_s = 1;
  return plain;
}

void Rename(std::vector<int>& hosts, const std::vector<int>& to) {
  for (int& host : hosts) host = to[host];
  std::sort(hosts.begin(), hosts.end());
}

void Append(std::string& bytes, uint64_t figure) {
  for (int i = 0; i < 8; ++i) {
    bytes.push_back(static_cast<char>(figure >> (8 * i)));
  }
}

void Append(std::string& bytes, const std::vector<int>& list) {
  Append(bytes, list.size());
  for (const int one : list) Append(bytes, static_cast<uint64_t>(one));
}

}  // namespace

Canonical Canonicalize(const ReshardProblem& problem) {
  const ReshardProblem plain = Plain(problem);
  Canonical canonical;
  canonical.hosts = Colours(plain).Order();
  std::vector<int> to(canonical.hosts.size());
  for (size_t i = 0; i < to.size(); ++i) {
    to[canonical.hosts[i]] = static_cast<int>(i);
    canonical.problem.hosts.push_back(plain.hosts[canonical.hosts[i]]);
    canonical.problem.hosts.back().name = absl::StrCat(i);
  }
  canonical.problem.bandwidth_bytes_per_s = plain.bandwidth_bytes_per_s;
  canonical.problem.split = plain.split;
  for (const Route& route : plain.routes) {
    canonical.problem.routes.push_back(
        {to[route.from], to[route.to], route.bytes_per_s});
  }
  std::sort(canonical.problem.routes.begin(), canonical.problem.routes.end(),
            [](const Route& a, const Route& b) {
              return std::tie(a.from, a.to) < std::tie(b.from, b.to);
            });
  std::vector<UnitTask> tasks = plain.tasks;
  for (UnitTask& task : tasks) {
    Rename(task.senders, to);
    Rename(task.receivers, to);
  }
  canonical.tasks.resize(tasks.size());
  std::iota(canonical.tasks.begin(), canonical.tasks.end(), 0);
  // Tasks that are equal here are interchangeable.
  std::stable_sort(
      canonical.tasks.begin(), canonical.tasks.end(), [&](int a, int b) {
        return std::tie(tasks[a].size_bytes, tasks[a].senders,
                        tasks[a].receivers) < std::tie(tasks[b].size_bytes,
                                                       tasks[b].senders,
                                                       tasks[b].receivers);
      });
  for (const int index : canonical.tasks) {
    tasks[index].id = absl::StrCat(canonical.problem.tasks.size());
    canonical.problem.tasks.push_back(std::move(tasks[index]));
  }
  return canonical;
}

std::string ContentOf(const Canonical& canonical) {
  const ReshardProblem& problem = canonical.problem;
  std::string bytes = "meshwright resharding 1";
  Append(bytes, Bits(problem.bandwidth_bytes_per_s));
  Append(bytes, static_cast<uint64_t>(problem.split));
  Append(bytes, problem.hosts.size());
  for (const Host& host : problem.hosts) {
    Append(bytes, static_cast<uint64_t>(host.out_links));
    Append(bytes, static_cast<uint64_t>(host.in_links));
    for (const auto& speed : {host.out_bytes_per_s, host.in_bytes_per_s}) {
      Append(bytes, static_cast<uint64_t>(speed.has_value()));
      Append(bytes, Bits(speed.value_or(0)));
    }
  }
  Append(bytes, problem.routes.size());
  for (const Route& route : problem.routes) {
    Append(bytes, static_cast<uint64_t>(route.from));
    Append(bytes, static_cast<uint64_t>(route.to));
    Append(bytes, Bits(route.bytes_per_s));
  }
  Append(bytes, problem.tasks.size());
  for (const UnitTask& task : problem.tasks) {
    Append(bytes, static_cast<uint64_t>(task.size_bytes));
    Append(bytes, task.senders);
    Append(bytes, task.receivers);
  }
  return bytes;
}

Schedule Translate(const Canonical& canonical, const Schedule& schedule) {
  Schedule translated = schedule;
  for (Send& send : translated) {
    send.task = canonical.tasks[send.task];
    send.sender = canonical.hosts[send.sender];
  }
  return translated;
}

}  // namespace meshwright::reshard
