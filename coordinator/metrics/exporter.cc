#include "coordinator/metrics/exporter.h"

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/metrics/state_families.h"

namespace meshwright::metrics {

std::string CompleteAddress(const std::string& written) {
  const bool is_port = !written.empty() &&
                       std::all_of(written.begin(), written.end(), [](char c) {
                         return absl::ascii_isdigit(c);
                       });
  return is_port ? "127.0.0.1:" + written : written;
}

absl::StatusOr<std::unique_ptr<Exporter>> Exporter::Start(
    const std::string& address, const Sources& sources) {
  std::unique_ptr<Exporter> exporter(new Exporter);
  if (sources.profiles != nullptr) {
    exporter->census_ =
        std::make_unique<StoreCensus>(sources.profiles, sources.clock);
  }
  exporter->state_ =
      NewStateFamilies({sources.queue, sources.plans, exporter->census_.get()});
  ASSIGN_OR_RETURN(
      exporter->endpoint_,
      HttpEndpoint::Start(address, [figures = sources.figures->registry(),
                                    state = exporter->state_] {
        std::vector<prometheus::MetricFamily> families = figures->Collect();
        std::vector<prometheus::MetricFamily> now = state->Collect();
        std::move(now.begin(), now.end(), std::back_inserter(families));
        return prometheus::TextSerializer().Serialize(families);
      }));
  return exporter;
}

Exporter::~Exporter() = default;

void Exporter::AwaitCensus() {
  if (census_ != nullptr) census_->AwaitIdle(absl::InfiniteDuration());
}

}  // namespace meshwright::metrics
