#include "coordinator/jobs/fair_share.h"

#include <algorithm>

namespace meshwright::jobs {

void FairShare::Enter(const std::string& name_space) {
  const auto [found, is_new] = accounts_.try_emplace(name_space);
  Account& account = found->second;
  if (account.jobs++ > 0) return;
  if (!is_new) --absent_;
  absl::Duration min_charged = absl::InfiniteDuration();
  for (const auto& [name, other] : accounts_) {
    if (other.jobs > 0 && name != name_space) {
      min_charged = std::min(min_charged, other.charged);
    }
  }
  if (min_charged != absl::InfiniteDuration()) {
    account.charged = std::max(account.charged, min_charged);
  }
}

void FairShare::Leave(const std::string& name_space) {
  const auto found = accounts_.find(name_space);
  if (found == accounts_.end() || found->second.jobs == 0) return;
  if (--found->second.jobs > 0) return;
  if (++absent_ <= kMaxAbsent) return;
  std::erase_if(accounts_, [](const auto& it) { return it.second.jobs == 0; });
  absent_ = 0;
}

void FairShare::Charge(const std::string& name_space, absl::Duration time) {
  const auto found = accounts_.find(name_space);
  if (found != accounts_.end()) found->second.charged += time;
}

absl::Duration FairShare::charged(const std::string& name_space) const {
  const auto found = accounts_.find(name_space);
  return found == accounts_.end() ? absl::ZeroDuration()
                                  : found->second.charged;
}

}  // namespace meshwright::jobs
