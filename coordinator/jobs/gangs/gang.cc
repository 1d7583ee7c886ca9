#include "coordinator/jobs/gangs/gang.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace meshwright::jobs::gangs {

Gang::Gang(int size, const std::vector<std::string>& keys, absl::Time now,
           GangOptions options)
    : options_(options), began_(now), members_(size, Member{.heard = now}) {
  for (const std::string& key : keys) programs_[key].results.resize(size);
}

bool Gang::Arrive(int rank, absl::Time now) {
  Member& member = members_[rank];
  if (state_ != State::kPreparing || member.is_at_gate) return false;
  member.is_at_gate = true;
  if (!std::all_of(members_.begin(), members_.end(),
                   [](const Member& it) { return it.is_at_gate; })) {
    return false;
  }
  state_ = State::kRunning;
  for (Member& it : members_) it.heard = now;
  return true;
}

std::optional<v1::ProfileResult> Gang::Add(int rank,
                                           const v1::ProfileResult& result) {
  const auto found = programs_.find(result.key());
  if (state_ != State::kRunning || found == programs_.end()) {
    return std::nullopt;
  }
  Program& program = found->second;
  if (program.results[rank].has_value()) return std::nullopt;
  program.results[rank] = result;
  ++members_[rank].results;
  if (++program.count < size()) return std::nullopt;
  const auto failed = std::find_if(
      program.results.begin(), program.results.end(),
      [](const auto& it) { return it->outcome() != v1::MEASURED; });
  return failed == program.results.end() ? *program.results.front() : **failed;
}

bool Gang::Finish(int rank) {
  Member& member = members_[rank];
  if (member.results < static_cast<int>(programs_.size())) return false;
  member.is_finished = true;
  if (std::all_of(members_.begin(), members_.end(),
                  [](const Member& it) { return it.is_finished; })) {
    state_ = State::kOver;
  }
  return true;
}

std::optional<Holdup> Gang::FindHoldup(absl::Time now) const {
  for (int rank = 0; rank < size(); ++rank) {
    const Member& member = members_[rank];
    if (state_ == State::kPreparing && !member.is_at_gate &&
        now - began_ > options_.ready_time) {
      return Holdup{rank, absl::StrCat("is not ready after ",
                                       absl::FormatDuration(now - began_))};
    }
    if (state_ == State::kRunning && !member.is_finished &&
        now - member.heard > options_.silence) {
      return Holdup{rank,
                    absl::StrCat("makes no progress for ",
                                 absl::FormatDuration(now - member.heard))};
    }
  }
  return std::nullopt;
}

}  // namespace meshwright::jobs::gangs
