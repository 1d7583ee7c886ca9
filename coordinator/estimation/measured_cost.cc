#include "coordinator/estimation/measured_cost.h"

#include <algorithm>

#include "coordinator/estimation/noise_interval.h"
#include "profiledb/store/row_time.h"

namespace meshwright::estimation {
namespace {

constexpr int64_t kPicosecondsPerNanosecond = 1000;

}  // namespace

const v1::ProfileResult* FindMeasuredRow(const space::ProfileSpace& space,
                                         const store::Results& results,
                                         space::ProgramId program) {
  const auto found = results.find(space.programs[program].key());
  if (found == results.end() || found->second.outcome() != v1::MEASURED) {
    return nullptr;
  }
  return &found->second;
}

problem::Config KeepBytesOnly(const space::Configuration& configuration) {
  problem::Config config;
  // Sums over trips are there from the first trip to the last.
  config.persistent_bytes =
      configuration.persistent_bytes + configuration.summed_bytes;
  config.saved_bytes = configuration.saved_bytes - configuration.summed_bytes;
  return config;
}

problem::Picoseconds ToCost(double nanoseconds) {
  constexpr int64_t kLongestNs =
      kLongestCost.count() / kPicosecondsPerNanosecond;
  // Up to there a double holds every nanosecond.
  return problem::Picoseconds(
      static_cast<int64_t>(
          std::min(nanoseconds, static_cast<double>(kLongestNs))) *
      kPicosecondsPerNanosecond);
}

std::optional<problem::Config> FindMeasuredCost(
    const space::ProfileSpace& space, const space::Configuration& configuration,
    const store::Results& results) {
  problem::Config config = KeepBytesOnly(configuration);
  if (!configuration.program.has_value()) return config;
  const v1::ProfileResult* result =
      FindMeasuredRow(space, results, *configuration.program);
  if (result == nullptr) return std::nullopt;
  const v1::Measurement& measurement = result->measurement();
  double nanoseconds =
      configuration.weight * static_cast<double>(store::GetTimeNs(measurement));
  IndependentNoise noise;
  noise.Add(configuration.weight * EstimateNoiseNs(measurement));
  for (const space::Correction& correction : configuration.corrections) {
    const v1::ProfileResult* other =
        FindMeasuredRow(space, results, correction.program);
    if (other == nullptr) return std::nullopt;
    nanoseconds += correction.weight *
                   static_cast<double>(store::GetTimeNs(other->measurement()));
    noise.Add(correction.weight * EstimateNoiseNs(other->measurement()));
  }
  // The difference of two noisy times must not make a loop free.
  config.time = ToCost(std::max(
      nanoseconds, static_cast<double>(store::GetTimeNs(measurement))));
  config.noise = noise.Around(config.time);
  // Copies of weights are there throughout (FindArgumentCopyBytes).
  const int64_t temporary =
      std::max<int64_t>(0, measurement.memory().temporary_bytes() -
                               measurement.memory().argument_copy_bytes());
  int64_t kept = configuration.saved_bytes - configuration.given_bytes -
                 configuration.crossing_bytes;
  // The program keeps what it saves inside among its temporaries: where they
  // are fewer, the compiler computes a part again. A loop of fewer trips than
  // the step's saves less than the step. Some plugins report no temporaries.
  if (temporary > 0 && configuration.corrections.empty() &&
      configuration.weight == 1) {
    const int64_t computed_again = std::max<int64_t>(0, kept - temporary);
    kept -= computed_again;
    config.saved_bytes -= computed_again;
  }
  config.transient_bytes =
      std::max<int64_t>(0, temporary - kept - configuration.base_bytes);
  return config;
}

std::optional<problem::Config> FindMeasuredMainCost(
    const space::ProfileSpace& space, const space::Configuration& configuration,
    const store::Results& results) {
  space::Configuration main = configuration;
  main.corrections.clear();
  return FindMeasuredCost(space, main, results);
}

int64_t FindArgumentCopyBytes(const space::ProfileSpace& space,
                              const space::Configuration& configuration,
                              const store::Results& results) {
  if (!configuration.program.has_value()) return 0;
  const v1::ProfileResult* row =
      FindMeasuredRow(space, results, *configuration.program);
  return row == nullptr ? 0 : row->measurement().memory().argument_copy_bytes();
}

int64_t FindReducedBytes(const space::ProfileSpace& space,
                         const space::Configuration& configuration,
                         const store::Results& results) {
  if (!configuration.program.has_value()) return 0;
  const v1::ProfileResult* row =
      FindMeasuredRow(space, results, *configuration.program);
  if (row == nullptr) return 0;
  int64_t bytes = 0;
  for (const v1::Collective& it : row->measurement().collectives()) {
    if (it.kind() == "all-reduce") bytes = std::max(bytes, it.bytes());
  }
  // Activations are reduced as well.
  return std::min(bytes, configuration.reduced_bytes);
}

}  // namespace meshwright::estimation
