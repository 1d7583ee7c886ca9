#include "coordinator/validation/evidence.h"

#include <algorithm>
#include <cmath>

#include "base/status_macros.h"
#include "coordinator/jobs/device_digest.h"
#include "coordinator/planning/plan_pipeline.h"

namespace meshwright::validation {
namespace {

// As worker/timing/protocol.h, Protocol::stable_within.
constexpr double kStableWithin = 0.01;

int64_t FindMedian(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

// How many samples RoundRobin (worker/timing) takes of a program on its own:
// enough over enough time with the minimum met twice, or the maximum.
int CountWanted(const v1::MeasureOptions& options, const v1::Measurement& it) {
  const int executions = std::max(1, it.executions_per_sample());
  int64_t smallest = 0;
  int64_t second = 0;
  int64_t spent = 0;
  for (int taken = 1; taken <= it.samples_ns_size(); ++taken) {
    const int64_t sample = it.samples_ns(taken - 1);
    spent += sample * (executions + options.warm_up_runs());
    if (taken == 1 || sample < smallest) {
      second = smallest;
      smallest = sample;
    } else if (taken == 2 || sample < second) {
      second = sample;
    }
    const bool is_met_twice =
        taken > 1 && static_cast<double>(second) <=
                         (1 + kStableWithin) * static_cast<double>(smallest);
    if (spent >= options.minimum_time_ns() &&
        (taken >= options.maximum_samples() ||
         (taken >= options.minimum_samples() && is_met_twice))) {
      return taken;
    }
  }
  return it.samples_ns_size();
}

}  // namespace

void CutToProtocol(const v1::MeasureOptions& options, v1::Measurement& it) {
  const int wanted = CountWanted(options, it);
  if (wanted == it.samples_ns_size()) return;
  it.mutable_samples_ns()->Truncate(wanted);
  std::vector<int64_t> samples(it.samples_ns().begin(), it.samples_ns().end());
  it.set_minimum_ns(*std::min_element(samples.begin(), samples.end()));
  it.set_median_ns(FindMedian(samples));
  for (int64_t& sample : samples) sample = std::abs(sample - it.median_ns());
  it.set_mad_ns(FindMedian(std::move(samples)));
  it.set_communication_ns(std::min(it.communication_ns(), it.minimum_ns()));
  it.set_compute_ns(it.minimum_ns() - it.communication_ns());
  it.set_passes(wanted);
  it.clear_dropped_samples();  // it is unknown before which they came
}

absl::Status RecordEvidence(
    const std::vector<Probe>& probes,
    const std::map<std::string, v1::ProfileResult>& results,
    const std::string& machine, store::ProfileStore* store) {
  for (const Probe& probe : probes) {
    const auto row = results.find(probe.program.key());
    if (row == results.end() || row->second.outcome() != v1::MEASURED) continue;
    v1::ProfileResult result = row->second;
    CutToProtocol(planning::MakeMeasureOptions(),
                  *result.mutable_measurement());
    RETURN_IF_ERROR(store->Record(result, store::MakeOrigin(result, machine)));
  }
  return absl::OkStatus();
}

absl::Status RecordStagedEvidence(
    const v1::Plan& plan, const std::vector<Probe>& probes,
    const std::map<std::string, v1::ProfileResult>& results,
    const v1::DeviceFingerprint& here, store::ProfileStore* store) {
  const std::string machine = jobs::DigestFingerprint(here);
  if (machine != jobs::DigestFingerprint(plan.device_fingerprint())) {
    return absl::OkStatus();
  }
  return RecordEvidence(probes, results, machine, store);
}

}  // namespace meshwright::validation
