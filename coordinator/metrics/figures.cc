#include "coordinator/metrics/figures.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "absl/strings/ascii.h"

namespace meshwright::metrics {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using Buckets = prometheus::Histogram::BucketBoundaries;

const Buckets& WorkSeconds() {
  static const auto& buckets =
      *new Buckets{0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300};
  return buckets;
}

const Buckets& RpcSeconds() {
  static const auto& buckets =
      *new Buckets{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30};
  return buckets;
}

const Buckets& ErrorRatios() {
  static const auto& buckets = *new Buckets{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1};
  return buckets;
}

double Seconds(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-9;
}

// The device time of the samples that were kept.
double SampledSeconds(const v1::Measurement& measurement) {
  const auto& samples = measurement.samples_ns();
  const int64_t each =
      std::accumulate(samples.begin(), samples.end(), int64_t{0});
  return Seconds(each) * std::max(1, measurement.executions_per_sample());
}

}  // namespace

struct Figures::Families {
  const std::shared_ptr<prometheus::Registry> registry =
      std::make_shared<prometheus::Registry>();

  prometheus::Family<prometheus::Counter>& lookups =
      BuildCounter()
          .Name("meshwright_lookups_total")
          .Help(
              "Keys of programs looked up in the store, by whether it had a "
              "row.")
          .Register(*registry);
  prometheus::Counter& hits = lookups.Add({{"result", "hit"}});
  prometheus::Counter& misses = lookups.Add({{"result", "miss"}});

  prometheus::Family<prometheus::Counter>& results =
      BuildCounter()
          .Name("meshwright_results_total")
          .Help("Results of programs that workers were to measure.")
          .Register(*registry);
  std::map<v1::Outcome, prometheus::Counter*> by_outcome;

  prometheus::Histogram& compile_seconds =
      BuildHistogram()
          .Name("meshwright_compile_seconds")
          .Help("Compile time of a program on a worker.")
          .Register(*registry)
          .Add({}, WorkSeconds());
  prometheus::Histogram& measure_seconds =
      BuildHistogram()
          .Name("meshwright_measure_seconds")
          .Help("Execution time of all samples kept of a measured program.")
          .Register(*registry)
          .Add({}, WorkSeconds());

  prometheus::Family<prometheus::Histogram>& rpc_seconds =
      BuildHistogram()
          .Name("meshwright_rpc_seconds")
          .Help("From the arrival of a call that has one answer to the answer.")
          .Register(*registry);
  prometheus::Family<prometheus::Gauge>& streams =
      BuildGauge()
          .Name("meshwright_rpc_streams")
          .Help("Calls with a stream that are open.")
          .Register(*registry);
  prometheus::Family<prometheus::Counter>& ended_streams =
      BuildCounter()
          .Name("meshwright_rpc_streams_ended_total")
          .Help("Calls with a stream that have ended, by their status.")
          .Register(*registry);

  prometheus::Family<prometheus::Counter>& refused =
      BuildCounter()
          .Name("meshwright_rpc_refused_total")
          .Help("Calls that are refused before they are looked at.")
          .Register(*registry);

  prometheus::Family<prometheus::Histogram>& errors =
      BuildHistogram()
          .Name("meshwright_prediction_error_ratio")
          .Help("|predicted / measured - 1| of a step that was validated.")
          .Register(*registry);
};

Figures::Figures() : families_(std::make_unique<Families>()) {
  for (int i = v1::MEASURED; i <= v1::TRANSIENT; ++i) {
    const auto outcome = static_cast<v1::Outcome>(i);
    families_->by_outcome[outcome] = &families_->results.Add(
        {{"outcome", absl::AsciiStrToLower(v1::Outcome_Name(outcome))}});
  }
  for (const auto code :
       {absl::StatusCode::kUnauthenticated, absl::StatusCode::kPermissionDenied,
        absl::StatusCode::kUnimplemented}) {
    families_->refused.Add({{"status", absl::StatusCodeToString(code)}});
  }
}

Figures::~Figures() = default;

const std::shared_ptr<prometheus::Registry>& Figures::registry() const {
  return families_->registry;
}

void Figures::AddResult(const v1::ProfileResult& result) {
  const auto counter = families_->by_outcome.find(result.outcome());
  if (counter != families_->by_outcome.end()) counter->second->Increment();
  const v1::Measurement& measurement = result.measurement();
  if (measurement.compile_ns() > 0) {
    families_->compile_seconds.Observe(Seconds(measurement.compile_ns()));
  }
  if (measurement.samples_ns_size() > 0) {
    families_->measure_seconds.Observe(SampledSeconds(measurement));
  }
}

void Figures::AddPrediction(const std::string& device_kind,
                            double predicted_seconds, double measured_seconds) {
  const double error = std::abs(predicted_seconds / measured_seconds - 1);
  if (!std::isfinite(error)) return;  // a client's figure may be anything
  families_->errors.Add({{"device_kind", device_kind}}, ErrorRatios())
      .Observe(error);
}

void Figures::BeginRpc(const service::Rpc& rpc) {
  if (!rpc.is_stream) return;
  families_->streams.Add({{"method", rpc.method}}).Increment();
}

void Figures::EndRpc(const service::Rpc& rpc, absl::StatusCode code,
                     absl::Duration took) {
  const prometheus::Labels labels = {
      {"method", rpc.method}, {"status", absl::StatusCodeToString(code)}};
  if (rpc.is_stream) {
    families_->streams.Add({{"method", rpc.method}}).Decrement();
    families_->ended_streams.Add(labels).Increment();
  } else {
    families_->rpc_seconds.Add(labels, RpcSeconds())
        .Observe(absl::ToDoubleSeconds(took));
  }
}

void Figures::RefuseRpc(absl::StatusCode code) {
  families_->refused.Add({{"status", absl::StatusCodeToString(code)}})
      .Increment();
}

void Figures::AddLookups(int64_t hits, int64_t misses) {
  families_->hits.Increment(static_cast<double>(hits));
  families_->misses.Increment(static_cast<double>(misses));
}

}  // namespace meshwright::metrics
