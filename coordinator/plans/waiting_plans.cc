#include "coordinator/plans/waiting_plans.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/jobs/device_record.h"

namespace meshwright::plans {
namespace {

std::string NameNeeds(const Needs& needs) {
  const std::string device = needs.device.SerializeAsString();
  return absl::StrCat(
      device.size(), " ", device,
      needs.exactly.has_value()
          ? jobs::MakeDeviceRecord(*needs.exactly).SerializeAsString()
          : "any");
}

}  // namespace

void WaitingPlans::Add(store::PlanId id, const Needs& needs, absl::Time now) {
  Plan& plan = plans_[id];
  plan = Plan();
  plan.name = NameNeeds(needs);
  plan.needs = needs;
  plan.since = now;
}

void WaitingPlans::Tell(store::PlanId id, const std::string& reason,
                        absl::Time now) {
  const auto plan = plans_.find(id);
  if (plan == plans_.end()) return;
  plan->second.said = reason;
  plan->second.told = now;
}

std::map<std::string, Needs> WaitingPlans::ListNeeds() const {
  std::map<std::string, Needs> needs;
  for (const auto& [id, plan] : plans_) {
    needs.try_emplace(plan.name, plan.needs);
  }
  return needs;
}

WaitingPlans::News WaitingPlans::Take(
    const std::map<std::string, absl::Status>& found, absl::Time now) {
  News news;
  for (auto it = plans_.begin(); it != plans_.end();) {
    const auto& [id, plan] = *it;
    const auto status = found.find(plan.name);
    if (status != found.end() && status->second.ok()) {
      news.ready.push_back(id);
      it = plans_.erase(it);
      continue;
    }
    if (status != found.end() && !plan.said.empty() &&
        plan.said != status->second.message() &&
        now - plan.told >= kReasonStands) {
      news.changed.emplace_back(id, status->second.message());
    }
    ++it;
  }
  return news;
}

absl::Duration WaitingPlans::FindLongest(absl::Time now) const {
  absl::Duration longest;
  for (const auto& [id, plan] : plans_) {
    longest = std::max(longest, now - plan.since);
  }
  return longest;
}

}  // namespace meshwright::plans
