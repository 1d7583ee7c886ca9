#include "coordinator/jobs/wants.h"

#include <algorithm>
#include <utility>

namespace meshwright::jobs {

WantId Wants::Add(const std::vector<std::string>& keys,
                  const JobOrigin& origin) {
  const WantId id{++last_};
  wants_.emplace(id, Want{keys, origin});
  for (const std::string& key : keys) by_key_[key].insert(id);
  return id;
}

std::vector<std::string> Wants::Remove(WantId id) {
  auto found = wants_.extract(id);
  if (found.empty()) return {};
  for (const std::string& key : found.mapped().keys) {
    const auto wants = by_key_.find(key);
    if (wants == by_key_.end()) continue;  // it is named twice
    wants->second.erase(id);
    if (wants->second.empty()) by_key_.erase(wants);
  }
  return std::move(found.mapped().keys);
}

std::optional<WantId> Wants::FindFirst(const std::string& key) const {
  const auto wants = by_key_.find(key);
  if (wants == by_key_.end()) return std::nullopt;
  return *wants->second.begin();
}

std::optional<int> Wants::FindPriority(const std::string& key) const {
  const auto wants = by_key_.find(key);
  if (wants == by_key_.end()) return std::nullopt;
  std::optional<int> highest;
  for (const WantId id : wants->second) {
    const int priority = wants_.at(id).origin.priority;
    highest = std::max(highest.value_or(priority), priority);
  }
  return highest;
}

}  // namespace meshwright::jobs
