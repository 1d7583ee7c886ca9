#include "coordinator/plans/turns.h"

#include <tuple>
#include <utility>

namespace meshwright::plans {
namespace {

int FindCount(const std::map<std::string, int>& counts,
              const std::string& share) {
  const auto found = counts.find(share);
  return found == counts.end() ? 0 : found->second;
}

void Add(int change, const std::string& share,
         std::map<std::string, int>& counts) {
  const auto found = counts.try_emplace(share).first;
  found->second += change;
  if (found->second == 0) counts.erase(found);
}

// Names have no NUL.
std::string NameShare(const std::string& name_space,
                      const std::string& device) {
  return name_space + '\0' + device;
}

}  // namespace

void Turns::Enter(store::PlanId id, const Share& share, int priority) {
  const auto [found, is_new] = plans_.try_emplace(id);
  Plan& plan = found->second;
  plan.leaves = false;
  if (!is_new) return;
  plan.name_space = share.name_space;
  plan.share = NameShare(share.name_space, share.device);
  plan.priority = priority;
  namespaces_.Enter(plan.name_space);
  shares_.Enter(plan.share);
}

void Turns::Pin(store::PlanId id, const std::string& device) {
  const auto found = plans_.find(id);
  if (found == plans_.end()) return;
  Plan& plan = found->second;
  Count(plan, id, /*is_in=*/false);
  const std::string before =
      std::exchange(plan.share, NameShare(plan.name_space, device));
  shares_.Enter(plan.share);
  shares_.Leave(before);
  Count(plan, id, /*is_in=*/true);
}

void Turns::Leave(store::PlanId id) {
  const auto found = plans_.find(id);
  if (found == plans_.end()) return;
  switch (found->second.state) {
    case State::kIdle:
    case State::kWaitsToLookUp:
    case State::kWaitsToMeasure:
    case State::kPromised:
      Forget(found);
      break;
    case State::kLooksUp:
    case State::kMeasures:
    case State::kGivesWay:
      found->second.leaves = true;
      break;
  }
}

void Turns::Clear() {
  for (auto it = plans_.begin(); it != plans_.end();) Leave((it++)->first);
}

void Turns::Forget(PlanMap::iterator plan) {
  Move(plan, State::kIdle);
  namespaces_.Leave(plan->second.name_space);
  shares_.Leave(plan->second.share);
  plans_.erase(plan);
}

void Turns::Wait(store::PlanId id, Kind kind) {
  const auto found = plans_.find(id);
  if (found == plans_.end() || found->second.state != State::kIdle) return;
  Move(found,
       kind == Kind::kLookUp ? State::kWaitsToLookUp : State::kWaitsToMeasure);
}

std::optional<store::PlanId> Turns::Give(absl::Time now) {
  std::optional<store::PlanId> next;
  if (looking_up_ < options_.look_ups) {
    next = FindNext(to_look_up_, looking_up_by_, namespaces_);
    if (next.has_value()) Move(plans_.find(*next), State::kLooksUp);
  }
  const int measuring = static_cast<int>(measuring_.size()) + giving_way_;
  if (!next.has_value() && measuring < options_.measurements) {
    next = promised_.empty() ? FindNextToMeasure()
                             : std::optional(*promised_.begin());
    if (next.has_value()) Move(plans_.find(*next), State::kMeasures);
  }
  if (next.has_value()) plans_.at(*next).began = now;
  return next;
}

bool Turns::Upgrade(store::PlanId id) {
  const auto found = plans_.find(id);
  if (found == plans_.end()) return false;
  if (found->second.state != State::kLooksUp) return true;
  const int measuring = static_cast<int>(measuring_.size()) + giving_way_;
  // One in line is about to be given a turn that is free.
  if (measuring >= options_.measurements || !promised_.empty() ||
      !to_measure_.empty()) {
    return false;
  }
  Move(found, State::kMeasures);
  return true;
}

void Turns::Release(store::PlanId id, absl::Time now) {
  const auto found = plans_.find(id);
  if (found == plans_.end()) return;
  const Plan& plan = found->second;
  namespaces_.Charge(plan.name_space, now - plan.began);
  if (plan.state != State::kLooksUp) {
    shares_.Charge(plan.share, now - plan.began);
  }
  Move(found, State::kIdle);
  if (found->second.leaves) Forget(found);
}

std::vector<store::PlanId> Turns::AskToGiveWay() {
  std::vector<store::PlanId> asked;
  while (true) {
    const auto next = FindNextToMeasure();
    const auto last = FindLast();
    if (!next.has_value() || !last.has_value()) return asked;
    const Plan& first = plans_.at(*next);
    const Plan& other = plans_.at(*last);
    const bool is_more_even = FindCount(measuring_by_, first.share) + 1 <
                              FindCount(measuring_by_, other.share);
    if (first.priority < other.priority ||
        (first.priority == other.priority && !is_more_even)) {
      return asked;
    }
    Move(plans_.find(*last), State::kGivesWay);
    Move(plans_.find(*next), State::kPromised);
    asked.push_back(*last);
  }
}

void Turns::Move(PlanMap::iterator plan, State to) {
  Count(plan->second, plan->first, /*is_in=*/false);
  plan->second.state = to;
  Count(plan->second, plan->first, /*is_in=*/true);
}

void Turns::Count(const Plan& plan, store::PlanId id, bool is_in) {
  const int change = is_in ? 1 : -1;
  const auto enter = [&](std::set<store::PlanId>& ids) {
    if (is_in) {
      ids.insert(id);
    } else {
      ids.erase(id);
    }
  };
  const auto queue = [&](Line& line, const std::string& share) {
    auto& by_share = line[plan.priority];
    enter(by_share[share]);
    if (by_share[share].empty()) by_share.erase(share);
    if (by_share.empty()) line.erase(plan.priority);
  };
  switch (plan.state) {
    case State::kIdle:
      break;
    case State::kWaitsToLookUp:
      queue(to_look_up_, plan.name_space);
      break;
    case State::kWaitsToMeasure:
      queue(to_measure_, plan.share);
      break;
    case State::kLooksUp:
      looking_up_ += change;
      Add(change, plan.name_space, looking_up_by_);
      break;
    case State::kPromised:
      enter(promised_);
      Add(change, plan.share, measuring_by_);
      break;
    case State::kMeasures:
      enter(measuring_);
      Add(change, plan.share, measuring_by_);
      break;
    case State::kGivesWay:
      giving_way_ += change;
      break;
  }
}

std::optional<store::PlanId> Turns::FindNext(const Line& line, const Held& held,
                                             const jobs::FairShare& charges) {
  if (line.empty()) return std::nullopt;
  const auto rank = [&](const auto& entry) {
    return std::tuple(FindCount(held, entry.first),
                      charges.charged(entry.first), *entry.second.begin());
  };
  const auto& by_share = line.begin()->second;
  auto best = by_share.begin();
  for (auto it = std::next(best); it != by_share.end(); ++it) {
    if (rank(*it) < rank(*best)) best = it;
  }
  return *best->second.begin();
}

std::optional<store::PlanId> Turns::FindNextToMeasure() const {
  return FindNext(to_measure_, measuring_by_, shares_);
}

std::optional<store::PlanId> Turns::FindLast() const {
  std::optional<store::PlanId> last;
  const auto rank = [&](store::PlanId id) {
    const Plan& plan = plans_.at(id);
    return std::tuple(-plan.priority, FindCount(measuring_by_, plan.share), id);
  };
  for (const store::PlanId id : measuring_) {
    if (!last.has_value() || rank(*last) < rank(id)) last = id;
  }
  return last;
}

}  // namespace meshwright::plans
