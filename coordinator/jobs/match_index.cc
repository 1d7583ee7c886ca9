#include "coordinator/jobs/match_index.h"

#include <algorithm>
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
                                  const DeviceDescription* exactly,
                                  bool may_share) {
  std::vector<std::string> name = {
      device.platform().empty() ? "cpu" : device.platform(),
      absl::StrCat(device.device_count()), device.plugin_path(),
      device.solo() ? "solo" : "", may_share ? "may share" : ""};
  if (exactly != nullptr) {
    name.insert(name.end(), {exactly->platform_version, exactly->device_kind,
                             DigestFingerprint(exactly->fingerprint)});
  }
  return name;
}

std::vector<std::string> NameKind(const WorkerDescription& worker) {
  const DeviceDescription& has = worker.devices;
  return {has.platform,
          absl::StrCat(has.device_count),
          worker.plugin_path,
          has.platform_version,
          has.device_kind,
          DigestFingerprint(has.fingerprint),
          worker.joins_gangs ? "of " + worker.host : ""};
}

}  // namespace

void MatchIndex::AddWorker(WorkerId worker,
                           const WorkerDescription& description) {
  const std::vector<std::string> name = NameKind(description);
  const auto [found, is_new] = kinds_.try_emplace(name);
  Kind& kind = found->second;
  if (is_new) {
    kind.description = description;
    for (auto& [text, need] : needs_) Join(need, kind);
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
    for (const auto& [need, members] : kind->second.needs) {
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
                        const std::string& name_space, bool may_share) {
  const std::vector<std::string> name = NameNeed(device, exactly, may_share);
  const auto [found, is_new] = needs_.try_emplace(name);
  Need& need = found->second;
  if (is_new) {
    need.device = device;
    if (exactly != nullptr) need.exactly = *exactly;
    need.may_share = may_share;
    for (auto& [text, kind] : kinds_) Join(need, kind);
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
    for (const auto& [kind, members] : need->second.kinds) {
      kind->needs.erase(&need->second);
      if (members > 1) --kind->shared_needs;
    }
    needs_.erase(need);
  }
  jobs_.erase(found);
}

void MatchIndex::Join(Need& need, Kind& kind) {
  const int members = jobs::CountMembers(kind.description, need.device,
                                         need.exact(), need.may_share);
  if (members == 0) return;
  need.kinds[&kind] = members;
  kind.needs[&need] = members;
  if (members > 1) ++kind.shared_needs;
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

std::optional<MatchIndex::Turn> MatchIndex::FindTurn(const Kind& kind) const {
  using Rank = std::tuple<int, absl::Duration, JobId, int>;
  std::optional<Rank> best;
  for (const auto& [need, members] : kind.needs) {
    if (need->waiting.empty() ||
        (members > 1 && std::ssize(kind.usable) < members)) {
      continue;
    }
    const auto& [priority, jobs] = *need->waiting.begin();
    for (const auto& [name_space, ids] : jobs) {
      const Rank rank(-priority, shares_->charged(name_space), *ids.begin(),
                      members);
      if (!best.has_value() || rank < *best) best = rank;
    }
  }
  if (!best.has_value()) return std::nullopt;
  return Turn{std::get<2>(*best), std::get<3>(*best)};
}

bool MatchIndex::LacksMembers(const Kind& kind, const Turn& turn) {
  return turn.members > 1 && std::ssize(kind.idle) < turn.members;
}

bool MatchIndex::IsHeld(const Kind& kind) const {
  if (kind.shared_needs == 0) return false;
  const auto turn = FindTurn(kind);
  return turn.has_value() && LacksMembers(kind, *turn);
}

bool MatchIndex::IsHeld(WorkerId worker) const {
  const auto found = workers_.find(worker.value);
  return found != workers_.end() && IsHeld(kinds_.at(found->second));
}

std::optional<JobId> MatchIndex::FindJob(WorkerId worker) const {
  const auto found = workers_.find(worker.value);
  if (found == workers_.end()) return std::nullopt;
  const Kind& kind = kinds_.at(found->second);
  const auto turn = FindTurn(kind);
  if (!turn.has_value() || LacksMembers(kind, *turn)) return std::nullopt;
  return turn->job;
}

int MatchIndex::CountMembers(WorkerId worker, JobId job) const {
  const Need& need = needs_.at(jobs_.at(job.value).need);
  const Kind& kind = kinds_.at(workers_.at(worker.value));
  return std::find_if(need.kinds.begin(), need.kinds.end(),
                      [&](const auto& it) { return it.first == &kind; })
      ->second;
}

const std::set<WorkerId>& MatchIndex::FindIdle(WorkerId worker) const {
  return kinds_.at(workers_.at(worker.value)).idle;
}

std::optional<WorkerId> MatchIndex::FindWorker(JobId job) const {
  const auto found = jobs_.find(job.value);
  if (found == jobs_.end()) return std::nullopt;
  std::optional<WorkerId> first;
  for (const auto& [kind, members] : needs_.at(found->second.need).kinds) {
    if (kind->idle.empty() || std::ssize(kind->usable) < members ||
        IsHeld(*kind)) {
      continue;
    }
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
  for (const auto& [kind, members] : needs_.at(found->second.need).kinds) {
    if (std::ssize(kind->usable) >= members) return true;
  }
  return false;
}

std::optional<WorkerId> MatchIndex::FindUsable(
    const v1::DeviceSpec& device, const DeviceDescription* exactly) const {
  std::optional<WorkerId> first;
  for (const auto& [name, kind] : kinds_) {
    const int members = jobs::CountMembers(kind.description, device, exactly,
                                           /*may_share=*/true);
    if (members == 0 || std::ssize(kind.usable) < members) continue;
    if (!first.has_value() || *kind.usable.begin() < *first) {
      first = *kind.usable.begin();
    }
  }
  return first;
}

}  // namespace meshwright::jobs
