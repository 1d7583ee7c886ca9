#include "worker/timing/round_robin.h"

#include <algorithm>
#include <cmath>

#include "base/status_macros.h"

namespace meshwright::worker::timing {

RoundRobin::RoundRobin(const Protocol& protocol, std::vector<int> buffer_sets)
    : protocol_(protocol), states_(buffer_sets.size()) {
  for (size_t i = 0; i < states_.size(); ++i) {
    states_[i].buffer_sets = std::max(1, buffer_sets[i]);
  }
}

std::optional<Turn> RoundRobin::Next() {
  while (true) {
    if (position_ >= order_.size() && !StartPass()) return std::nullopt;
    State& state = states_[order_[position_]];
    if (runs_ > protocol_.warm_up_runs || state.abandoned ||
        OutOfBudget(state)) {
      EndTurn();
      continue;
    }
    current_.program = order_[position_];
    current_.warm_up = runs_ < protocol_.warm_up_runs;
    current_.executions = current_.warm_up ? 1 : state.executions;
    current_.buffer_set = state.runs % state.buffer_sets;
    state.runs += current_.executions;
    ++runs_;
    return current_;
  }
}

absl::Status RoundRobin::Execute(const RunOnce& run) {
  return Execute(run, [](const absl::StatusOr<Sample>& own) { return own; });
}

absl::Status RoundRobin::Execute(const RunOnce& run, const Agree& agree) {
  ASSIGN_OR_RETURN(const Sample all, agree(RunAll(run)));
  Record(all);
  return absl::OkStatus();
}

absl::StatusOr<Sample> RoundRobin::RunAll(const RunOnce& run) const {
  const int buffer_sets = states_[current_.program].buffer_sets;
  Sample all;
  for (int i = 0; i < current_.executions; ++i) {
    ASSIGN_OR_RETURN(const Sample one,
                     run((current_.buffer_set + i) % buffer_sets));
    all.wall += one.wall;
    all.cpu += one.cpu;
  }
  return all;
}

void RoundRobin::Record(const Sample& sample) {
  State& state = states_[current_.program];
  state.spent += sample.wall;
  if (!current_.warm_up) {
    if (current_.executions == state.most_executions) {
      state.spent += std::max(protocol_.minimum_sample - sample.wall,
                              absl::ZeroDuration());
    }
    state.samples.Add(
        {sample.wall / current_.executions, sample.cpu / current_.executions});
  } else if (state.samples.size() == 0 && sample.wall > absl::ZeroDuration()) {
    // The first run may be slow; a few executions too few do no harm.
    const double wanted =
        absl::FDivDuration(protocol_.minimum_sample, sample.wall);
    state.executions = static_cast<int>(
        std::clamp(std::ceil(wanted), 1.0, double(state.most_executions)));
  }
}

void RoundRobin::Abandon(int program) { states_[program].abandoned = true; }

Summary RoundRobin::Summarize(int program) const {
  return states_[program].samples.Summarize(protocol_.slow_share);
}

bool RoundRobin::StartPass() {
  if (!order_.empty()) EndPass();
  order_.clear();
  const int count = static_cast<int>(states_.size());
  for (int pick = 0; pick < 2 && order_.empty(); ++pick) {
    if (pick == 1 && !ReopenTies()) return false;
    for (int i = 0; i < count; ++i) {
      const int step = pass_ % 2 == 0 ? i : count - 1 - i;
      const int program = (step + pass_) % count;
      if (!states_[program].content && !states_[program].abandoned) {
        order_.push_back(program);
      }
    }
  }
  if (order_.empty()) return false;
  ++pass_;
  position_ = 0;
  runs_ = 0;
  return true;
}

void RoundRobin::EndTurn() {
  State& state = states_[order_[position_]];
  if (state.extra_passes > 0) --state.extra_passes;
  ++position_;
  runs_ = 0;
}

void RoundRobin::EndPass() {
  absl::Duration best = absl::InfiniteDuration();
  for (const State& state : states_) {
    if (protocol_.dynamic_limit_ratio <= 0 || state.samples.size() == 0) {
      continue;
    }
    best = std::min(best, state.samples.Summarize(0).median);
  }
  for (const int program : order_) {
    State& state = states_[program];
    state.content = IsContent(state, best);
    state.waits = state.companion || (together_ && state.content);
    if (state.waits) state.content = OutOfBudget(state);
  }
  const bool all = std::all_of(
      states_.begin(), states_.end(),
      [](const State& it) { return it.waits || it.content || it.abandoned; });
  for (State& state : states_) state.content |= all;
  FinishUntied();
}

void RoundRobin::FinishUntied() {
  if (together_) return;
  const auto may_finish = [](const State& state) {
    return state.content && !state.abandoned && !state.companion &&
           !state.tied_once && state.samples.size() > 0;
  };
  if (std::none_of(order_.begin(), order_.end(),
                   [&](int it) { return may_finish(states_[it]); })) {
    return;
  }
  std::vector<absl::Duration> times;
  for (size_t i = 0; i < states_.size(); ++i) {
    times.push_back(states_[i].companion || states_[i].samples.size() == 0
                        ? absl::InfiniteDuration()
                        : Summarize(static_cast<int>(i)).low);
  }
  std::vector<absl::Duration> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  for (const int program : order_) {
    if (!may_finish(states_[program])) continue;
    // The neighbours of its own place: the next faster and the next slower.
    const absl::Duration own = times[program];
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), own);
    const bool slower_ties =
        at + 1 != sorted.end() && *(at + 1) <= (1 + protocol_.tie_within) * own;
    const bool faster_ties =
        at != sorted.begin() && own <= (1 + protocol_.tie_within) * *(at - 1);
    if (slower_ties || faster_ties) continue;
    states_[program].tied_once = true;
    finished_.push_back(program);
  }
}

bool RoundRobin::OutOfBudget(const State& state) const {
  const int samples = state.samples.size();
  return (!state.companion && samples >= protocol_.maximum_samples &&
          state.spent >= protocol_.minimum_time) ||
         samples >=
             std::max(Protocol::kMaxSamples, protocol_.maximum_samples) ||
         state.spent >= protocol_.time_limit;
}

bool RoundRobin::IsContent(const State& state, absl::Duration best) const {
  if (OutOfBudget(state)) return true;
  if (state.extra_passes > 0) return false;
  const bool enough = state.samples.size() >= protocol_.minimum_samples &&
                      state.spent >= protocol_.minimum_time;
  const bool first =
      protocol_.dynamic_limit_ratio > 0 && state.samples.size() == 1;
  // Summaries sort all samples; most passes need none.
  if (!enough && !first) return false;
  const Summary summary = state.samples.Summarize(protocol_.slow_share);
  if (first && summary.median > protocol_.dynamic_limit_ratio * best) {
    return true;
  }
  return enough &&
         static_cast<int>(summary.kept.size()) >= protocol_.minimum_samples &&
         summary.error <= protocol_.sure_within;
}

bool RoundRobin::ReopenTies() {
  if (together_) return false;
  bool reopened = false;
  std::vector<std::pair<absl::Duration, int>> times;
  for (size_t i = 0; i < states_.size(); ++i) {
    const State& state = states_[i];
    if (state.abandoned || state.companion || state.samples.size() == 0) {
      continue;
    }
    times.emplace_back(Summarize(static_cast<int>(i)).low, static_cast<int>(i));
  }
  std::sort(times.begin(), times.end());
  const auto reopen = [&](int program) {
    State& state = states_[program];
    if (state.tied_once || OutOfBudget(state) ||
        state.samples.size() < protocol_.minimum_samples) {
      return;
    }
    state.tied_once = true;
    state.extra_passes = protocol_.tie_passes;
    state.content = false;
    reopened = true;
  };
  for (size_t i = 0; i + 1 < times.size(); ++i) {
    if (times[i + 1].first > (1 + protocol_.tie_within) * times[i].first) {
      continue;
    }
    reopen(times[i].second);
    reopen(times[i + 1].second);
  }
  return reopened;
}

}  // namespace meshwright::worker::timing
