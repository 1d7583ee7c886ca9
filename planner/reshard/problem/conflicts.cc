#include "planner/reshard/problem/conflicts.h"

namespace meshwright::reshard {

Conflicts::Conflicts(const Instance& instance)
    : words_((instance.size() + 63) / 64),
      bits_(static_cast<size_t>(instance.size()) * words_, 0) {
  // Per port of one link: the jobs that are bound to occupy it.
  std::vector<std::vector<uint64_t>> users(instance.ins() + instance.outs(),
                                           std::vector<uint64_t>(words_, 0));
  std::vector<std::vector<int>> ports(instance.size());
  for (int i = 0; i < instance.size(); ++i) {
    const Job& job = instance.jobs[i];
    for (const int receiver : job.receivers) {
      if (instance.in_links[receiver] == 1) ports[i].push_back(receiver);
    }
    if (job.choices.size() == 1 &&
        instance.out_links[job.choices[0].out] == 1) {
      ports[i].push_back(instance.ins() + job.choices[0].out);
    }
    for (const int port : ports[i])
      users[port][i >> 6] |= uint64_t{1} << (i & 63);
  }
  for (int i = 0; i < instance.size(); ++i) {
    uint64_t* const row = &bits_[static_cast<size_t>(i) * words_];
    for (const int port : ports[i]) {
      for (int w = 0; w < words_; ++w) row[w] |= users[port][w];
    }
    row[i >> 6] &= ~(uint64_t{1} << (i & 63));
  }
}

}  // namespace meshwright::reshard
