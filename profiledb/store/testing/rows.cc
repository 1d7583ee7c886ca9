#include "profiledb/store/testing/rows.h"

#include <chrono>

#include "base/fingerprint.h"

namespace meshwright::store {

std::string MakeKey(std::string_view name) { return base::Sha256Hex(name); }

v1::ProfileResult MakeRow(std::string_view name, v1::Outcome outcome,
                          const std::string& reason) {
  v1::ProfileResult result =
      outcome == v1::MEASURED ? MakeMeasured(name) : v1::ProfileResult();
  result.set_key(MakeKey(name));
  result.set_outcome(outcome);
  result.set_reason(reason);
  return result;
}

v1::ProfileResult MakeMeasured(std::string_view name, int64_t minimum_ns,
                               v1::Quality quality) {
  v1::ProfileResult result;
  result.set_key(MakeKey(name));
  result.set_outcome(v1::MEASURED);
  v1::Measurement& measurement = *result.mutable_measurement();
  measurement.set_minimum_ns(minimum_ns);
  measurement.set_median_ns(minimum_ns);
  measurement.set_quality(quality);
  return result;
}

v1::ProfileResult MakeFounded(std::string_view name, int64_t minimum_ns) {
  constexpr int kSamples = 12;
  v1::ProfileResult result = MakeMeasured(name, minimum_ns);
  v1::Measurement& it = *result.mutable_measurement();
  it.mutable_samples_ns()->Resize(kSamples, minimum_ns);
  it.mutable_memory()->set_peak_bytes(1 << 20);
  return result;
}

v1::ProfileResult MakeWorkersRow(std::string_view name, int number) {
  constexpr int kSamples = 60;
  const int64_t minimum = 1'000'000 + int64_t{7919} * (number % 5000);
  v1::ProfileResult result = MakeMeasured(name, minimum);
  v1::Measurement& it = *result.mutable_measurement();
  it.set_mad_ns(minimum / 100);
  for (int i = 0; i < kSamples; ++i) it.add_samples_ns(minimum + i * 1237);
  it.set_communication_ns(minimum / 5);
  it.set_compute_ns(minimum - it.communication_ns());
  it.mutable_memory()->set_argument_bytes(int64_t{3} << 20);
  it.mutable_memory()->set_output_bytes(int64_t{2} << 20);
  it.mutable_memory()->set_temporary_bytes(int64_t{9} << 20);
  it.mutable_memory()->set_peak_bytes(int64_t{14} << 20);
  for (const char* const kind : {"all-reduce", "all-gather", "all-to-all"}) {
    v1::Collective& collective = *it.add_collectives();
    collective.set_kind(kind);
    collective.set_bytes(4 << 20);
    collective.set_group_size(4);
    collective.set_count(2);
  }
  it.set_compile_ns(800'000'000);
  it.set_passes(64);
  it.set_dropped_samples(4);
  it.set_device_state("load 0.12 0.20 0.18, 2 cores, 2.4 to 2.4 GHz");
  for (const char* const name_of : {"dot", "copy", "all-reduce"}) {
    v1::AnchorTime& anchor = *it.add_anchors();
    anchor.set_name(name_of);
    anchor.set_minimum_ns(1'234'567);
  }
  it.set_other_load(0.03125);
  it.set_device_id("TFRT_CPU_0");
  it.set_protocol_version(7);
  it.set_executions_per_sample(1);
  return result;
}

Origin MakeWorkersOrigin(int number) {
  return {.host = "a-machine.of-the-cluster",
          .worker = "a-machine.of-the-cluster:7001",
          .device_id = "TFRT_CPU_0",
          .machine = MakeKey("machine"),
          .recorded = Nanoseconds(
              std::chrono::nanoseconds(1'700'000'000'123'456'789 + number))};
}

}  // namespace meshwright::store
