// Time that the cache saves when a known resharding is asked for again.
//
//   build/release/bin/reshard_cache_bench [ROUNDS]
//
// Per family of problems, in turns: the search, the answer from the cache under
// other names, and the same answer over gRPC. Median over the problems, each
// the minimum of ROUNDS (3). Times are CPU times of the process, client and
// server together.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/daemon/coordinator.h"
#include "coordinator/resharding/answer_cache.h"
#include "planner/reshard/testing/random_reshard.h"
#include "tests/bench/cpu_time.h"
#include "tests/bench/figure.h"

namespace meshwright::service {
namespace {

double MinSeconds(int rounds, const std::function<void()>& work) {
  double minimum = std::numeric_limits<double>::infinity();
  for (int i = 0; i < rounds; ++i) {
    const double begin = CpuSeconds();
    work();
    minimum = std::min(minimum, CpuSeconds() - begin);
  }
  return minimum;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

reshard::ReshardProblem Renamed(reshard::ReshardProblem problem) {
  for (reshard::UnitTask& task : problem.tasks) task.id += " again";
  return problem;
}

v1::ReshardingRequest MakeRequest(const reshard::ReshardProblem& problem) {
  v1::ReshardingRequest message;
  message.set_bandwidth_bytes_per_s(problem.bandwidth_bytes_per_s);
  for (const reshard::UnitTask& task : problem.tasks) {
    v1::ReshardingTask& added = *message.add_tasks();
    added.set_id(task.id);
    added.set_size_bytes(task.size_bytes);
    for (const int host : task.senders) {
      added.add_sender_hosts(problem.hosts[host].name);
    }
    for (const int host : task.receivers) {
      added.add_receiver_hosts(problem.hosts[host].name);
    }
  }
  return message;
}

struct Family {
  std::string name;
  std::vector<reshard::ReshardProblem> problems;
};

class Bench {
 public:
  explicit Bench(int rounds) : rounds_(rounds) {
    daemon::Coordinator::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.listen_address = "127.0.0.1:0";
    coordinator_ =
        std::make_unique<daemon::Coordinator>(std::move(dependencies));
    if (!coordinator_->Start().ok()) std::abort();
    client_ = *client::PlanningClient::Connect(coordinator_->address());
  }

  void Run(const Family& family) {
    std::vector<double> search, cached, call;
    for (const reshard::ReshardProblem& problem : family.problems) {
      resharding::AnswerCache cache({});
      if (!cache.Solve(problem, {}).ok()) std::abort();
      const reshard::ReshardProblem renamed = Renamed(problem);
      const v1::ReshardingRequest message = MakeRequest(renamed);
      if (!client_->PlanResharding(message, {}).ok()) std::abort();
      search.push_back(
          MinSeconds(rounds_, [&] { (void)reshard::Solve(problem).ok(); }));
      cached.push_back(
          MinSeconds(rounds_, [&] { (void)cache.Solve(renamed, {}).ok(); }));
      call.push_back(MinSeconds(rounds_, [&] {
        const auto answer = client_->PlanResharding(message, {});
        if (!answer.ok() || !answer->cached()) std::abort();
      }));
    }
    const std::string figures =
        absl::StrFormat("%.3f ms, %.3f ms, %.3f ms", 1e3 * Median(search),
                        1e3 * Median(cached), 1e3 * Median(call));
    PrintFigure("asked again, " + family.name +
                    ": CPU time of the search, cached, cached over gRPC",
                "", figures);
    std::fflush(stdout);
  }

 private:
  const int rounds_;
  base::SystemClock clock_;
  std::unique_ptr<daemon::Coordinator> coordinator_;
  std::unique_ptr<client::PlanningClient> client_;
};

Family Random(const std::string& name, int count, const reshard::Kind& kind) {
  Family family{name, {}};
  for (int seed = 0; seed < count; ++seed) {
    family.problems.push_back(reshard::RandomTasks(seed, kind));
  }
  return family;
}

Family Tensor(const std::string& name, std::vector<int64_t> source_mesh,
              const char* source, std::vector<int64_t> target_mesh,
              const char* target) {
  const auto units =
      reshard::Decompose({.shape = {1024, 1024, 512},
                          .elem_bytes = 4,
                          .source = {.mesh = std::move(source_mesh),
                                     .spec = *base::ParseSpec(source, "")},
                          .target = {.mesh = std::move(target_mesh),
                                     .spec = *base::ParseSpec(target, "")}});
  return {name, {ToProblem(*units, 1.25e9)}};
}

}  // namespace
}  // namespace meshwright::service

int main(int argc, char** argv) {
  using namespace meshwright::service;
  Bench bench(argc > 1 ? std::max(1, std::atoi(argv[1])) : 3);
  bench.Run(Tensor("Table 2, case 4", {2, 4}, "RS01R", {2, 4}, "S01RR"));
  bench.Run(
      Tensor("32 hosts to 32, all to all", {32, 8}, "RS0R", {32, 8}, "S0RR"));
  for (const int receivers : {1, 3}) {
    bench.Run(Random("100 tasks, 32 hosts, 1-" + std::to_string(receivers), 5,
                     {.tasks = 100,
                      .sender_hosts = 16,
                      .receiver_hosts = 16,
                      .max_senders = 3,
                      .max_receivers = receivers,
                      .max_bytes = 1 << 24}));
  }
  bench.Run(Random("20 tasks, 12 hosts, 1-3", 5,
                   {.tasks = 20,
                    .sender_hosts = 6,
                    .receiver_hosts = 6,
                    .max_senders = 3,
                    .max_receivers = 3,
                    .max_bytes = 1 << 20}));
  bench.Run(Random("2,000 tasks, 128 hosts, 1-2", 3,
                   {.tasks = 2000,
                    .sender_hosts = 64,
                    .receiver_hosts = 64,
                    .max_senders = 3,
                    .max_receivers = 2,
                    .max_bytes = 1 << 24}));
}
