#include "coordinator/jobs/match_index.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/jobs/device_digest.h"

namespace meshwright::jobs {
namespace {

// All that CanRun looks at.
std::vector<std::string> NameNeed(const v1::DeviceSpec& device,
                                  const DeviceDescription* exactly) {
  std::vector<std::string> name = {
      device.platform().empty() ? "cpu" : device.platform(),
      absl::StrCat(device.device_count()), device.plugin_path(),
      device.solo() ? "solo" : ""};
  if (exactly != nullptr) {
    name.insert(name.end(), {exactly->platform_version, exactly->device_kind,
                             DigestFingerprint(exactly->fingerprint)});
  }
  return name;
}

std::vector<std::string> NameKind(const WorkerDescription& worker) {
  const DeviceDescription& has = worker.devices;
  return {has.platform,       absl::StrCat(has.device_count),
          worker.plugin_path, has.platform_version,
          has.device_kind,    DigestFingerprint(has.fingerprint)};
}

}  // namespace

void MatchIndex::AddWorker(WorkerId worker,
                           const WorkerDescription& description) {
  const std::vector<std::string> name = NameKind(description);
  const auto [found, is_new] = kinds_.try_emplace(name);
  Kind& kind = found->second;
  if (is_new) {
    kind.description = description;
    for (auto& [text, need] : needs_) {
      if (!CanRun(description, need.device, need.exact()).ok()) continue;
      need.kinds.insert(&kind);
      kind.needs.insert(&need);
    }
  }
  ++kind.workers;
  workers_[worker.value] = name;
}

void MatchIndex::RemoveWorker(WorkerId worker) {
  const auto found = workers_.find(worker.value);
  if (found == workers_.end()) return;
  const auto kind = kinds_.find(found->second);
  kind->second.usable.erase(worker);
  kind->second.idle.erase(worker);
  if (--kind->second.workers == 0) {
    for (Need* const need : kind->second.needs) {
      need->kinds.erase(&kind->second);
    }
    kinds_.erase(kind);
  }
  workers_.erase(found);
}

void MatchIndex::SetWorker(WorkerId worker, bool is_usable, bool is_idle) {
  const auto found = workers_.find(worker.value);
  if (found == workers_.end()) return;
  Kind& kind = kinds_.at(found->second);
  for (const auto& [workers, is_in] :
       {std::pair(&kind.usable, is_usable), std::pair(&kind.idle, is_idle)}) {
    if (is_in) {
      workers->insert(worker);
    } else {
      workers->erase(worker);
    }
  }
}

void MatchIndex::AddJob(JobId job, const v1::DeviceSpec& device,
                        const DeviceDescription* exactly, int priority,
                        const std::string& name_space) {
  const std::vector<std::string> name = NameNeed(device, exactly);
  const auto [found, is_new] = needs_.try_emplace(name);
  Need& need = found->second;
  if (is_new) {
    need.device = device;
    if (exactly != nullptr) need.exactly = *exactly;
    for (auto& [text, kind] : kinds_) {
      if (!CanRun(kind.description, device, exactly).ok()) continue;
      need.kinds.insert(&kind);
      kind.needs.insert(&need);
    }
  }
  ++need.jobs;
  jobs_[job.value] = {name, priority, name_space, false};
}

void MatchIndex::RemoveJob(JobId job) {
  const auto found = jobs_.find(job.value);
  if (found == jobs_.end()) return;
  SetWaiting(job, false);
  const auto need = needs_.find(found->second.need);
  if (--need->second.jobs == 0) {
    for (Kind* const kind : need->second.kinds) {
      kind->needs.erase(&need->second);
    }
    needs_.erase(need);
  }
  jobs_.erase(found);
}

void MatchIndex::Insert(JobId job, const JobEntry& entry) {
  needs_.at(entry.need).waiting[entry.priority][entry.name_space].insert(job);
}

void MatchIndex::Erase(JobId job, const JobEntry& entry) {
  auto& waiting = needs_.at(entry.need).waiting;
  Jobs& of_priority = waiting.at(entry.priority);
  std::set<JobId>& of_namespace = of_priority.at(entry.name_space);
  of_namespace.erase(job);
  if (!of_namespace.empty()) return;
  of_priority.erase(entry.name_space);
  if (of_priority.empty()) waiting.erase(entry.priority);
}

void MatchIndex::SetWaiting(JobId job, bool is_waiting) {
  const auto found = jobs_.find(job.value);
  if (found == jobs_.end() || found->second.is_waiting == is_waiting) return;
  found->second.is_waiting = is_waiting;
  if (is_waiting) {
    Insert(job, found->second);
  } else {
    Erase(job, found->second);
  }
}

void MatchIndex::SetPriority(JobId job, int priority) {
  const auto found = jobs_.find(job.value);
  if (found == jobs_.end()) return;
  JobEntry& entry = found->second;
  if (entry.is_waiting) Erase(job, entry);
  entry.priority = priority;
  if (entry.is_waiting) Insert(job, entry);
}

bool MatchIndex::IsIdle(WorkerId worker) const {
  const auto found = workers_.find(worker.value);
  return found != workers_.end() &&
         kinds_.at(found->second).idle.contains(worker);
}

std::optional<JobId> MatchIndex::FindJob(WorkerId worker) const {
  const auto found = workers_.find(worker.value);
  if (found == workers_.end()) return std::nullopt;
  using Rank = std::tuple<int, absl::Duration, JobId>;
  std::optional<Rank> best;
  for (const Need* const need : kinds_.at(found->second).needs) {
    if (need->waiting.empty()) continue;
    const auto& [priority, jobs] = *need->waiting.begin();
    for (const auto& [name_space, ids] : jobs) {
      const Rank rank(-priority, shares_->charged(name_space), *ids.begin());
      if (!best.has_value() || rank < *best) best = rank;
    }
  }
  if (!best.has_value()) return std::nullopt;
  return std::get<JobId>(*best);
}

std::optional<WorkerId> MatchIndex::FindWorker(JobId job) const {
  const auto found = jobs_.find(job.value);
  if (found == jobs_.end()) return std::nullopt;
  std::optional<WorkerId> first;
  for (const Kind* const kind : needs_.at(found->second.need).kinds) {
    if (kind->idle.empty()) continue;
    // The same whatever the addresses of kinds are.
    if (!first.has_value() || *kind->idle.begin() < *first) {
      first = *kind->idle.begin();
    }
  }
  return first;
}

bool MatchIndex::HasUsableWorker(JobId job) const {
  const auto found = jobs_.find(job.value);
  if (found == jobs_.end()) return false;
  for (const Kind* const kind : needs_.at(found->second.need).kinds) {
    if (!kind->usable.empty()) return true;
  }
  return false;
}

std::optional<WorkerId> MatchIndex::FindUsable(
    const v1::DeviceSpec& device, const DeviceDescription* exactly) const {
  std::optional<WorkerId> first;
  for (const auto& [name, kind] : kinds_) {
    if (kind.usable.empty() ||
        !CanRun(kind.description, device, exactly).ok()) {
      continue;
    }
    if (!first.has_value() || *kind.usable.begin() < *first) {
      first = *kind.usable.begin();
    }
  }
  return first;
}

}  // namespace meshwright::jobs
