#include "coordinator/jobs/handed_in.h"

#include <algorithm>
#include <utility>

namespace meshwright::jobs {

void HandedIn::Add(LeaseId lease, const std::vector<std::string>& keys,
                   absl::Time expires) {
  const auto [entry, is_new] = leases_.try_emplace(lease);
  if (!is_new) return;
  entry->second.keys = keys;
  entry->second.expires = expires;
  for (const std::string& key : keys) by_key_[key] = lease;
}

bool HandedIn::Keep(LeaseId lease, const v1::ProfileResult& result) {
  const auto entry = leases_.find(lease);
  if (entry == leases_.end()) return false;
  const std::vector<std::string>& keys = entry->second.keys;
  if (std::find(keys.begin(), keys.end(), result.key()) == keys.end()) {
    return false;
  }
  if (Find(result.key()) == lease) {
    entry->second.results.emplace(result.key(), result);
  }
  return true;
}

std::optional<LeaseId> HandedIn::Find(const std::string& key) const {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  return found->second;
}

std::vector<v1::ProfileResult> HandedIn::Release(LeaseId lease) {
  std::vector<v1::ProfileResult> results;
  const auto entry = leases_.find(lease);
  if (entry == leases_.end()) return results;
  for (auto& [key, result] : entry->second.results) {
    results.push_back(std::move(result));
  }
  for (const std::string& key : entry->second.keys) {
    const auto owner = by_key_.find(key);
    if (owner != by_key_.end() && owner->second == lease) by_key_.erase(owner);
  }
  leases_.erase(entry);
  return results;
}

std::vector<LeaseId> HandedIn::Expire(absl::Time now) {
  std::vector<LeaseId> expired;
  for (const auto& [lease, entry] : leases_) {
    if (entry.expires <= now) expired.push_back(lease);
  }
  for (const LeaseId lease : expired) Release(lease);
  return expired;
}

}  // namespace meshwright::jobs
