#include "coordinator/jobs/gangs/gang.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace meshwright::jobs::gangs {
namespace {

// All measured it: the row of the member with the shortest time, the noise of
// any and the memory of the fullest. Kernels of a collective wait for the
// member that begins last, so this one's alone have no waiting in them.
v1::ProfileResult Join(
    const std::vector<std::optional<v1::ProfileResult>>& results) {
  const auto shortest = std::min_element(
      results.begin(), results.end(), [](const auto& a, const auto& b) {
        return a->measurement().time_ns() < b->measurement().time_ns();
      });
  v1::ProfileResult joint = **shortest;
  v1::Measurement& to = *joint.mutable_measurement();
  for (const std::optional<v1::ProfileResult>& result : results) {
    const v1::Measurement& own = result->measurement();
    if (own.quality() == v1::NOISY) to.set_quality(v1::NOISY);
    for (const int noise : own.noise()) {
      if (std::find(to.noise().begin(), to.noise().end(), noise) ==
          to.noise().end()) {
        to.add_noise(static_cast<v1::Noise>(noise));
      }
    }
    if (own.memory().peak_bytes() > to.memory().peak_bytes()) {
      *to.mutable_memory() = own.memory();
    }
  }
  return joint;
}

bool MayBeDeath(v1::Outcome outcome) {
  return outcome == v1::CRASHED || outcome == v1::TIMED_OUT ||
         outcome == v1::OUT_OF_MEMORY;
}

}  // namespace

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
  if (failed == program.results.end()) return Join(program.results);
  if (FindDeath().has_value()) return std::nullopt;
  return **failed;
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

std::optional<v1::ProfileResult> Gang::FindDeath() const {
  if (programs_.size() != 1) return std::nullopt;
  for (int rank = 0; rank < size(); ++rank) {
    const auto& said = programs_.begin()->second.results[rank];
    if (!said.has_value() || !MayBeDeath(said->outcome())) continue;
    v1::ProfileResult death = *said;
    death.set_reason(absl::StrCat("on rank ", rank, ": ", said->reason()));
    return death;
  }
  return std::nullopt;
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
