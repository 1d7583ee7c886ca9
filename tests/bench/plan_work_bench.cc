// Whether plans count what their steps do, for any number of steps.
//
//   build/release/bin/plan_work_bench [--mesh 1x2] [--open] [--random 4]
//       [--seed 1] [--tolerance 0.1] FILE...
//
// Compiles every step with each baseline and each random plan, and all programs
// that the plan's time is the sum of; prints per plan the bytes of collectives
// of either, the kinds that differ, and how many times as much as the step the
// programs compute, call functions, read and write. The exit status is 1 if a
// plan counts less than its step sends by more than --tolerance of it.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>

#include "base/file.h"
#include "tests/bench/step_flags.h"
#include "tests/integration/plan_work.h"

namespace meshwright {
namespace {

double Ratio(const Amount& amount) {
  return amount.step > 0 ? amount.parts / amount.step : 1;
}

bool ReportPlan(const std::string& name, const PlanWork& plan,
                double tolerance) {
  const Amount total = plan.Sent();
  const double missing = total.step > 0 ? 1 - Ratio(total) : 0;
  std::printf(
      "%-24s %-10s step %9.3f MB  parts %9.3f MB  missing %6.1f %%"
      "  operations %.3f  functions %.3f  bytes %.3f",
      name.c_str(), plan.plan.c_str(), total.step * 1e-6, total.parts * 1e-6,
      missing * 100, Ratio(plan.operations), Ratio(plan.functions),
      Ratio(plan.accessed));
  for (const auto& [kind, bytes] : plan.sent) {
    if (std::abs(bytes.step - bytes.parts) > 0.01 * total.step) {
      std::printf("  %s %.3f %.3f", kind.c_str(), bytes.step * 1e-6,
                  bytes.parts * 1e-6);
    }
  }
  std::printf("  %s\n", plan.failure.c_str());
  return missing <= tolerance && plan.failure.empty();
}

bool Report(const std::string& path, const StepFlags& wanted) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto bytes = base::ReadFile(path);
  const auto plans =
      !bytes.ok() ? bytes.status()
                  : ComparePlanWork(*bytes, wanted.mesh, wanted.Strategies(),
                                    wanted.random_plans, wanted.seed);
  if (!plans.ok()) {
    std::printf("%-24s %s\n", name.c_str(), plans.status().ToString().c_str());
    return false;
  }
  bool good = true;
  for (const PlanWork& it : *plans) {
    good &= ReportPlan(name, it, wanted.tolerance);
  }
  std::fflush(stdout);
  return good;
}

}  // namespace
}  // namespace meshwright

int main(int argc, char** argv) {
  meshwright::StepFlags wanted;
  wanted.tolerance = 0.1;
  CLI::App app("compares what plans count with what their steps do");
  AddStepFlags(app, wanted);
  CLI11_PARSE(app, argc, argv);
  bool good = true;
  for (const std::string& file : wanted.files) {
    good &= meshwright::Report(file, wanted);
  }
  return good ? 0 : 1;
}
