#include "planner/cluster/fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::cluster {
namespace {

constexpr double kLongStep = 10;      // times the shortest
constexpr double kLargeSizes = 16;    // the largest over the least of them
constexpr double kContradiction = 9;  // three standard deviations
constexpr size_t kTimingsOfASlope = 2;

// One step of a timing.
struct Step {
  double bytes = 0;
  double seconds = 0;
};

absl::StatusOr<std::vector<Step>> ToSteps(std::span<const Timing> timings) {
  std::vector<Step> steps;
  for (const Timing& timing : timings) {
    if (!std::isfinite(timing.seconds) || timing.seconds < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the ", NameOperation(timing.operation), " of ", timing.bytes,
          " bytes took ", timing.seconds, " seconds; time it again"));
    }
    const Work work = CountWork(timing.operation, timing.devices, timing.bytes);
    if (work.steps <= 0) continue;
    steps.push_back({work.bytes / work.steps, timing.seconds / work.steps});
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.bytes < b.bytes; });
  if (steps.empty() || steps.front().bytes == steps.back().bytes) {
    return absl::InvalidArgumentError(
        "latency and bandwidth need timings of two sizes or more; time a small "
        "and a large one");
  }
  return steps;
}

bool HaveTwoSizes(const std::vector<Step>& steps) {
  return steps.size() >= kTimingsOfASlope &&
         steps.front().bytes < steps.back().bytes;
}

// By size, those that tell the bandwidth.
std::vector<Step> TakeLong(const std::vector<Step>& steps) {
  const double shortest = std::min_element(steps.begin(), steps.end(),
                                           [](const Step& a, const Step& b) {
                                             return a.seconds < b.seconds;
                                           })
                              ->seconds;
  std::vector<Step> taken;
  for (const Step& step : steps) {
    if (step.seconds >= kLongStep * shortest &&
        step.bytes * kLargeSizes >= steps.back().bytes) {
      taken.push_back(step);
    }
  }
  if (HaveTwoSizes(taken)) return taken;
  // Latency hides the bandwidth: the larger half of the sizes.
  const double middle = steps[steps.size() / 2].bytes;
  taken.clear();
  for (const Step& step : steps) {
    if (step.bytes >= middle) taken.push_back(step);
  }
  return HaveTwoSizes(taken) ? taken : steps;
}

double Weigh(const Step& step) {
  return step.seconds > 0 ? 1 / (step.seconds * step.seconds) : 0;
}

struct Slope {
  double beta = 0;
  double squares = 0;  // of the relative errors
};

// Least squares of relative errors, where a step of no bytes takes `intercept`.
Slope FitThrough(const std::vector<Step>& steps, double intercept) {
  double xx = 0;
  double xy = 0;
  for (const Step& step : steps) {
    xx += Weigh(step) * step.bytes * step.bytes;
    xy += Weigh(step) * step.bytes * (step.seconds - intercept);
  }
  Slope slope;
  if (xx > 0) slope.beta = std::max(0.0, xy / xx);
  for (const Step& step : steps) {
    const double off = step.seconds - intercept - slope.beta * step.bytes;
    slope.squares += Weigh(step) * off * off;
  }
  return slope;
}

// The same with an intercept of its own.
Slope FitFreely(const std::vector<Step>& steps) {
  double weights = 0;
  double x = 0;
  double y = 0;
  for (const Step& step : steps) {
    weights += Weigh(step);
    x += Weigh(step) * step.bytes;
    y += Weigh(step) * step.seconds;
  }
  if (weights == 0) return {};
  x /= weights;
  y /= weights;
  double xx = 0;
  double xy = 0;
  for (const Step& step : steps) {
    xx += Weigh(step) * (step.bytes - x) * (step.bytes - x);
    xy += Weigh(step) * (step.bytes - x) * (step.seconds - y);
  }
  Slope slope;
  if (xx > 0) slope.beta = std::max(0.0, xy / xx);
  const double intercept = y - slope.beta * x;
  for (const Step& step : steps) {
    const double off = step.seconds - intercept - slope.beta * step.bytes;
    slope.squares += Weigh(step) * off * off;
  }
  return slope;
}

// `steps` by size.
double FitAlpha(const std::vector<Step>& steps, double beta) {
  std::vector<double> latencies;
  for (const Step& step : steps) {
    const double rest = step.seconds - step.bytes * beta;
    if (rest >= step.seconds / 2) latencies.push_back(rest);
  }
  if (latencies.empty()) {
    const Step& smallest = steps.front();
    return std::max(0.0, smallest.seconds - smallest.bytes * beta);
  }
  const size_t middle = latencies.size() / 2;
  std::nth_element(latencies.begin(), latencies.begin() + middle,
                   latencies.end());
  return latencies[middle];
}

// An intercept of its own costs precision: it is taken only where the large
// steps contradict the latency of small ones by more than their noise explains.
double FitBeta(const std::vector<Step>& steps) {
  const std::vector<Step> large = TakeLong(steps);
  const Slope free = FitFreely(large);
  const Slope through = FitThrough(large, FitAlpha(steps, free.beta));
  const double noise =
      free.squares / std::max<double>(1, static_cast<double>(large.size()) - 2);
  return through.squares - free.squares > kContradiction * noise ? free.beta
                                                                 : through.beta;
}

}  // namespace

absl::StatusOr<LinkFit> FitLink(std::span<const Timing> timings) {
  ASSIGN_OR_RETURN(const std::vector<Step> steps, ToSteps(timings));
  LinkFit fit;
  fit.link.beta = FitBeta(steps);
  fit.link.alpha = FitAlpha(steps, fit.link.beta);
  fit.timings = static_cast<int>(steps.size());
  double squares = 0;
  for (const Step& step : steps) {
    if (step.seconds <= 0) continue;
    const double estimated = fit.link.alpha + step.bytes * fit.link.beta;
    const double off = std::abs(estimated / step.seconds - 1);
    squares += off * off;
    fit.maximum_residual = std::max(fit.maximum_residual, off);
  }
  fit.residual = std::sqrt(squares / fit.timings);
  return fit;
}

}  // namespace meshwright::cluster
