// The resharding scheduler on the paper's cases and on random problems.
//
//   build/release/bin/reshard_bench [FIRST_SEED]
//
// Per family: how many answers are proven optimal, the worst gap to the lower
// bound, the median and the worst time of a whole Solve, and the same of the
// paper's ensemble (depth-first and randomized, 100,000 nodes and 64 draws).
// Times are of the process, not of the wall, so other programs disturb little.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "planner/reshard/decompose/decompose.h"
#include "planner/reshard/solve.h"
#include "planner/reshard/testing/random_reshard.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/figure.h"

namespace meshwright::reshard {
namespace {

int first_seed = 0;

struct Family {
  int count = 0;
  int proven = 0;
  int beaten = 0;  // by the ensemble
  double gap = 0;
  double ensemble = 0;
  std::vector<double> seconds;
};

void Add(const ReshardProblem& problem, bool compare, Family& family) {
  const double begin = CpuSeconds();
  const auto answer = Solve(problem);
  family.seconds.push_back(CpuSeconds() - begin);
  if (!answer.ok()) {
    std::printf("%s\n", answer.status().ToString().c_str());
    return;
  }
  ++family.count;
  family.proven += answer->optimal;
  const auto gap = [](const Answer& a, Ticks bound) {
    return static_cast<double>(a.timing.makespan) / static_cast<double>(bound) -
           1;
  };
  family.gap = std::max(family.gap, gap(*answer, answer->lower_bound));
  if (!compare) return;
  const auto paper = Solve(problem, {.solver = Solver::kEnsemble});
  if (!paper.ok()) return;
  family.beaten += paper->timing.makespan < answer->timing.makespan;
  family.ensemble = std::max(family.ensemble, gap(*paper, answer->lower_bound));
}

// The worst of a group of families that share their bars.
struct Group {
  double gap = 0;
  double seconds = 0;
  int open = 0;
  int count = 0;

  void Add(const Family& family) {
    gap = std::max(gap, family.gap);
    seconds = std::max(seconds, family.seconds.back());
    open += family.count - family.proven;
    count += family.count;
  }

  void PrintOpen(const std::string& name, const std::string& wanted) const {
    PrintFigure(name + ": not proven", wanted,
                absl::StrFormat("%d of %d", open, count));
  }

  void PrintGap(const std::string& name, const std::string& wanted) const {
    PrintFigure(name + ": worst gap", wanted,
                absl::StrFormat("%.3f %%", 100 * gap));
  }

  void PrintTime(const std::string& name, const std::string& wanted) const {
    PrintFigure(name + ": worst CPU time", wanted,
                absl::StrFormat("%.1f ms", 1e3 * seconds));
  }
};

Family Print(const std::string& name, Family family) {
  std::sort(family.seconds.begin(), family.seconds.end());
  std::printf("%-28s %5d/%-5d %8.3f %% %9.2f %9.2f ms %8.1f %% %4d\n",
              name.c_str(), family.proven, family.count, 100 * family.gap,
              1e3 * family.seconds[family.seconds.size() / 2],
              1e3 * family.seconds.back(), 100 * family.ensemble,
              family.beaten);
  std::fflush(stdout);
  return family;
}

Family Random(const std::string& name, int count, const Kind& kind,
              bool compare = true) {
  Family family;
  for (int seed = 0; seed < count; ++seed) {
    Add(RandomTasks(first_seed + seed, kind), compare, family);
  }
  return Print(name, std::move(family));
}

Family SolveTable2() {
  const struct {
    const char* from;
    const char* to;
    std::vector<int64_t> source_mesh;
    std::vector<int64_t> target_mesh;
  } cases[] = {
      {"S0RR", "S0RR", {2, 4}, {2, 4}}, {"RRR", "S0RR", {2, 4}, {2, 4}},
      {"RS0R", "S0RR", {2, 4}, {2, 4}}, {"RS01R", "S01RR", {2, 4}, {2, 4}},
      {"S1RR", "S0RR", {2, 4}, {2, 4}}, {"S0RR", "S0RR", {2, 4}, {3, 4}},
      {"S1RR", "RRR", {1, 4}, {2, 4}},  {"RRR", "RRR", {2, 3}, {3, 2}},
      {"RS0R", "RRS0", {2, 4}, {2, 4}}};
  Family family;
  for (const auto& one : cases) {
    const auto units =
        Decompose({.shape = {1024, 1024, 512},
                   .elem_bytes = 4,
                   .source = {.mesh = one.source_mesh,
                              .spec = *base::ParseSpec(one.from, "")},
                   .target = {.mesh = one.target_mesh,
                              .spec = *base::ParseSpec(one.to, "")}});
    Add(ToProblem(*units, 1.25e9), true, family);
  }
  return Print("nine cases of Table 2", std::move(family));
}

// 2 to 8 hosts a side, 1 to 4 receivers.
Family Small(const std::string& name, Kind kind, bool split = false) {
  Family family;
  for (const int hosts : {2, 3, 4, 6, 8}) {
    for (const int receivers : {1, 2, 4}) {
      for (int seed = 0; seed < 20; ++seed) {
        kind.sender_hosts = kind.receiver_hosts = hosts;
        kind.max_receivers = receivers;
        kind.max_bytes = 1 << 20;
        ReshardProblem problem = RandomTasks(first_seed + seed, kind);
        problem.split = split;
        Add(problem, !split, family);
      }
    }
  }
  return Print(std::to_string(kind.tasks) + " " + name, std::move(family));
}

void Run() {
  std::printf("%-28s %11s %10s %9s %12s %10s %4s\n", "problems", "proven",
              "worst gap", "median", "worst", "ensemble", "beat");
  Group table2;
  table2.Add(SolveTable2());
  table2.PrintOpen("nine cases of Table 2", "0");
  table2.PrintTime("nine cases of Table 2", "≤ 5 ms");
  Group small;
  for (const int tasks : {8, 12, 16, 20}) {
    const Family family = Small("tasks", {.tasks = tasks});
    Group one;
    one.Add(family);
    one.PrintOpen(std::to_string(tasks) + " tasks", "≤ 1 %");
    small.Add(family);
  }
  small.PrintTime("8 to 20 tasks", "≤ 100 ms");
  for (const int tasks : {12, 16, 20}) {
    Small("tasks, speeds", {.tasks = tasks, .speeds = true});
    Small("tasks, links", {.tasks = tasks, .links = true});
    Small("tasks, split", {.tasks = tasks}, true);
  }
  Group hundred;
  for (const int hosts : {16, 32}) {
    for (const int receivers : {1, 2, 3}) {
      hundred.Add(Random("100 tasks, " + std::to_string(hosts) + " hosts, 1-" +
                             std::to_string(receivers),
                         10,
                         {.tasks = 100,
                          .sender_hosts = hosts / 2,
                          .receiver_hosts = hosts / 2,
                          .max_senders = 3,
                          .max_receivers = receivers,
                          .max_bytes = 1 << 24}));
    }
  }
  hundred.PrintGap("100 tasks, 1 to 3 receivers", "≤ 0.1 %");
  hundred.PrintTime("100 tasks, 1 to 3 receivers", "≤ 500 ms");
  Group wide;
  for (const int tasks : {25, 50, 100}) {
    wide.Add(Random(std::to_string(tasks) + " wide, 1-8 of 16", 10,
                    {.tasks = tasks,
                     .sender_hosts = 16,
                     .receiver_hosts = 16,
                     .max_senders = 3,
                     .max_receivers = 8,
                     .max_bytes = 1 << 24}));
  }
  wide.PrintGap("25, 50 and 100 tasks, 1 to 8 receivers", "≤ 4 %");
  Group large;
  for (const int receivers : {1, 2, 4}) {
    large.Add(Random("2,000 tasks, 128 hosts, 1-" + std::to_string(receivers),
                     3,
                     {.tasks = 2000,
                      .sender_hosts = 64,
                      .receiver_hosts = 64,
                      .max_senders = 3,
                      .max_receivers = receivers,
                      .max_bytes = 1 << 24},
                     false));
  }
  large.PrintGap("2,000 tasks on 128 hosts", "≤ 1.5 %");
  large.PrintTime("2,000 tasks on 128 hosts", "≤ 1000 ms");
}

}  // namespace
}  // namespace meshwright::reshard

int main(int argc, char** argv) {
  if (argc > 1) meshwright::reshard::first_seed = std::atoi(argv[1]);
  meshwright::reshard::Run();
}
