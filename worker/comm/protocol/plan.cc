#include "worker/comm/protocol/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "absl/strings/str_join.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "worker/comm/protocol/address.h"

namespace meshwright::worker::comm {
namespace {

constexpr const char* kNames[] = {"send_receive", "local_all_gather",
                                  "global_all_gather", "broadcast"};
// The maximum integer that a JSON number holds exactly.
constexpr int64_t kMaxBytes = int64_t{1} << 53;
constexpr int64_t kMaxChunks = int64_t{1} << 20;
constexpr double kMaxWaitSeconds = 86'400;

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status ValidateHosts(const Plan& plan) {
  if (plan.hosts.empty()) return Invalid("hosts is empty; name every rank");
  std::set<std::string_view> ids;
  std::set<std::string_view> addresses;
  for (const Host& host : plan.hosts) {
    if (host.id.empty()) return Invalid("a host has an empty id");
    if (!ids.insert(host.id).second) {
      return Invalid("host ", host.id, " stands twice among the hosts");
    }
    const bool has_name = host.address.rfind(':') != 0;
    if (!has_name || !FindPort(host.address).has_value()) {
      return Invalid("host ", host.id, " has the address \"", host.address,
                     "\", which is not HOST:PORT with a port of 1 to 65535");
    }
    if (!addresses.insert(host.address).second) {
      return Invalid("host ", host.id, " has the address ", host.address,
                     ", which another host has too");
    }
  }
  return {};
}

absl::Status ValidateReceivers(const Plan& plan, const Task& task) {
  const auto known = [&](int host) {
    return host >= 0 && host < static_cast<int>(plan.hosts.size());
  };
  if (!known(task.sender)) {
    return Invalid("task ", task.id, " has a sender that is no host");
  }
  if (task.receivers.empty()) {
    return Invalid("task ", task.id, " has no receivers");
  }
  std::set<int> seen;
  for (const int receiver : task.receivers) {
    if (!known(receiver)) {
      return Invalid("task ", task.id, " has a receiver that is no host");
    }
    const std::string& id = plan.hosts[receiver].id;
    if (receiver == task.sender) {
      return Invalid("task ", task.id, ": host ", id,
                     " is its sender and its receiver; leave it out of the "
                     "receivers, as it holds the slice already");
    }
    if (!seen.insert(receiver).second) {
      return Invalid("task ", task.id, ": host ", id,
                     " stands twice among its receivers");
    }
  }
  return {};
}

absl::Status ValidateTask(const Plan& plan, const Task& task) {
  if (task.size_bytes <= 0) {
    return Invalid("task ", task.id, ": size_bytes is ", task.size_bytes,
                   "; leave empty slices out");
  }
  if (task.size_bytes > kMaxBytes) {
    return Invalid("task ", task.id, ": size_bytes is ", task.size_bytes,
                   ", more than ", kMaxBytes);
  }
  const int64_t max_chunks = std::min(task.size_bytes, kMaxChunks);
  if (task.chunks < 0 || task.chunks > max_chunks) {
    return Invalid("task ", task.id, ": chunks is ", task.chunks, ", but its ",
                   task.size_bytes, " bytes make 1 to ", max_chunks);
  }
  return ValidateReceivers(plan, task);
}

absl::Status ValidateNumbers(const Plan& plan) {
  for (const auto& [field, value] : {std::pair("link.alpha", plan.link.alpha),
                                     std::pair("link.beta", plan.link.beta)}) {
    if (!std::isfinite(value) || value < 0) {
      return Invalid(field, " is ", value, ", not a finite number from 0");
    }
  }
  for (const auto& [field, value] :
       {std::pair("deadline_seconds", plan.deadline_seconds),
        std::pair("connect_seconds", plan.connect_seconds)}) {
    if (!(value > 0 && value <= kMaxWaitSeconds)) {
      return Invalid(field, " is ", value, ", not above 0 and up to ",
                     kMaxWaitSeconds);
    }
  }
  return {};
}

}  // namespace

std::string NameStrategy(Strategy strategy) {
  return kNames[static_cast<int>(strategy)];
}

std::optional<Strategy> ParseStrategy(const std::string& name) {
  const auto* const found =
      std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Strategy>(found - std::begin(kNames));
}

absl::Status Validate(const Plan& plan) {
  RETURN_IF_ERROR(ValidateHosts(plan));
  RETURN_IF_ERROR(ValidateNumbers(plan));
  std::set<std::string_view> ids;
  for (const Task& task : plan.tasks) {
    if (task.id.empty()) return Invalid("a task has an empty id");
    if (!ids.insert(task.id).second) {
      return Invalid("task ", task.id, " stands twice among the tasks");
    }
    RETURN_IF_ERROR(ValidateTask(plan, task));
  }
  return {};
}

std::string ComputeFingerprint(const Plan& plan) {
  base::Fingerprinter print;
  print.Add(static_cast<int64_t>(plan.hosts.size()));
  for (const Host& host : plan.hosts) print.Add(host.id).Add(host.node);
  print.Add(static_cast<int64_t>(plan.carrier));
  print.Add(absl::StrCat(plan.link.alpha, " ", plan.link.beta));
  for (const Task& task : plan.tasks) {
    print.Add(task.id).Add(task.size_bytes).Add(task.sender);
    print.Add(NameStrategy(task.strategy)).Add(task.chunks);
    print.Add(absl::StrJoin(task.receivers, ","));
  }
  return print.Hex();
}

absl::StatusOr<int> FindHostNamed(const Plan& plan, const std::string& id) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < plan.hosts.size(); ++i) {
    if (plan.hosts[i].id == id) return static_cast<int>(i);
    ids.push_back(plan.hosts[i].id);
  }
  return Invalid("host ", id,
                 " is none of the plan's: ", absl::StrJoin(ids, ", "));
}

Ports FindPorts(const Plan& plan, int host) {
  Ports ports;
  for (size_t i = 0; i < plan.tasks.size(); ++i) {
    const Task& task = plan.tasks[i];
    if (task.sender == host) ports.outgoing.push_back(static_cast<int>(i));
    if (std::ranges::count(task.receivers, host) != 0) {
      ports.incoming.push_back(static_cast<int>(i));
    }
  }
  return ports;
}

std::vector<int> FindPeers(const Plan& plan, int host) {
  std::set<int> peers = {0};
  if (host == 0) {
    for (size_t i = 0; i < plan.hosts.size(); ++i) {
      peers.insert(static_cast<int>(i));
    }
  }
  for (const Task& task : plan.tasks) {
    if (task.sender != host && std::ranges::count(task.receivers, host) == 0) {
      continue;
    }
    peers.insert(task.sender);
    peers.insert(task.receivers.begin(), task.receivers.end());
  }
  peers.erase(host);
  return {peers.begin(), peers.end()};
}

}  // namespace meshwright::worker::comm
