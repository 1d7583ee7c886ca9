// Whether plans compute what the step computes, for any number of steps.
//
//   build/release/bin/outputs_bench [--mesh 1x2] [--open] [--random 4]
//       [--seed 1] [--tolerance 1e-3] FILE...
//
// Every step runs once with each baseline and each random plan, and once on
// one device; the largest relative difference of any output is printed, and
// the plan and output it is of. --open: with every switch and outer axes. The
// exit status is 1 if a plan does not run, or differs by more than --tolerance.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "base/file.h"
#include "tests/bench/step_flags.h"

namespace meshwright {
namespace {

bool Report(const std::string& path, const StepFlags& wanted) {
  const auto start = std::chrono::steady_clock::now();
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto bytes = base::ReadFile(path);
  const auto outputs = !bytes.ok()
                           ? bytes.status()
                           : RunPlans(*bytes, wanted.mesh, wanted.Strategies(),
                                      wanted.random_plans, wanted.seed);
  if (!outputs.ok()) {
    std::printf("%-28s %s\n", name.c_str(),
                outputs.status().ToString().c_str());
    return false;
  }
  double worst = 0;
  std::string where = "-";
  std::string failed;
  for (const PlanOutputs& it : outputs->plans) {
    if (it.result.outcome() != v1::MEASURED) {
      failed += " " + it.plan + ": " + it.result.reason();
    } else if (!(it.result.max_relative_difference() <= worst)) {
      worst = it.result.max_relative_difference();
      where = it.plan + ", output " + std::to_string(it.result.worst_output());
    }
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  std::printf("%-28s %2zu plans  %.1e  %-24s %5.0f s%s\n", name.c_str(),
              outputs->plans.size(), worst, where.c_str(), seconds,
              failed.c_str());
  std::fflush(stdout);
  return failed.empty() && worst <= wanted.tolerance;
}

int Main(int argc, char** argv) {
  CLI::App app("plans beside the step on one device");
  StepFlags wanted;
  wanted.tolerance = 1e-3;
  AddStepFlags(app, wanted);
  CLI11_PARSE(app, argc, argv);
  bool good = true;
  for (const std::string& file : wanted.files) good &= Report(file, wanted);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace meshwright

int main(int argc, char** argv) { return meshwright::Main(argc, argv); }
