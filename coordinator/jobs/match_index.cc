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
          worker.joins_gangs ? "joins gangs" : ""};
}

std::string NameHost(WorkerId id, const WorkerDescription& worker) {
  return worker.joins_gangs ? worker.host : absl::StrCat(id.value);
}

}  // namespace

void MatchIndex::AddWorker(WorkerId worker,
                           const WorkerDescription& description) {
  const auto [found, is_new] = kinds_.try_emplace(NameKind(description));
  Kind& kind = found->second;
  if (is_new) {
    kind.description = description;
    for (auto& [text, need] : needs_) Join(need, kind);
  }
  const auto host = kind.hosts.try_emplace(NameHost(worker, description)).first;
  ++host->second.count;
  workers_[worker.value] = {found, host};
}

void MatchIndex::RemoveWorker(WorkerId worker) {
  const auto found = workers_.find(worker.value);
  if (found == workers_.end()) return;
  const Place place = found->second;
  workers_.erase(found);
  Kind& kind = place.kind->second;
  Host& host = place.host->second;
  TakeOut(kind, host);
  host.workers.usable.erase(worker);
  host.workers.idle.erase(worker);
  PutIn(kind, host);
  if (--host.count > 0) return;
  kind.hosts.erase(place.host);
  if (!kind.hosts.empty()) return;
  for (const auto& [need, members] : kind.needs) need->kinds.erase(&kind);
  kinds_.erase(place.kind);
}

void MatchIndex::SetWorker(WorkerId worker, bool is_usable, bool is_idle) {
  const auto found = workers_.find(worker.value);
  if (found == workers_.end()) return;
  Kind& kind = found->second.kind->second;
  Host& host = found->second.host->second;
  TakeOut(kind, host);
  for (const auto& [workers, is_in] :
       {std::pair(&host.workers.usable, is_usable),
        std::pair(&host.workers.idle, is_idle)}) {
    if (is_in) {
      workers->insert(worker);
    } else {
      workers->erase(worker);
    }
  }
  PutIn(kind, host);
}

void MatchIndex::TakeOut(Kind& kind, const Host& host) {
  const auto found = kind.sizes.find(host.size());
  if (found == kind.sizes.end()) return;
  Workers& all = found->second;
  for (const WorkerId worker : host.workers.usable) all.usable.erase(worker);
  for (const WorkerId worker : host.workers.idle) all.idle.erase(worker);
  if (all.usable.empty() && all.idle.empty()) kind.sizes.erase(found);
}

void MatchIndex::PutIn(Kind& kind, const Host& host) {
  if (host.workers.usable.empty() && host.workers.idle.empty()) return;
  Workers& all = kind.sizes[host.size()];
  all.usable.insert(host.workers.usable.begin(), host.workers.usable.end());
  all.idle.insert(host.workers.idle.begin(), host.workers.idle.end());
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
  ++looked_at_;
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
         found->second.host->second.workers.idle.contains(worker);
}

std::optional<MatchIndex::Turn> MatchIndex::FindTurn(const Kind& kind,
                                                     int usable) const {
  using Rank = std::tuple<int, absl::Duration, JobId, int>;
  std::optional<Rank> best;
  for (const auto& [need, members] : kind.needs) {
    ++looked_at_;
    if (need->waiting.empty() || (members > 1 && usable < members)) continue;
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

bool MatchIndex::LacksMembers(const Turn& turn, Size size) {
  return turn.members > 1 && size.idle < turn.members;
}

std::optional<MatchIndex::Turn> MatchIndex::FindTurnNow(const Kind& kind,
                                                        Size size) const {
  const auto turn = FindTurn(kind, size.usable);
  if (!turn.has_value() || LacksMembers(*turn, size)) return std::nullopt;
  return turn;
}

bool MatchIndex::IsHeld(const Kind& kind, Size size) const {
  if (kind.shared_needs == 0) return false;
  const auto turn = FindTurn(kind, size.usable);
  return turn.has_value() && LacksMembers(*turn, size);
}

std::optional<JobId> MatchIndex::FindJob(WorkerId worker) const {
  const auto found = workers_.find(worker.value);
  if (found == workers_.end()) return std::nullopt;
  const Place& place = found->second;
  const auto turn = FindTurnNow(place.kind->second, place.host->second.size());
  if (!turn.has_value()) return std::nullopt;
  return turn->job;
}

std::optional<WorkerId> MatchIndex::FindReleased() const {
  for (const auto& [name, kind] : kinds_) {
    ++looked_at_;
    for (const auto& [size, workers] : kind.sizes) {
      if (!workers.idle.empty() && FindTurnNow(kind, size).has_value()) {
        return *workers.idle.begin();
      }
    }
  }
  return std::nullopt;
}

int MatchIndex::CountMembers(WorkerId worker, JobId job) const {
  const Need& need = needs_.at(jobs_.at(job.value).need);
  return need.kinds.at(&workers_.at(worker.value).kind->second);
}

const std::set<WorkerId>& MatchIndex::FindIdle(WorkerId worker) const {
  return workers_.at(worker.value).host->second.workers.idle;
}

std::optional<WorkerId> MatchIndex::FindWorker(JobId job) const {
  const auto found = jobs_.find(job.value);
  if (found == jobs_.end()) return std::nullopt;
  std::optional<WorkerId> first;
  for (const auto& [kind, members] : needs_.at(found->second.need).kinds) {
    for (const auto& [size, workers] : kind->sizes) {
      ++looked_at_;
      if (workers.idle.empty() || size.usable < members ||
          IsHeld(*kind, size)) {
        continue;
      }
      // The same whatever the addresses of kinds are.
      if (!first.has_value() || *workers.idle.begin() < *first) {
        first = *workers.idle.begin();
      }
    }
  }
  return first;
}

bool MatchIndex::HasUsableWorker(JobId job) const {
  const auto found = jobs_.find(job.value);
  if (found == jobs_.end()) return false;
  for (const auto& [kind, members] : needs_.at(found->second.need).kinds) {
    ++looked_at_;
    // Sizes are in the order of how many are usable.
    if (!kind->sizes.empty() && kind->sizes.rbegin()->first.usable >= members) {
      return true;
    }
  }
  return false;
}

std::optional<WorkerId> MatchIndex::FindUsable(
    const v1::DeviceSpec& device, const DeviceDescription* exactly) const {
  std::optional<WorkerId> first;
  for (const auto& [name, kind] : kinds_) {
    ++looked_at_;
    const int members = jobs::CountMembers(kind.description, device, exactly,
                                           /*may_share=*/true);
    if (members == 0) continue;
    for (const auto& [size, workers] : kind.sizes) {
      ++looked_at_;
      if (size.usable < members) continue;
      if (!first.has_value() || *workers.usable.begin() < *first) {
        first = *workers.usable.begin();
      }
    }
  }
  return first;
}

}  // namespace meshwright::jobs
