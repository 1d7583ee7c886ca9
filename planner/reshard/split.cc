#include "planner/reshard/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "planner/problem/duration.h"
#include "planner/reshard/bounds/balance_bound.h"
#include "planner/reshard/bounds/bounds.h"
#include "planner/reshard/bounds/clique.h"
#include "planner/reshard/bounds/flow.h"

namespace meshwright::reshard {
namespace {

constexpr int64_t kSplitCliqueNodes = 20'000;

// Bytes are ticks: sources, jobs, senders, sink.
std::vector<Part> ByFlow(const Instance& whole, Ticks target) {
  const int jobs = whole.size();
  Flow flow(jobs + whole.outs() + 2);
  const int sink = jobs + whole.outs() + 1;
  std::vector<std::vector<int>> edges(jobs);
  for (int i = 0; i < jobs; ++i) {
    flow.AddEdge(0, i + 1, whole.jobs[i].bytes);
    for (const Choice& choice : whole.jobs[i].choices) {
      edges[i].push_back(
          flow.AddEdge(i + 1, jobs + 1 + choice.out, whole.jobs[i].bytes));
    }
  }
  for (int out = 0; out < whole.outs(); ++out) {
    flow.AddEdge(jobs + 1 + out, sink,
                 problem::SaturatingMultiply(target, whole.out_links[out]));
  }
  flow.Run(0, sink);
  std::vector<Part> parts;
  for (int i = 0; i < jobs; ++i) {
    const Job& job = whole.jobs[i];
    std::vector<int64_t> bytes;
    for (const int edge : edges[i]) bytes.push_back(flow.Sent(edge));
    // The target was too low for the rest: it joins the largest part.
    *std::max_element(bytes.begin(), bytes.end()) +=
        job.bytes - std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
    for (size_t c = 0; c < bytes.size(); ++c) {
      if (bytes[c] == 0) continue;
      parts.push_back(
          {job.task, whole.out_hosts[job.choices[c].out], bytes[c]});
    }
  }
  return parts;
}

// The shares of one task that level its senders, given their other loads.
void Level(const Job& job, const Instance& whole, std::vector<double>& load,
           std::vector<double>& share) {
  std::vector<size_t> by_load(job.choices.size());
  std::iota(by_load.begin(), by_load.end(), 0);
  for (size_t c = 0; c < share.size(); ++c) {
    const Choice& choice = job.choices[c];
    load[choice.out] -= share[c] * static_cast<double>(choice.ticks) /
                        whole.out_links[choice.out];
    share[c] = 0;
  }
  std::stable_sort(by_load.begin(), by_load.end(), [&](size_t a, size_t b) {
    return load[job.choices[a].out] < load[job.choices[b].out];
  });
  // Senders join from the least full on, while the level is above them.
  double rate = 0, offset = 0, level = 0;  // shares sum to rate level - offset
  size_t joined = 0;
  while (joined < by_load.size()) {
    const Choice& choice = job.choices[by_load[joined]];
    if (joined > 0 && load[choice.out] >= level) break;
    const double speed =
        whole.out_links[choice.out] / static_cast<double>(choice.ticks);
    rate += speed;
    offset += speed * load[choice.out];
    level = (1 + offset) / rate;
    ++joined;
  }
  for (size_t i = 0; i < joined; ++i) {
    const Choice& choice = job.choices[by_load[i]];
    const double ticks =
        static_cast<double>(choice.ticks) / whole.out_links[choice.out];
    share[by_load[i]] = (level - load[choice.out]) / ticks;
    load[choice.out] = level;
  }
}

std::vector<Part> ByLevelling(const Instance& whole) {
  constexpr int kRounds = 20;
  std::vector<double> load(whole.outs(), 0);
  std::vector<std::vector<double>> shares;
  for (const Job& job : whole.jobs) shares.emplace_back(job.choices.size(), 0);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < whole.size(); ++i) {
      Level(whole.jobs[i], whole, load, shares[i]);
    }
  }
  std::vector<Part> parts;
  for (int i = 0; i < whole.size(); ++i) {
    const Job& job = whole.jobs[i];
    int64_t left = job.bytes;
    std::vector<int64_t> bytes;
    for (const double share : shares[i]) {
      const int64_t part = std::clamp<int64_t>(
          std::llrint(share * static_cast<double>(job.bytes)), 0, left);
      // Crumbs cost more to start than they save.
      bytes.push_back(part * 100 < job.bytes ? 0 : part);
      left -= bytes.back();
    }
    *std::max_element(bytes.begin(), bytes.end()) += left;
    for (size_t c = 0; c < bytes.size(); ++c) {
      if (bytes[c] == 0) continue;
      parts.push_back(
          {job.task, whole.out_hosts[job.choices[c].out], bytes[c]});
    }
  }
  return parts;
}

// By how much the parts of a job, each rounded to the nearest tick, may take
// less than the whole, which is rounded too.
Ticks Rounding(const Job& job) {
  const auto parts =
      std::min<int64_t>(static_cast<int64_t>(job.choices.size()), job.bytes);
  return parts < 2 ? 0 : std::min<Ticks>(job.min_ticks, (parts + 1) / 2);
}

}  // namespace

Ticks ComputeSplitBound(const ReshardProblem& problem, const Instance& whole,
                        const base::Deadline& deadline) {
  Instance minimal = whole;
  if (!Durations(problem).uniform()) {
    for (Job& job : minimal.jobs) job.min_ticks -= Rounding(job);
  }
  // A task whose parts may overlap is bounded by ports alone.
  Instance loads = minimal;
  std::erase_if(loads.jobs, [&](const Job& job) {
    return job.choices.size() > 1 &&
           std::all_of(
               job.receivers.begin(), job.receivers.end(),
               [&](int receiver) { return whole.in_links[receiver] > 1; });
  });
  Ticks bound = ComputeSenderBound(minimal);
  bound = std::max(
      bound, FindHeaviestClique(loads, kSplitCliqueNodes, deadline).ticks);
  std::vector<Ticks> load(whole.ins(), 0);
  for (const Job& job : minimal.jobs) {
    for (const int receiver : job.receivers) load[receiver] += job.min_ticks;
    if (job.choices.size() == 1) bound = std::max(bound, job.min_ticks);
  }
  for (int in = 0; in < whole.ins(); ++in) {
    const int links = whole.in_links[in];
    bound = std::max(bound, (load[in] + links - 1) / links);
  }
  return bound;
}

std::vector<Part> SplitParts(const ReshardProblem& problem,
                             const Instance& whole, Ticks target) {
  return Durations(problem).uniform() ? ByFlow(whole, target)
                                      : ByLevelling(whole);
}

}  // namespace meshwright::reshard
