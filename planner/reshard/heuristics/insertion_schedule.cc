#include "planner/reshard/heuristics/insertion_schedule.h"

#include <algorithm>

namespace meshwright::reshard {

Places::Places(const Instance& instance)
    : instance_(instance),
      conflicts_(instance),
      first_{0},
      free_(instance.outs() + instance.ins(), 0),
      gone_(instance.size(), false) {
  for (const Job& job : instance.jobs) {
    for (const int receiver : job.receivers) {
      ports_.push_back(instance.outs() + receiver);
    }
    first_.push_back(static_cast<int>(ports_.size()));
  }
  state_.of.resize(instance.size());
  for (int i = 0; i < instance.size(); ++i) Choose(i, 0);
}

void Places::Restore(const Order& order) {
  state_.order.clear();
  for (const auto& [job, choice] : order) {
    state_.order.push_back(job);
    Choose(job, choice);
  }
}

Order Places::ToOrder() const {
  Order order;
  for (const int job : state_.order) {
    order.push_back({job, state_.of[job].choice});
  }
  return order;
}

Ticks Places::Time() {
  std::vector<int>& order = state_.order;
  Ticks makespan = 0;
  std::fill(free_.begin(), free_.end(), 0);
  for (const int job : order) {
    Place& place = state_.of[job];
    place.end = Append(job) + place.ticks;
    makespan = std::max(makespan, place.end);
  }
  // Mostly sorted already.
  for (size_t i = 1; i < order.size(); ++i) {
    const int job = order[i];
    size_t to = i;
    for (; to > 0 && state_.of[order[to - 1]].end > state_.of[job].end; --to) {
      order[to] = order[to - 1];
    }
    order[to] = job;
  }
  std::fill(free_.begin(), free_.end(), 0);
  for (size_t i = order.size(); i-- > 0;) {
    state_.of[order[i]].behind = Append(order[i]);
  }
  return makespan;
}

void Places::Remove(const std::vector<int>& jobs) {
  for (const int job : jobs) gone_[job] = true;
  std::erase_if(state_.order, [&](int job) { return gone_[job]; });
  for (const int job : jobs) gone_[job] = false;
}

std::optional<Ticks> Places::Insert(int job, Ticks limit,
                                    std::mt19937_64& random) {
  const uint64_t* const meets = conflicts_.Row(job);
  const std::vector<Choice>& choices = instance_.jobs[job].choices;
  Ticks least = limit;
  int best_choice = -1;
  size_t best = 0, equal = 0;
  for (size_t c = 0; c < choices.size(); ++c) {
    const int out = choices[c].out;
    const Ticks ticks = choices[c].ticks;
    const auto offer = [&](Ticks before, Ticks behind, size_t to) {
      const Ticks chain = before + ticks + behind;
      if (chain > least) return;
      if (chain < least) equal = 0;
      if (++equal > 1 && random() % equal != 0) return;
      least = chain;
      best_choice = static_cast<int>(c);
      best = to;
    };
    Ticks behind = 0;
    size_t i = state_.order.size();
    for (; i > 0 && ticks + behind <= least; --i) {
      const int other = state_.order[i - 1];
      const Place& place = state_.of[other];
      const bool meet = (meets[other >> 6] >> (other & 63) & 1) != 0;
      if (!meet && place.out != out) continue;
      offer(place.end, behind, i);
      behind = std::max(behind, place.behind + place.ticks);
    }
    if (i == 0) offer(0, behind, 0);
  }
  if (best_choice < 0) return std::nullopt;
  Choose(job, best_choice);
  state_.order.insert(state_.order.begin() + static_cast<std::ptrdiff_t>(best),
                      job);
  return least;
}

Ticks Places::Area(int job) const {
  return state_.of[job].ticks * (first_[job + 1] - first_[job] + 1);
}

void Places::Choose(int job, int choice) {
  const Choice& sender = instance_.jobs[job].choices[choice];
  state_.of[job].choice = choice;
  state_.of[job].out = sender.out;
  state_.of[job].ticks = sender.ticks;
}

Ticks Places::Append(int job) {
  const Place& place = state_.of[job];
  const int* const begin = ports_.data() + first_[job];
  const int* const end = ports_.data() + first_[job + 1];
  Ticks start = free_[place.out];
  for (const int* port = begin; port != end; ++port) {
    start = std::max(start, free_[*port]);
  }
  free_[place.out] = start + place.ticks;
  for (const int* port = begin; port != end; ++port) {
    free_[*port] = start + place.ticks;
  }
  return start;
}

bool OneLinkEach(const Instance& instance) {
  const auto one = [](int links) { return links == 1; };
  return std::all_of(instance.out_links.begin(), instance.out_links.end(),
                     one) &&
         std::all_of(instance.in_links.begin(), instance.in_links.end(), one);
}

}  // namespace meshwright::reshard
