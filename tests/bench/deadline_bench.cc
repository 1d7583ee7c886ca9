// How far the planner's solvers pass a deadline, or a cancel.
//
//   build/release/bin/deadline_bench [NAME]     only shapes whose name has NAME
//
// Every shape is solved with deadlines of 0, 10, 50 and 100 ms, and with a stop
// requested by another thread after as long. One line a shape: the worst time
// past the deadline, of the calling thread's CPU (`own`), of the process's and
// of the clock on the wall. The first is what a solver can be blamed for; the
// second holds threads that it left behind, in this run or one before; the
// third whatever else the machine does. `none`: answers without a plan, though
// there is one. A broken promise (a bound above the time, a plan that does not
// fit) ends the run.
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/deadline.h"
#include "planner/checkpoint/solve.h"
#include "planner/checkpoint/testing/random_chain.h"
#include "planner/intraop/solve.h"
#include "planner/intraop/testing/random_model.h"
#include "planner/layout/cheapest_path.h"
#include "planner/layout/testing/random_layout.h"
#include "planner/search/search.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/figure.h"
#include "tests/bench/search_shapes.h"

namespace meshwright {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int kDelays[] = {0, 10, 50, 100};

// Of one call: exactly one of its two is set.
using Ending = base::Deadline;

// The result of one call.
enum class Outcome { kPlan, kNone, kError };

struct Spent {
  Milliseconds own{0};  // of the thread that solves
  Milliseconds all{0};
};

Spent SpentBy(clockid_t thread) {
  return {CpuTime(thread), CpuTime(CLOCK_PROCESS_CPUTIME_ID)};
}

// Notes the CPU time when the moment comes, then requests a stop.
class Watch {
 public:
  Watch(Clock::time_point moment, std::stop_source source)
      : moment_(moment), source_(std::move(source)) {
    pthread_getcpuclockid(pthread_self(), &solving_);
    thread_ = std::thread([this] { Wait(); });
  }
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      is_done_ = true;
    }
    done_.notify_one();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // CPU time since the moment; 0 if it has not come.
  Spent Since() {
    const std::lock_guard lock(mutex_);
    if (!has_come_) return {};
    const Spent now = SpentBy(solving_);
    return {now.own - at_.own, now.all - at_.all};
  }

 private:
  void Wait() {
    std::unique_lock lock(mutex_);
    if (done_.wait_until(lock, moment_, [this] { return is_done_; })) return;
    at_ = SpentBy(solving_);
    has_come_ = true;
    source_.request_stop();
  }

  const Clock::time_point moment_;
  std::stop_source source_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false;
  bool has_come_ = false;
  Spent at_;
  clockid_t solving_;
  std::thread thread_;
};

class Bench {
 public:
  explicit Bench(std::string wanted) : wanted_(std::move(wanted)) {
    std::printf("%-40s %5s %5s %9s %9s %9s\n", "shape", "runs", "none",
                "own ms", "cpu ms", "wall ms");
  }

  bool Wants(const std::string& name) const {
    return name.find(wanted_) != std::string::npos;
  }

  void Run(const std::string& name,
           const std::function<Outcome(const Ending&)>& solve) {
    if (!Wants(name)) return;
    Spent cpu;
    Milliseconds wall(0);
    int runs = 0;
    int none = 0;
    for (const bool by_stop : {false, true}) {
      for (const int delay : kDelays) {
        const auto moment = Clock::now() + std::chrono::milliseconds(delay);
        const std::stop_source source;
        Watch watch(moment, source);
        Ending ending;
        if (by_stop) {
          ending.stop = source.get_token();
        } else {
          ending.at = moment;
        }
        const Outcome outcome = solve(ending);
        const Spent since = watch.Since();
        cpu = {std::max(cpu.own, since.own), std::max(cpu.all, since.all)};
        wall = std::max(wall, Milliseconds(Clock::now() - moment));
        ++runs;
        none += outcome == Outcome::kPlan ? 0 : 1;
      }
    }
    worst_ = {std::max(worst_.own, cpu.own), std::max(worst_.all, cpu.all)};
    worst_wall_ = std::max(worst_wall_, wall);
    std::printf("%-40s %5d %5d %9.1f %9.1f %9.1f\n", name.c_str(), runs, none,
                cpu.own.count(), cpu.all.count(), wall.count());
    std::fflush(stdout);
  }

  void PrintWorst() const {
    std::printf("worst cpu time past a deadline: %.1f ms, own %.1f ms\n",
                worst_.all.count(), worst_.own.count());
    PrintFigure("all solvers, worst CPU time past a deadline or stop",
                "≤ 50 ms", absl::StrFormat("%.0f ms", worst_.all.count()));
    PrintFigure("all solvers, worst wall time past a deadline or stop",
                "≤ 50 ms", absl::StrFormat("%.0f ms", worst_wall_.count()));
  }

 private:
  const std::string wanted_;
  Spent worst_;
  Milliseconds worst_wall_{0};
};

[[noreturn]] void Break(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

// Searches free and under limits.
void Search(Bench& bench, const std::string& name, problem::PlanProblem problem,
            const search::WorkBudget& work = {}) {
  if (!bench.Wants(name)) return;
  const auto solve = [&](const Ending& ending) {
    const auto answer =
        search::Solve(problem, {.deadline = ending, .work = work});
    if (!answer.ok()) return Outcome::kError;
    if (!answer->plan.has_value()) return Outcome::kNone;
    if (answer->lower_bound > answer->plan->time) Break(name + ": bound");
    if (answer->plan->peak_bytes >
        problem.memory_limit_bytes.value_or(answer->plan->peak_bytes)) {
      Break(name + ": does not fit");
    }
    return Outcome::kPlan;
  };
  bench.Run(name + ", free", solve);
  const auto soon = [] { return Clock::now() + std::chrono::seconds(1); };
  const auto fastest = search::Solve(problem, {.deadline = {.at = soon()}});
  problem.memory_limit_bytes = 0;
  const auto smallest = search::Solve(problem, {.deadline = {.at = soon()}});
  if (!fastest.ok() || !smallest.ok()) Break(name + ": no plan");
  const int64_t bytes = *smallest->least_memory_bytes;
  for (const int percent : {5, 50, 95}) {
    problem.memory_limit_bytes =
        bytes + (fastest->plan->peak_bytes - bytes) / 100 * percent;
    bench.Run(name + ", " + std::to_string(percent) + " %", solve);
  }
}

problem::PlanProblem Tied(problem::PlanProblem problem) {
  for (problem::Node& node : problem.nodes) node.tied = node.repeat > 1;
  return problem;
}

// Every third pair of neighbours is forbidden.
problem::PlanProblem Forbidding(problem::PlanProblem problem) {
  for (problem::Table& table : problem.tables) {
    for (size_t i = 0; i < table.entries.size(); ++i) {
      if (i * 2654435761 % 3 == 0) table.entries[i] = std::nullopt;
    }
  }
  return problem;
}

void Searches(Bench& bench) {
  using search::Data;
  for (const int64_t depth : {12, 24, 100, 1000, 5000, 100'000}) {
    for (const Data data :
         {Data::kNoisy, Data::kHard, Data::kEqual, Data::kPlain}) {
      Search(bench,
             "chain " + std::to_string(depth) + ", " + search::ToString(data),
             search::Transformer(depth, 1, data));
    }
  }
  for (const Data data : {Data::kNoisy, Data::kHard, Data::kPlain}) {
    const std::string what = std::string(", ") + search::ToString(data);
    Search(bench, "graph 60 x 30" + what, search::Skips(60, 30, 10, 1, data));
    Search(bench, "graph 200 x 81" + what, search::Skips(200, 81, 60, 1, data));
    Search(bench, "operators 100 x 8" + what,
           search::Operators(100, 8, 1, data));
    Search(bench, "operators 1000 x 16" + what,
           search::Operators(1000, 16, 1, data));
  }
  Search(bench, "graph 60 x 30, forbidding",
         Forbidding(search::Skips(60, 30, 10, 1, Data::kNoisy)));
  Search(bench, "chain 100, forbidding",
         Forbidding(search::Transformer(100, 1, Data::kNoisy)));
  Search(bench, "tied chain 100",
         Tied(search::Transformer(100, 1, Data::kNoisy)));
  Search(bench, "tied embedding 24", search::TiedEmbedding(24));
  Search(bench, "tied embedding 1000", search::TiedEmbedding(1000));
  Search(bench, "unsettled 1000", search::Unsettled(1000));
  Search(bench, "unsettled 100000", search::Unsettled(100'000));
  Search(bench, "encoder-decoder 24", search::EncoderDecoder(24));
  Search(bench, "u-net 40 x 81", search::UNet(40, 81, false));
  Search(bench, "u-net with embedding 40 x 27", search::UNet(40, 27, true));
  Search(bench, "dense 12 x 27", search::Dense(12, 27));
  Search(bench, "dense 30 x 81", search::Dense(30, 81));
}

void Operators(Bench& bench) {
  struct Kind {
    int operators;
    intraop::Mesh mesh;
  };
  const Kind kinds[] = {{100, {2, 4}}, {100, {2, 2, 2}}, {400, {2, 2, 2, 2}}};
  for (const Kind& kind : kinds) {
    const std::string name = "op-level " + std::to_string(kind.operators) +
                             ", " + std::to_string(kind.mesh.size()) + " axes";
    if (!bench.Wants(name)) continue;
    const intraop::OpModel model = intraop::RandomModel(3, kind.operators);
    intraop::Request request;
    request.machine = intraop::MakeMachine(kind.mesh);
    const auto free = intraop::Solve(
        model, request,
        {.deadline = base::Deadline::After(std::chrono::seconds(1))});
    for (const bool limited : {false, true}) {
      if (limited) request.memory_limit_bytes = free->plan->peak_bytes / 10 * 9;
      bench.Run(name + (limited ? ", 90 %" : ""), [&](const Ending& ending) {
        const auto answer =
            intraop::Solve(model, request, {.deadline = ending});
        if (!answer.ok()) return Outcome::kError;
        return answer->plan.has_value() ? Outcome::kPlan : Outcome::kNone;
      });
    }
  }
}

void Checkpoints(Bench& bench) {
  for (const int stages : {16, 64, 200, 400, 1200, 3000}) {
    for (const bool proportional : {false, true}) {
      const checkpoint::Chain chain =
          checkpoint::RandomChain(stages, {.stages = stages,
                                           .largest = 100'000'000,
                                           .proportional = proportional});
      const std::string name = "checkpoint " + std::to_string(stages) +
                               (proportional ? ", proportional" : "");
      if (!bench.Wants(name)) continue;
      const int64_t minimum = *checkpoint::Solve(chain, 1)->least_memory_bytes;
      int64_t full = chain.act_bytes[0];
      for (const int64_t bytes : chain.saved_bytes) full += bytes;
      for (const int percent : {5, 50}) {
        const int64_t budget = minimum + (full - minimum) / 100 * percent;
        bench.Run(
            name + ", " + std::to_string(percent) + " %",
            [&](const Ending& ending) {
              checkpoint::Options options;
              options.deadline = ending;
              options.threads = 1;
              const auto answer = checkpoint::Solve(chain, budget, options);
              if (!answer.ok()) return Outcome::kError;
              return answer->plan.has_value() ? Outcome::kPlan : Outcome::kNone;
            });
      }
    }
  }
}

void Layouts(Bench& bench) {
  for (const int axes : {3, 4, 6, 8}) {
    layout::LayoutProblem problem;
    problem.shape = {1024, 2048, 512, 4096};
    problem.elem_bytes = 2;
    problem.mesh.assign(axes, axes > 4 ? 2 : 8);
    problem.links = *layout::AlphaBetaLinks::Create(
        std::vector<double>(axes, 5e-6), std::vector<double>(axes, 1e-10));
    problem.source = layout::RandomSpec(5, axes, 4);
    problem.target = layout::RandomSpec(6, axes, 4);
    bench.Run("layout of " + std::to_string(axes) + " axes",
              [&](const Ending& ending) {
                const auto found =
                    layout::FindCheapestPath(problem, {.deadline = ending});
                if (!found.ok()) return Outcome::kError;
                return found->path.has_value() ? Outcome::kPlan
                                               : Outcome::kNone;
              });
  }
}

}  // namespace
}  // namespace meshwright

int main(int argc, char** argv) {
  meshwright::Bench bench(argc > 1 ? argv[1] : "");
  meshwright::Searches(bench);
  meshwright::Operators(bench);
  meshwright::Checkpoints(bench);
  meshwright::Layouts(bench);
  bench.PrintWorst();
  return 0;
}
