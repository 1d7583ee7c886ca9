#include "planner/reshard/heuristics/timelines.h"

#include <algorithm>
#include <iterator>

namespace meshwright::reshard {

Timelines::Timelines(const Instance& instance)
    : outs_(instance.outs()), first_{0} {
  for (const int links : instance.out_links) {
    first_.push_back(first_.back() + links);
  }
  for (const int links : instance.in_links) {
    first_.push_back(first_.back() + links);
  }
  lines_.resize(first_.back());
}

void Timelines::Clear() {
  for (Line& line : lines_) line.clear();
}

// The first time at or after `from` at which the line is free for so long.
Ticks Timelines::Gap(const Line& line, Ticks from, Ticks ticks) {
  auto next = std::upper_bound(
      line.begin(), line.end(), from,
      [](Ticks time, const Busy& busy) { return time < busy.end; });
  while (next != line.end() && next->start < from + ticks) {
    from = std::max(from, next->end);
    ++next;
  }
  return from;
}

Ticks Timelines::PortGap(int port, Ticks from, Ticks ticks) const {
  Ticks min_start = Gap(lines_[first_[port]], from, ticks);
  for (int i = first_[port] + 1; i < first_[port + 1] && min_start > from;
       ++i) {
    min_start = std::min(min_start, Gap(lines_[i], from, ticks));
  }
  return min_start;
}

Ticks Timelines::Earliest(const Job& job, const Choice& sender) const {
  Ticks start = PortGap(sender.out, 0, sender.ticks);
  // Until a whole round of ports leaves the start alone.
  size_t agreed = 0;
  const size_t ports = job.receivers.size() + 1;
  for (size_t i = 0; agreed < ports - 1; i = (i + 1) % ports) {
    const int port =
        i < job.receivers.size() ? outs_ + job.receivers[i] : sender.out;
    const Ticks gap = PortGap(port, start, sender.ticks);
    agreed = gap == start ? agreed + 1 : 0;
    start = gap;
  }
  return start;
}

void Timelines::Occupy(int port, Ticks start, Ticks ticks) {
  for (int i = first_[port]; i < first_[port + 1]; ++i) {
    Line& line = lines_[i];
    if (Gap(line, start, ticks) != start) continue;
    Add(line, {start, start + ticks});
    return;
  }
}

// Intervals that touch become one, so that a dense line stays short.
void Timelines::Add(Line& line, const Busy& busy) {
  const auto after = std::lower_bound(
      line.begin(), line.end(), busy.start,
      [](const Busy& there, Ticks time) { return there.start < time; });
  const bool joins_after = after != line.end() && after->start == busy.end;
  if (after != line.begin() && std::prev(after)->end == busy.start) {
    std::prev(after)->end = joins_after ? after->end : busy.end;
    if (joins_after) line.erase(after);
  } else if (joins_after) {
    after->start = busy.start;
  } else {
    line.insert(after, busy);
  }
}

void Timelines::Place(const Job& job, const Choice& sender, Ticks start) {
  Occupy(sender.out, start, sender.ticks);
  for (const int receiver : job.receivers) {
    Occupy(outs_ + receiver, start, sender.ticks);
  }
}

}  // namespace meshwright::reshard
