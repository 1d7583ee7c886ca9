#include "planner/reshard/heuristics/insertion_schedule.h"

#include <algorithm>
#include <limits>

namespace meshwright::reshard {
namespace {

std::vector<int> LinksOfPorts(const Instance& instance) {
  std::vector<int> links = instance.out_links;
  links.insert(links.end(), instance.in_links.begin(), instance.in_links.end());
  return links;
}

}  // namespace

InsertionSchedule::InsertionSchedule(const Instance& instance)
    : instance_(instance),
      conflicts_(instance),
      ports_(LinksOfPorts(instance)),
      first_{0},
      free_(ports_.size(), 0),
      removed_(instance.size(), false),
      queues_(ports_.size() + 1),
      of_several_(ports_.size(), false) {
  for (const Job& job : instance.jobs) {
    first_.push_back(first_.back() + 1 +
                     static_cast<int>(job.receivers.size()));
  }
  state_.jobs.resize(instance.size());
  state_.links.resize(first_.back());
  for (int i = 0; i < instance.size(); ++i) Choose(i, 0);
}

void InsertionSchedule::Restore(const Order& order) {
  state_.order.clear();
  ports_.Clear();
  for (const auto& [job, choice] : order) {
    state_.order.push_back(job);
    Choose(job, choice);
    Ticks start = 0;
    const int ports = first_[job + 1] - first_[job];
    for (int i = 0; i < ports; ++i) {
      start = std::max(start, ports_.FreeAt(Port(job, i)));
    }
    for (int i = 0; i < ports; ++i) {
      SetLink(job, i, ports_.Find(Port(job, i), start));
      ports_.Occupy(Port(job, i), start, start + state_.jobs[job].ticks);
    }
  }
}

Order InsertionSchedule::ToOrder() const {
  Order order;
  for (const int job : state_.order) {
    order.push_back({job, state_.jobs[job].choice});
  }
  if (ports_.size() == instance_.outs() + instance_.ins()) return order;
  const auto start = [&](const Placed& placed) {
    return state_.jobs[placed.job].end - state_.jobs[placed.job].ticks;
  };
  std::stable_sort(
      order.begin(), order.end(),
      [&](const Placed& a, const Placed& b) { return start(a) < start(b); });
  return order;
}

Ticks InsertionSchedule::Time() {
  std::vector<int>& order = state_.order;
  Ticks makespan = 0;
  std::fill(free_.begin(), free_.end(), 0);
  for (const int job : order) {
    JobState& state = state_.jobs[job];
    state.end = Append(job) + state.ticks;
    makespan = std::max(makespan, state.end);
  }
  // Mostly sorted already.
  for (size_t i = 1; i < order.size(); ++i) {
    const int job = order[i];
    size_t to = i;
    for (; to > 0 && state_.jobs[order[to - 1]].end > state_.jobs[job].end;
         --to) {
      order[to] = order[to - 1];
    }
    order[to] = job;
  }
  std::fill(free_.begin(), free_.end(), 0);
  for (size_t i = order.size(); i-- > 0;) {
    state_.jobs[order[i]].tail = Append(order[i]);
  }
  return makespan;
}

void InsertionSchedule::Remove(const std::vector<int>& jobs) {
  for (const int job : jobs) removed_[job] = true;
  std::erase_if(state_.order, [&](int job) { return removed_[job]; });
  for (const int job : jobs) removed_[job] = false;
}

std::optional<Ticks> InsertionSchedule::Insert(int job, Ticks limit,
                                               std::mt19937_64& random) {
  Position best{.chain = limit};
  const auto choices = static_cast<int>(instance_.jobs[job].choices.size());
  for (int c = 0; c < choices; ++c) FindPositions(job, c, best, random);
  if (best.equal == 0) return std::nullopt;
  Choose(job, best.choice);
  for (const int link : best.links) {
    for (int i = 0; i < first_[job + 1] - first_[job]; ++i) {
      const int port = Port(job, i);
      if (ports_.Begin(port) <= link && link < ports_.End(port)) {
        SetLink(job, i, link);
      }
    }
  }
  state_.order.insert(
      state_.order.begin() + static_cast<std::ptrdiff_t>(best.at), job);
  return best.chain;
}

void InsertionSchedule::FindPositions(int job, int choice, Position& best,
                                      std::mt19937_64& random) {
  const Choice& sender = instance_.jobs[job].choices[choice];
  FillQueues(job, sender);
  for (size_t left = hits_.size();; --left) {
    if (sender.ticks + queues_.back().behind > best.chain) return;
    const Ticks chain = ShortestChain(sender.ticks);
    if (chain <= best.chain) {
      if (chain < best.chain) best.equal = 0;
      if (++best.equal == 1 || random() % best.equal == 0) {
        best.chain = chain;
        best.choice = choice;
        best.at = left == 0 ? 0 : hits_[left - 1] + 1;
        best.links = links_chosen_;
      }
    }
    if (left == 0) return;
    const int other = state_.order[hits_[left - 1]];
    Pass(queues_.back(), other);
    if (several_.empty()) continue;
    for (int k = first_[other]; k < first_[other + 1]; ++k) {
      const int link = state_.links[k];
      if (of_several_[link]) Pass(queues_[link], other);
    }
  }
}

void InsertionSchedule::Pass(Queue& queue, int job) {
  if (queue.jobs.empty() || queue.jobs.back() != job) return;
  queue.jobs.pop_back();
  queue.behind =
      std::max(queue.behind, state_.jobs[job].tail + state_.jobs[job].ticks);
}

void InsertionSchedule::FillQueues(int job, const Choice& sender) {
  several_.clear();
  std::fill(of_several_.begin(), of_several_.end(), false);
  const auto add = [&](int port) {
    if (ports_.End(port) - ports_.Begin(port) == 1) return;
    several_.push_back(port);
    for (int link = ports_.Begin(port); link < ports_.End(port); ++link) {
      of_several_[link] = true;
      queues_[link].jobs.clear();
      queues_[link].behind = 0;
    }
  };
  add(sender.out);
  for (const int receiver : instance_.jobs[job].receivers) {
    add(instance_.outs() + receiver);
  }
  queues_.back().jobs.clear();
  queues_.back().behind = 0;
  hits_.clear();
  const uint64_t* const meets = conflicts_.Row(job);
  const bool has_one_link = instance_.out_links[sender.out] == 1;
  for (size_t i = 0; i < state_.order.size(); ++i) {
    const int other = state_.order[i];
    bool hit = (meets[other >> 6] >> (other & 63) & 1) != 0 ||
               (has_one_link && state_.jobs[other].out == sender.out);
    if (hit) queues_.back().jobs.push_back(other);
    if (!several_.empty()) {
      for (int k = first_[other]; k < first_[other + 1]; ++k) {
        const int link = state_.links[k];
        if (!of_several_[link]) continue;
        queues_[link].jobs.push_back(other);
        hit = true;
      }
    }
    if (hit) hits_.push_back(i);
  }
}

Ticks InsertionSchedule::ShortestChain(Ticks ticks) {
  const auto head_of = [&](const Queue& queue) {
    return queue.jobs.empty() ? 0 : state_.jobs[queue.jobs.back()].end;
  };
  Ticks head = head_of(queues_.back()), tail = queues_.back().behind;
  links_chosen_.clear();
  for (const int port : several_) {
    Ticks min_chain = std::numeric_limits<Ticks>::max();
    Ticks latest = 0;  // the head of the link chosen
    int chosen = 0;
    for (int link = ports_.Begin(port); link < ports_.End(port); ++link) {
      const Queue& queue = queues_[link];
      const Ticks own = head_of(queue);
      const Ticks chain = std::max(head, own) + std::max(tail, queue.behind);
      if (chain < min_chain || (chain == min_chain && own > latest)) {
        min_chain = chain;
        latest = own;
        chosen = link;
      }
    }
    const Queue& queue = queues_[chosen];
    head = std::max(head, head_of(queue));
    tail = std::max(tail, queue.behind);
    links_chosen_.push_back(chosen);
  }
  return head + ticks + tail;
}

Ticks InsertionSchedule::Area(int job) const {
  return state_.jobs[job].ticks * (first_[job + 1] - first_[job]);
}

int InsertionSchedule::Port(int job, int index) const {
  return index == 0
             ? state_.jobs[job].out
             : instance_.outs() + instance_.jobs[job].receivers[index - 1];
}

void InsertionSchedule::Choose(int job, int choice) {
  const Choice& sender = instance_.jobs[job].choices[choice];
  JobState& state = state_.jobs[job];
  state.choice = choice;
  state.out = sender.out;
  state.ticks = sender.ticks;
  for (int i = 0; i < first_[job + 1] - first_[job]; ++i) {
    SetLink(job, i, ports_.Begin(Port(job, i)));
  }
}

Ticks InsertionSchedule::Append(int job) {
  const int* const begin = state_.links.data() + first_[job];
  const int* const end = state_.links.data() + first_[job + 1];
  Ticks start = 0;
  for (const int* link = begin; link != end; ++link) {
    start = std::max(start, free_[*link]);
  }
  for (const int* link = begin; link != end; ++link) {
    free_[*link] = start + state_.jobs[job].ticks;
  }
  return start;
}

}  // namespace meshwright::reshard
