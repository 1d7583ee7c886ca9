#include "planner/reshard/heuristics/fullest_first.h"

#include <algorithm>
#include <utility>

#include "planner/reshard/heuristics/timelines.h"

namespace meshwright::reshard {

Order OrderFullestFirst(const Instance& instance,
                        const std::vector<int>& choices) {
  std::vector<Ticks> out(instance.outs(), 0), in(instance.ins(), 0);
  for (int i = 0; i < instance.size(); ++i) {
    const Job& job = instance.jobs[i];
    const Choice& sender = job.choices[choices[i]];
    out[sender.out] += sender.ticks / instance.out_links[sender.out];
    for (const int receiver : job.receivers) {
      in[receiver] += sender.ticks / instance.in_links[receiver];
    }
  }
  std::vector<std::pair<Ticks, int>> keys;  // the fullest port of a job
  for (int i = 0; i < instance.size(); ++i) {
    const Job& job = instance.jobs[i];
    Ticks max_load = out[job.choices[choices[i]].out];
    for (const int receiver : job.receivers) {
      max_load = std::max(max_load, in[receiver]);
    }
    keys.emplace_back(max_load, i);
  }
  std::stable_sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first
                              : instance.jobs[a.second].min_ticks >
                                    instance.jobs[b.second].min_ticks;
  });
  Timelines lines(instance);
  std::vector<std::pair<Ticks, Placed>> starts;
  for (const auto& [key, index] : keys) {
    const Job& job = instance.jobs[index];
    const Choice& sender = job.choices[choices[index]];
    const Ticks start = lines.Earliest(job, sender);
    lines.Place(job, sender, start);
    starts.push_back({start, {index, choices[index]}});
  }
  std::stable_sort(
      starts.begin(), starts.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  Order order;
  for (const auto& [start, placed] : starts) order.push_back(placed);
  return order;
}

}  // namespace meshwright::reshard
