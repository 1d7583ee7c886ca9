#include "coordinator/estimation/estimates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "coordinator/estimation/margin.h"
#include "coordinator/estimation/measured_cost.h"

namespace meshwright::estimation {
namespace {

using problem::Picoseconds;
using segmenter::SegmentTypeId;
using space::Configuration;
using space::ProfileSpace;

double Median(std::vector<double> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Estimator {
 public:
  Estimator(const ProfileSpace& space, const Halves& halves,
            const std::vector<EstimationPlan>& plans,
            const store::Results& results)
      : space_(space), halves_(halves), plans_(plans), results_(results) {}

  EstimatedTimes Run() {
    for (SegmentTypeId t; t < space_.types.size(); ++t) RunType(t);
    return std::move(out_);
  }

 private:
  void RunType(SegmentTypeId type) {
    const auto& configurations = space_.types[type].configurations;
    const int count = static_cast<int>(configurations.size());
    std::map<int, Estimate> open;
    std::vector<double> ratios;
    const auto compare = [&](int c, const Estimate& estimate) {
      if (estimate.time.count() <= 0) return;
      const auto measured =
          FindMeasuredCost(space_, configurations[c], results_);
      if (measured.has_value()) {
        ratios.push_back(static_cast<double>(measured->time.count()) /
                         static_cast<double>(estimate.time.count()));
      } else {
        open[c] = estimate;
      }
    };
    for (int c = 0; c < count; ++c) {
      const std::optional<Estimate> estimate = EstimateUnscaled(type, c);
      if (estimate.has_value()) compare(c, *estimate);
    }
    Calibration& calibration = out_.calibrations.emplace_back();
    if (!ratios.empty()) calibration.scale = Median(ratios);
    for (double& ratio : ratios) ratio /= calibration.scale;
    for (auto& [c, estimate] : open) {
      estimate.time = Scale(estimate.time, calibration.scale);
    }
    for (int c = 0; c < count; ++c) {
      const std::optional<Estimate> estimate =
          EstimateFromSwitch(type, c, open);
      if (estimate.has_value()) compare(c, *estimate);
    }
    calibration.compared = static_cast<int>(ratios.size());
    for (double& ratio : ratios) ratio = std::abs(ratio - 1);
    calibration.deviation = FindDeviation(ratios);
    calibration.margin = FindMargin(ratios);
    for (auto& [c, estimate] : open) {
      const Picoseconds margin = Scale(estimate.time, calibration.margin);
      estimate.noise = {std::min(margin, estimate.time), margin};
      out_.estimates[{type, c}] = estimate;
    }
  }

  static Picoseconds Scale(Picoseconds time, double scale) {
    return Picoseconds(std::llround(static_cast<double>(time.count()) * scale));
  }

  // `open` holds what is estimated of the type without a switch.
  std::optional<Estimate> EstimateFromSwitch(
      SegmentTypeId type, int configuration,
      const std::map<int, Estimate>& open) const {
    const SwitchEstimation* const found = plans_[type].Switched(configuration);
    if (found == nullptr) return std::nullopt;
    const SwitchEstimation& it = *found;
    const auto& configurations = space_.types[type].configurations;
    const auto cost = [&](int c) {
      return FindMeasuredCost(space_, configurations[c], results_);
    };
    const auto with = cost(it.reference);
    const auto without = cost(it.reference_plain);
    if (!with.has_value() || !without.has_value()) return std::nullopt;
    Estimate estimate;
    if (const auto plain = cost(it.plain); plain.has_value()) {
      estimate = {plain->time, plain->transient_bytes};
    } else if (const auto other = open.find(it.plain); other != open.end()) {
      estimate = other->second;
    } else {
      return std::nullopt;
    }
    // Two noisy times may differ by more than the plain one takes.
    estimate.time =
        std::max(estimate.time + Scale(with->time - without->time, it.share),
                 Picoseconds(1));
    estimate.transient_bytes =
        std::max(estimate.transient_bytes, with->transient_bytes);
    return estimate;
  }

  // Before scaling; nothing where a program that it takes was not measured.
  std::optional<Estimate> EstimateUnscaled(SegmentTypeId type,
                                           int configuration) const {
    const std::optional<SegmentTypeId> proxy = plans_[type].proxy;
    if (proxy.has_value()) return EstimateFromProxy(*proxy, configuration);
    if (plans_[type].Switched(configuration) != nullptr) return std::nullopt;
    if (halves_.IsCut(type)) return halves_.Sum(type, configuration, results_);
    const auto& sums = plans_[type].sums;
    if (sums.empty() || sums[configuration].empty()) return std::nullopt;
    Estimate estimate;
    for (const SumTerm& it : sums[configuration]) {
      const auto cost = FindMeasuredMainCost(
          space_, space_.types[type].configurations[it.configuration],
          results_);
      if (!cost.has_value()) return std::nullopt;
      estimate.time += cost->time * it.weight;
      estimate.transient_bytes =
          std::max(estimate.transient_bytes, cost->transient_bytes);
    }
    return estimate;
  }

  std::optional<Estimate> EstimateFromProxy(SegmentTypeId proxy,
                                            int configuration) const {
    // Of a group, which the proxy does not have.
    const auto& configurations = space_.types[proxy].configurations;
    if (configuration >= static_cast<int>(configurations.size())) {
      return std::nullopt;
    }
    const auto cost = FindMeasuredCost(
        space_, space_.types[proxy].configurations[configuration], results_);
    if (cost.has_value()) return Estimate{cost->time, cost->transient_bytes};
    const auto estimate = out_.estimates.find({proxy, configuration});
    if (estimate == out_.estimates.end()) return std::nullopt;
    return estimate->second;
  }

  const ProfileSpace& space_;
  const Halves& halves_;
  const std::vector<EstimationPlan>& plans_;
  const store::Results& results_;
  EstimatedTimes out_;
};

}  // namespace

EstimatedTimes EstimateTimes(const ProfileSpace& space, const Halves& halves,
                             const std::vector<EstimationPlan>& plans,
                             const store::Results& results) {
  return Estimator(space, halves, plans, results).Run();
}

}  // namespace meshwright::estimation
