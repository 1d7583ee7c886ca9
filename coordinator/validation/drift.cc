#include "coordinator/validation/drift.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace meshwright::validation {

namespace {

// Now; nothing where it did not run.
std::optional<double> NanosecondsNow(
    const Anchor& anchor,
    const std::map<std::string, v1::ProfileResult>& results) {
  const auto found = results.find(anchor.program.key());
  if (found == results.end() || found->second.outcome() != v1::MEASURED) {
    return std::nullopt;
  }
  return static_cast<double>(found->second.measurement().minimum_ns());
}

double Time(const Anchor& anchor) { return anchor.Runs() * anchor.profiled_ns; }

void KeepMostOfTheTime(std::vector<Anchor>& anchors) {
  std::stable_sort(
      anchors.begin(), anchors.end(),
      [](const Anchor& a, const Anchor& b) { return Time(a) > Time(b); });
  double all = 0;
  for (const Anchor& anchor : anchors) all += Time(anchor);
  size_t kept = 0;
  for (double time = 0; kept < anchors.size() && kept < kMaxAnchors &&
                        time < kAnchoredShare * all;
       ++kept) {
    time += Time(anchors[kept]);
  }
  anchors.resize(kept);
}

}  // namespace

double Anchor::Runs() const {
  return std::accumulate(runs_of.begin(), runs_of.end(), 0.0);
}

std::vector<Anchor> ChooseAnchors(const planning::MeasuredStep& step,
                                  const std::vector<PartialChoice>& plans) {
  std::map<int, std::vector<double>> runs;  // by program of the space
  const auto add = [&](int program, size_t plan, double times) {
    auto& of = runs.try_emplace(program, plans.size(), 0.0).first->second;
    of[plan] += times;
  };
  for (size_t plan = 0; plan < plans.size(); ++plan) {
    for (size_t segment = 0; segment < plans[plan].size(); ++segment) {
      if (!plans[plan][segment].has_value()) continue;
      const int type = step.analysis.type_of_segment[segment];
      const space::Configuration& it =
          step.space.types[type].configurations[*plans[plan][segment]];
      if (it.program < 0) continue;
      add(it.program, plan, it.weight);
      for (const space::Correction& correction : it.corrections) {
        add(correction.program, plan, correction.weight);
      }
    }
  }
  std::vector<Anchor> anchors;
  for (auto& [index, of] : runs) {
    Anchor anchor{step.space.programs[index], 0, std::move(of)};
    const auto row = step.results.find(anchor.program.key());
    if (row == step.results.end() || row->second.outcome() != v1::MEASURED ||
        anchor.Runs() <= 0) {
      continue;
    }
    anchor.profiled_ns =
        static_cast<double>(row->second.measurement().minimum_ns());
    anchor.program.set_timed_only(true);
    anchors.push_back(std::move(anchor));
  }
  KeepMostOfTheTime(anchors);
  return anchors;
}

std::optional<double> EstimateDrift(
    const std::vector<Anchor>& anchors,
    const std::map<std::string, v1::ProfileResult>& results) {
  double now = 0;
  double then = 0;
  for (const Anchor& anchor : anchors) {
    const std::optional<double> once = NanosecondsNow(anchor, results);
    if (!once.has_value()) continue;
    now += anchor.Runs() * *once;
    then += anchor.Runs() * anchor.profiled_ns;
  }
  if (then <= 0) return std::nullopt;
  return now / then;
}

double EstimatePlanDrift(
    size_t plan, double predicted_seconds, const std::vector<Anchor>& anchors,
    const std::map<std::string, v1::ProfileResult>& results, double drift) {
  double more = 0;  // than what the machine's drift makes of it
  for (const Anchor& anchor : anchors) {
    const std::optional<double> once = NanosecondsNow(anchor, results);
    if (!once.has_value() || plan >= anchor.runs_of.size()) continue;
    more += anchor.runs_of[plan] * (*once - drift * anchor.profiled_ns);
  }
  if (predicted_seconds <= 0) return drift;
  return drift + more * 1e-9 / predicted_seconds;
}

}  // namespace meshwright::validation
