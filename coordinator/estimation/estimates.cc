#include "coordinator/estimation/estimates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "coordinator/estimation/measured_cost.h"

namespace meshwright::estimation {
namespace {

using problem::Picoseconds;
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
            const std::vector<TypeRecipe>& recipes,
            const store::Results& results)
      : space_(space), halves_(halves), recipes_(recipes), results_(results) {}

  EstimatedTimes Run() {
    for (size_t t = 0; t < space_.types.size(); ++t) {
      RunType(static_cast<int>(t));
    }
    return std::move(out_);
  }

 private:
  void RunType(int type) {
    const auto& configurations = space_.types[type].configurations;
    const int count = static_cast<int>(configurations.size());
    std::map<int, Estimate> open;
    std::vector<double> ratios;
    const auto compare = [&](int c, const Estimate& estimate) {
      if (estimate.time.count() <= 0) return;
      const auto measured = MeasuredCost(space_, configurations[c], results_);
      if (measured.has_value()) {
        ratios.push_back(static_cast<double>(measured->time.count()) /
                         static_cast<double>(estimate.time.count()));
      } else {
        open[c] = estimate;
      }
    };
    for (int c = 0; c < count; ++c) {
      const std::optional<Estimate> estimate = Raw(type, c);
      if (estimate.has_value()) compare(c, *estimate);
    }
    Calibration& calibration = out_.calibrations.emplace_back();
    if (!ratios.empty()) calibration.scale = Median(ratios);
    for (double& ratio : ratios) ratio /= calibration.scale;
    for (auto& [c, estimate] : open) {
      estimate.time = Scale(estimate.time, calibration.scale);
    }
    for (int c = 0; c < count; ++c) {
      const std::optional<Estimate> estimate = OfSwitch(type, c, open);
      if (estimate.has_value()) compare(c, *estimate);
    }
    calibration.compared = static_cast<int>(ratios.size());
    for (double ratio : ratios) {
      calibration.deviation =
          std::max(calibration.deviation, std::abs(ratio - 1));
    }
    calibration.margin =
        calibration.compared < kEnoughCompared
            ? kFirstMargin
            : std::max(kLeastMargin, kDeviations * calibration.deviation);
    for (auto& [c, estimate] : open) {
      const Picoseconds margin = Scale(estimate.time, calibration.margin);
      estimate.spread = {std::min(margin, estimate.time), margin};
      out_.estimates[{type, c}] = estimate;
    }
  }

  static Picoseconds Scale(Picoseconds time, double scale) {
    return Picoseconds(std::llround(static_cast<double>(time.count()) * scale));
  }

  // `open` holds what is estimated of the type without a switch.
  std::optional<Estimate> OfSwitch(int type, int configuration,
                                   const std::map<int, Estimate>& open) const {
    const SwitchRecipe* const recipe = recipes_[type].Switched(configuration);
    if (recipe == nullptr) return std::nullopt;
    const SwitchRecipe& it = *recipe;
    const auto& configurations = space_.types[type].configurations;
    const auto cost = [&](int c) {
      return MeasuredCost(space_, configurations[c], results_);
    };
    const auto with = cost(it.reference);
    const auto without = cost(it.reference_plain);
    if (!with.has_value() || !without.has_value()) return std::nullopt;
    Estimate estimate;
    if (const auto plain = cost(it.plain); plain.has_value()) {
      estimate = {plain->time, plain->transient_bytes};
    } else if (const auto found = open.find(it.plain); found != open.end()) {
      estimate = found->second;
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
  std::optional<Estimate> Raw(int type, int configuration) const {
    const int twin = recipes_[type].twin;
    if (twin >= 0) return OfTwin(twin, configuration);
    if (recipes_[type].Switched(configuration) != nullptr) return std::nullopt;
    if (halves_.IsCut(type)) return halves_.Sum(type, configuration, results_);
    const auto& sums = recipes_[type].sums;
    if (sums.empty() || sums[configuration].empty()) return std::nullopt;
    Estimate estimate;
    for (const auto& [other, weight] : sums[configuration]) {
      const auto cost = MeasuredMainCost(
          space_, space_.types[type].configurations[other], results_);
      if (!cost.has_value()) return std::nullopt;
      estimate.time += cost->time * weight;
      estimate.transient_bytes =
          std::max(estimate.transient_bytes, cost->transient_bytes);
    }
    return estimate;
  }

  std::optional<Estimate> OfTwin(int twin, int configuration) const {
    // Of a group, where the twin has none.
    const auto& configurations = space_.types[twin].configurations;
    if (configuration >= static_cast<int>(configurations.size())) {
      return std::nullopt;
    }
    const auto cost = MeasuredCost(
        space_, space_.types[twin].configurations[configuration], results_);
    if (cost.has_value()) return Estimate{cost->time, cost->transient_bytes};
    const auto estimate = out_.estimates.find({twin, configuration});
    if (estimate == out_.estimates.end()) return std::nullopt;
    return estimate->second;
  }

  const ProfileSpace& space_;
  const Halves& halves_;
  const std::vector<TypeRecipe>& recipes_;
  const store::Results& results_;
  EstimatedTimes out_;
};

}  // namespace

EstimatedTimes EstimateTimes(const ProfileSpace& space, const Halves& halves,
                             const std::vector<TypeRecipe>& recipes,
                             const store::Results& results) {
  return Estimator(space, halves, recipes, results).Run();
}

}  // namespace meshwright::estimation
