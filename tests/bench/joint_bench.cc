// Sharding and recomputation searched together, beside one after the other.
//
//   build/release/bin/joint_bench [--machines N] FILE...
//
// Every program of a step is priced on made-up machines (fake_measurer.h). For
// memory limits on the way from the least any plan needs to what the fastest
// needs, three plans, scored by one evaluator:
//   sharding    no segment recomputes
//   two-stage   papers/map_colossal_auto.txt 5.3: the fastest sharding within
//               limit * 1.5^n, n = 0..9, then which of its segments recompute,
//               chosen exactly; the best of all n
//   joint       both at once
// Prints the seconds of two-stage and sharding over joint's; "-": none fits.
//
//   build/release/bin/joint_bench --groups [--head MIB] [--machines N] FILE...
//
// What runs of equal segments gain that recompute in groups: the least memory
// of any plan that recomputes nothing, with segments that recompute alone, and
// with groups, in MiB; the time with groups over that without at the least
// memory that does without and 2 % above; the slowest of these searches, and
// its gap. Made-up machines know nothing of temporaries: a segment that
// recomputes is taken to need what it would have kept, and a MiB like all; the
// last segment `--head`, as one over a large vocabulary does.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "base/file.h"
#include "coordinator/service/fake_measurer.h"
#include "coordinator/service/plan_pipeline.h"
#include "coordinator/service/worth_grouping.h"
#include "planner/problem/evaluate.h"
#include "planner/search/search.h"
#include "profiledb/store/fake_profile_store.h"

namespace meshwright {
namespace {

constexpr double kExpansion = 1.5;
constexpr int kBudgets = 10;

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "joint_bench: %s\n", value.status().ToString().c_str());
  std::exit(1);
}

service::MeasuredStep Measure(const std::string& file, uint64_t machine,
                              const std::vector<std::string>& grouped = {}) {
  v1::PlanRequest request;
  request.set_hlo_module(Must(base::ReadFile(file)));
  for (int64_t size : {1, 2}) request.mutable_mesh()->add_shape(size);
  request.set_full_space(true);
  request.mutable_strategies()->add_open("recompute");
  request.mutable_strategies()->mutable_grouped()->Assign(grouped.begin(),
                                                          grouped.end());
  store::FakeProfileStore store;
  service::FakeMeasurer measurer;
  measurer.machine = machine;
  return Must(service::MeasureStep(request, {&store, &measurer},
                                   [](const v1::PlanProgress&) {}));
}

// A step with the configurations of its problem that recompute.
class Comparison {
 public:
  explicit Comparison(const service::MeasuredStep& step)
      : problem_(step.measured.problem) {
    for (size_t t = 0; t < step.space.types.size(); ++t) {
      std::map<std::pair<int, segmenter::SegmentSwitch>, std::vector<int>> like;
      const auto& usable = step.measured.usable[t];
      for (size_t c = 0; c < usable.size(); ++c) {
        const space::Configuration& it =
            step.space.types[t].configurations[usable[c]];
        if (!it.recompute) plain_[t].push_back(static_cast<int>(c));
        like[{it.splits, it.segment_switch}].push_back(static_cast<int>(c));
      }
      for (const auto& [splits, configs] : like) {
        for (int c : configs) alike_[{static_cast<int>(t), c}] = configs;
      }
    }
    sharding_ = problem_;
    for (size_t n = 0; n < problem_.nodes.size(); ++n) {
      sharding_.fixed[static_cast<int>(n)] = plain_[problem_.nodes[n].type];
    }
  }

  std::optional<double> Joint(int64_t limit) const {
    return Seconds(Solve(problem_, limit));
  }
  std::optional<double> Sharding(int64_t limit) const {
    return Seconds(Solve(sharding_, limit));
  }
  std::optional<double> TwoStage(int64_t limit) const {
    std::optional<double> best;
    double budget = static_cast<double>(limit);
    for (int n = 0; n < kBudgets; ++n, budget *= kExpansion) {
      const auto first = Solve(sharding_, static_cast<int64_t>(budget));
      if (!first.plan.has_value()) continue;
      problem::PlanProblem second = problem_;
      for (size_t node = 0; node < problem_.nodes.size(); ++node) {
        std::set<int> allowed;
        for (int config : first.plan->choice[node]) {
          const auto& both = alike_.at({problem_.nodes[node].type, config});
          allowed.insert(both.begin(), both.end());
        }
        second.fixed[static_cast<int>(node)] = {allowed.begin(), allowed.end()};
      }
      const auto seconds = Seconds(Solve(second, limit));
      if (seconds.has_value() && (!best.has_value() || *seconds < *best)) {
        best = seconds;
      }
    }
    return best;
  }
  int64_t Least() const {
    return Solve(problem_, 1).least_memory_bytes.value_or(1);
  }
  int64_t Most() const {
    const search::Answer free = Must(search::Solve(problem_));
    return Must(problem::Evaluate(problem_, free.plan->choice)).peak_bytes;
  }

 private:
  static search::Answer Solve(problem::PlanProblem problem, int64_t limit) {
    problem.memory_limit_bytes = limit;
    return Must(search::Solve(problem));
  }
  std::optional<double> Seconds(const search::Answer& answer) const {
    if (!answer.plan.has_value()) return std::nullopt;
    return problem::ToSeconds(
        Must(problem::Evaluate(problem_, answer.plan->choice)).time);
  }

  problem::PlanProblem problem_;
  problem::PlanProblem sharding_;
  std::map<size_t, std::vector<int>> plain_;  // by type
  std::map<std::pair<int, int>, std::vector<int>> alike_;
};

void PrintRatio(std::optional<double> seconds, std::optional<double> joint) {
  if (!seconds.has_value() || !joint.has_value()) {
    std::printf(" %9s", "-");
  } else {
    std::printf(" %9.4f", *seconds / *joint);
  }
}

void Run(const std::string& file, int machines) {
  for (int machine = 1; machine <= machines; ++machine) {
    const Comparison it(Measure(file, machine));
    const int64_t least = it.Least();
    const int64_t most = it.Most();
    for (int percent : {5, 25, 50, 75}) {
      const int64_t limit = least + (most - least) / 100 * percent;
      const auto joint = it.Joint(limit);
      std::printf("%-40s %7d %5d %%", file.c_str(), machine, percent);
      PrintRatio(it.TwoStage(limit), joint);
      PrintRatio(it.Sharding(limit), joint);
      std::printf(" %9.3f\n", joint.value_or(0) * 1e3);
    }
  }
}

// Its problem, where those that recompute need what they would have kept.
problem::PlanProblem WithReplays(const service::MeasuredStep& step,
                                 int64_t head_bytes) {
  problem::PlanProblem problem = step.measured.problem;
  for (size_t t = 0; t < step.space.types.size(); ++t) {
    const auto& configurations = step.space.types[t].configurations;
    std::map<std::pair<int, segmenter::SegmentSwitch>, int64_t> kept;
    for (const space::Configuration& it : configurations) {
      if (it.recompute) continue;
      kept[{it.splits, it.segment_switch}] = it.saved_bytes;
    }
    for (size_t i = 0; i < step.measured.usable[t].size(); ++i) {
      const space::Configuration& it =
          configurations[step.measured.usable[t][i]];
      if (!it.recompute) continue;
      problem.types[t].configs[i].transient_bytes +=
          kept[{it.splits, it.segment_switch}];
    }
  }
  for (auto& config : problem.types[problem.nodes.back().type].configs) {
    config.transient_bytes = head_bytes;
  }
  return problem;
}

void RunGroups(const std::string& file, int machines, int64_t head_bytes) {
  for (int machine = 1; machine <= machines; ++machine) {
    const service::MeasuredStep step = Measure(file, machine);
    const problem::PlanProblem alone = WithReplays(step, head_bytes);
    problem::PlanProblem nothing = alone;
    for (size_t n = 0; n < nothing.nodes.size(); ++n) {
      const int type = nothing.nodes[n].type;
      for (size_t i = 0; i < step.measured.usable[type].size(); ++i) {
        const int config = step.measured.usable[type][i];
        if (step.space.types[type].configurations[config].recompute) continue;
        nothing.fixed[static_cast<int>(n)].push_back(static_cast<int>(i));
      }
    }
    const problem::PlanProblem grouped = WithReplays(
        Measure(file, machine, Must(service::WorthGrouping(step))), head_bytes);
    double slowest = 0;
    double gap = 0;
    const auto solve = [&](problem::PlanProblem problem, int64_t limit) {
      problem.memory_limit_bytes = limit;
      search::Answer answer = Must(search::Solve(problem));
      if (answer.plan.has_value() && answer.elapsed.count() > slowest) {
        slowest = answer.elapsed.count();
        gap = answer.Gap();
      }
      return answer;
    };
    const auto least = [&](const problem::PlanProblem& problem) {
      return solve(problem, 1).least_memory_bytes.value_or(0);
    };
    const int64_t without = least(alone);
    std::printf("%-40s %7d", file.c_str(), machine);
    for (int64_t bytes : {least(nothing), without, least(grouped)}) {
      std::printf(" %9.2f", static_cast<double>(bytes) / (1 << 20));
    }
    for (int percent : {0, 2}) {
      const int64_t limit = without + without / 100 * percent;
      PrintRatio(problem::ToSeconds(solve(grouped, limit).plan->time),
                 problem::ToSeconds(solve(alone, limit).plan->time));
    }
    std::printf(" %9.3f %9.5f\n", slowest, gap);
  }
}

}  // namespace
}  // namespace meshwright

int main(int argc, char** argv) {
  int machines = 2;
  int head = 1;
  bool groups = false;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--groups") {
      groups = true;
    } else if (flag != "--machines" && flag != "--head") {
      files.emplace_back(argv[i]);
    } else if (++i == argc ||
               !absl::SimpleAtoi(argv[i],
                                 flag == "--head" ? &head : &machines)) {
      std::fprintf(stderr, "joint_bench: %s takes a number\n", flag.data());
      return 2;
    }
  }
  if (files.empty()) {
    std::fprintf(
        stderr,
        "usage: joint_bench [--groups] [--head MIB] [--machines N] FILE...\n");
    return 2;
  }
  if (groups) {
    std::printf("%-40s %7s %9s %9s %9s %9s %9s %9s %9s\n", "step", "machine",
                "none MiB", "alone MiB", "groups MiB", "at least", "at +2 %",
                "search s", "gap");
    for (const std::string& file : files) {
      meshwright::RunGroups(file, machines, int64_t{head} << 20);
    }
    return 0;
  }
  std::printf("%-40s %7s %7s %9s %9s %9s\n", "step", "machine", "limit",
              "two-stage", "sharding", "joint ms");
  for (const std::string& file : files) meshwright::Run(file, machines);
  return 0;
}
