// Sharding and recomputation searched together, beside one after the other.
//
//   build/release/bin/joint_bench [--machines N] FILE...
//
// Every program of a step has made-up times of N machines (2; fake_measurer.h).
// For memory limits on the way from the minimum of any plan to what the fastest
// needs, the three plans of two_stages.h.
// Prints the seconds of two-stage and sharding over joint's; "-": none fits.
//
//   build/release/bin/joint_bench --groups [--head MIB] [--machines N] FILE...
//
// Gains of runs of equal segments that recompute in groups. The minimum memory
// of any plan that recomputes nothing, with segments that recompute alone, and
// with groups, in MiB. The time with groups over that without at the minimum
// memory that does without and 2 % above. The slowest of these searches, and
// its gap. Made-up machines know nothing of temporaries: a segment that
// recomputes is taken to need what it would have kept, and a MiB like all; the
// last segment `--head`, as one over a large vocabulary does.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/file.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/planning/recompute_candidates.h"
#include "planner/search/search.h"
#include "tests/bench/figure.h"
#include "tests/integration/two_stages.h"

namespace meshwright {
namespace {

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "joint_bench: %s\n", value.status().ToString().c_str());
  std::exit(1);
}

planning::MeasuredStep Measure(const std::string& file, uint64_t machine,
                               const std::vector<std::string>& grouped = {}) {
  return Must(MeasureMadeUp(Must(base::ReadFile(file)), machine, grouped));
}

std::optional<double> Seconds(const TwoStages::Score& score) {
  const auto it = Must(score);
  if (!it.has_value()) return std::nullopt;
  return problem::ToSeconds(it->time);
}

void PrintRatio(std::optional<double> seconds, std::optional<double> joint) {
  if (!seconds.has_value() || !joint.has_value()) {
    std::printf(" %9s", "-");
  } else {
    std::printf(" %9.4f", *seconds / *joint);
  }
}

// Two-stage over joint, of all steps, machines and limits.
struct Comparison {
  int limits = 0;
  int two_stage_only = 0;  // where the joint search finds nothing
  double minimum = std::numeric_limits<double>::infinity();

  void Add(std::optional<double> two_stage, std::optional<double> joint) {
    ++limits;
    if (!two_stage.has_value()) return;
    if (!joint.has_value()) {
      ++two_stage_only;
      return;
    }
    minimum = std::min(minimum, *two_stage / *joint);
  }
};

void Run(const std::string& file, int machines, Comparison& all) {
  for (int machine = 1; machine <= machines; ++machine) {
    const TwoStages it(Measure(file, machine));
    const int64_t minimum = Must(it.FindMinBytes());
    const int64_t fastest = Must(it.FastestBytes());
    for (int percent : {5, 25, 50, 75}) {
      const int64_t limit = minimum + (fastest - minimum) / 100 * percent;
      const auto joint = Seconds(it.Joint(limit));
      std::printf("%-40s %7d %5d %%", file.c_str(), machine, percent);
      const auto two_stage = Seconds(it.TwoStage(limit));
      all.Add(two_stage, joint);
      PrintRatio(two_stage, joint);
      PrintRatio(Seconds(it.Sharding(limit)), joint);
      std::printf(" %9.3f\n", joint.value_or(0) * 1e3);
    }
  }
}

// Its problem, where those that recompute need what they would have kept.
problem::PlanProblem WithReplays(const planning::MeasuredStep& step,
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
    const planning::MeasuredStep step = Measure(file, machine);
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
        Measure(file, machine, Must(planning::FindRecomputeCandidates(step))),
        head_bytes);
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
    const auto find_minimum = [&](const problem::PlanProblem& problem) {
      return solve(problem, 1).least_memory_bytes.value_or(0);
    };
    const int64_t without = find_minimum(alone);
    std::printf("%-40s %7d", file.c_str(), machine);
    for (int64_t bytes :
         {find_minimum(nothing), without, find_minimum(grouped)}) {
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
                "none MiB", "alone MiB", "groups MiB", "at min.", "at +2 %",
                "search s", "gap");
    for (const std::string& file : files) {
      meshwright::RunGroups(file, machines, int64_t{head} << 20);
    }
    return 0;
  }
  std::printf("%-40s %7s %7s %9s %9s %9s\n", "step", "machine", "limit",
              "two-stage", "sharding", "joint ms");
  meshwright::Comparison all;
  for (const std::string& file : files) meshwright::Run(file, machines, all);
  meshwright::PrintFigure(
      absl::StrFormat("time of two stages over that of joint search, %d steps "
                      "under %d memory limits: minimum",
                      files.size(), all.limits),
      "≥ 1", absl::StrFormat("%.4f", all.minimum));
  meshwright::PrintFigure("limits under which two stages alone find a plan",
                          "0", absl::StrFormat("%d", all.two_stage_only));
  return 0;
}
