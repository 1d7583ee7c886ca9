#include "planner/reshard/heuristics/event_clock.h"

#include <algorithm>

namespace meshwright::reshard {
namespace {

constexpr auto kLaterEnd = [](const auto& a, const auto& b) {
  return a.first > b.first;
};

}  // namespace

EventClock::EventClock(const Instance& instance)
    : instance_(instance),
      words_((instance.outs() + instance.ins() + 63) / 64),
      receivers_(static_cast<size_t>(instance.size()) * words_, 0),
      full_(words_, 0),
      links_(instance.out_links),
      start_(instance.size(), 0),
      end_(instance.size(), 0) {
  links_.insert(links_.end(), instance.in_links.begin(),
                instance.in_links.end());
  free_ = links_;
  for (int i = 0; i < instance.size(); ++i) {
    for (const int receiver : instance.jobs[i].receivers) {
      const int port = instance.outs() + receiver;
      receivers_[static_cast<size_t>(i) * words_ + (port >> 6)] |=
          uint64_t{1} << (port & 63);
    }
  }
}

void EventClock::Take(int port) {
  if (--free_[port] == 0) full_[port >> 6] |= uint64_t{1} << (port & 63);
}

void EventClock::Release(int port) {
  ++free_[port];
  full_[port >> 6] &= ~(uint64_t{1} << (port & 63));
}

void EventClock::Start(const Placed& placed, Ticks now) {
  const Job& job = instance_.jobs[placed.job];
  const Choice& sender = job.choices[placed.choice];
  Take(sender.out);
  for (const int receiver : job.receivers) Take(instance_.outs() + receiver);
  start_[placed.job] = now;
  end_[placed.job] = now + sender.ticks;
  running_.emplace_back(end_[placed.job], placed);
  std::push_heap(running_.begin(), running_.end(), kLaterEnd);
}

void EventClock::Finish(const Placed& placed) {
  const Job& job = instance_.jobs[placed.job];
  Release(job.choices[placed.choice].out);
  for (const int receiver : job.receivers) {
    Release(instance_.outs() + receiver);
  }
}

template <int kWords>
size_t EventClock::StartWhatCan(size_t count, Ticks now) {
  const int words = kWords > 0 ? kWords : words_;
  size_t left = 0;
  uint64_t* masks = masks_.data();
  for (size_t i = 0; i < count; ++i) {
    const uint64_t* const mask = masks + i * words;
    uint64_t taken = 0;
    for (int w = 0; w < words; ++w) taken |= mask[w] & full_[w];
    if (taken == 0) {
      Start(waiting_[i], now);
      continue;
    }
    if (left != i) {
      std::copy(mask, mask + words, masks + left * words);
      waiting_[left] = waiting_[i];
    }
    ++left;
  }
  return left;
}

Ticks EventClock::Run(const Order& order) {
  waiting_ = order;
  masks_.resize(order.size() * words_);
  for (size_t i = 0; i < order.size(); ++i) {
    const auto [job, choice] = order[i];
    uint64_t* const mask = &masks_[i * words_];
    std::copy_n(&receivers_[static_cast<size_t>(job) * words_], words_, mask);
    const int out = instance_.jobs[job].choices[choice].out;
    mask[out >> 6] |= uint64_t{1} << (out & 63);
  }
  size_t count = order.size();
  Ticks now = 0;
  while (true) {
    count = words_ == 1   ? StartWhatCan<1>(count, now)
            : words_ == 2 ? StartWhatCan<2>(count, now)
                          : StartWhatCan<0>(count, now);
    if (running_.empty()) return now;
    now = running_.front().first;
    while (!running_.empty() && running_.front().first == now) {
      std::pop_heap(running_.begin(), running_.end(), kLaterEnd);
      Finish(running_.back().second);
      running_.pop_back();
    }
  }
}

}  // namespace meshwright::reshard
