#include "coordinator/validation/drift.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "profiledb/store/row_time.h"

namespace meshwright::validation {

namespace {

// Now; nothing where it did not run, or so seldom that its time is a guess.
std::optional<double> NanosecondsNow(
    const Probe& probe,
    const std::map<std::string, v1::ProfileResult>& results) {
  const auto found = results.find(probe.program.key());
  if (found == results.end() || found->second.outcome() != v1::MEASURED) {
    return std::nullopt;
  }
  const v1::Measurement& measurement = found->second.measurement();
  if (IsGuess(measurement)) return std::nullopt;
  return static_cast<double>(store::GetTimeNs(measurement));
}

double Time(const Probe& probe) { return probe.Runs() * probe.profiled_ns; }

void KeepMostOfTheTime(std::vector<Probe>& probes) {
  std::stable_sort(
      probes.begin(), probes.end(),
      [](const Probe& a, const Probe& b) { return Time(a) > Time(b); });
  double all = 0;
  for (const Probe& probe : probes) all += Time(probe);
  size_t kept = 0;
  for (double time = 0;
       kept < probes.size() && kept < kMaxProbes && time < kProbedShare * all;
       ++kept) {
    time += Time(probes[kept]);
  }
  probes.resize(kept);
}

}  // namespace

bool IsGuess(const v1::Measurement& measurement) {
  const auto& noise = measurement.noise();
  return std::find(noise.begin(), noise.end(), v1::FEW_SAMPLES) != noise.end();
}

double Probe::Runs() const {
  return std::accumulate(runs_of.begin(), runs_of.end(), 0.0);
}

std::vector<Probe> ChooseProbes(const planning::MeasuredStep& step,
                                const std::vector<PartialChoice>& plans) {
  std::map<space::ProgramId, std::vector<double>> runs;
  const auto add = [&](space::ProgramId program, size_t plan, double times) {
    auto& of = runs.try_emplace(program, plans.size(), 0.0).first->second;
    of[plan] += times;
  };
  for (size_t plan = 0; plan < plans.size(); ++plan) {
    for (size_t segment = 0; segment < plans[plan].size(); ++segment) {
      if (!plans[plan][segment].has_value()) continue;
      const segmenter::SegmentTypeId type =
          step.analysis.type_of_segment[segment];
      const space::Configuration& it =
          step.space.types[type].configurations[*plans[plan][segment]];
      if (!it.program.has_value()) continue;
      add(*it.program, plan, it.weight);
      for (const space::Correction& correction : it.corrections) {
        add(correction.program, plan, correction.weight);
      }
    }
  }
  std::vector<Probe> probes;
  for (auto& [index, of] : runs) {
    Probe probe{step.space.programs[index], 0, std::move(of)};
    const auto row = step.results.find(probe.program.key());
    if (row == step.results.end() || row->second.outcome() != v1::MEASURED ||
        probe.Runs() <= 0) {
      continue;
    }
    probe.profiled_ns =
        static_cast<double>(store::GetTimeNs(row->second.measurement()));
    probe.program.set_timed_only(true);
    probes.push_back(std::move(probe));
  }
  KeepMostOfTheTime(probes);
  return probes;
}

std::optional<double> EstimateDrift(
    const std::vector<Probe>& probes,
    const std::map<std::string, v1::ProfileResult>& results) {
  double now = 0;
  double then = 0;
  for (const Probe& probe : probes) {
    const std::optional<double> once = NanosecondsNow(probe, results);
    if (!once.has_value()) continue;
    now += probe.Runs() * *once;
    then += probe.Runs() * probe.profiled_ns;
  }
  if (then <= 0) return std::nullopt;
  return now / then;
}

double EstimatePlanDrift(
    size_t plan, double predicted_seconds, const std::vector<Probe>& probes,
    const std::map<std::string, v1::ProfileResult>& results, double drift) {
  double more = 0;  // than what the machine's drift makes of it
  for (const Probe& probe : probes) {
    const std::optional<double> once = NanosecondsNow(probe, results);
    if (!once.has_value() || plan >= probe.runs_of.size()) continue;
    more += probe.runs_of[plan] * (*once - drift * probe.profiled_ns);
  }
  if (predicted_seconds <= 0) return drift;
  return drift + more * 1e-9 / predicted_seconds;
}

}  // namespace meshwright::validation
