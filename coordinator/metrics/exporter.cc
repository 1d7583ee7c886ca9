#include "coordinator/metrics/exporter.h"

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <iterator>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "coordinator/metrics/state_families.h"

namespace meshwright::metrics {

namespace {

// The figures as Prometheus reads them.
http::Response MakeText(prometheus::Collectable& figures,
                        prometheus::Collectable& state) {
  std::vector<prometheus::MetricFamily> families = figures.Collect();
  std::vector<prometheus::MetricFamily> now = state.Collect();
  std::move(now.begin(), now.end(), std::back_inserter(families));
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
          .body = prometheus::TextSerializer().Serialize(families)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Exporter>> Exporter::Start(
    const std::string& address, const Sources& sources) {
  std::unique_ptr<Exporter> exporter(new Exporter);
  if (sources.profiles != nullptr) {
    exporter->census_ =
        std::make_unique<StoreCensus>(sources.profiles, sources.clock);
  }
  exporter->state_ =
      NewStateFamilies({.queue = sources.queue,
                        .plans = sources.plans,
                        .census = exporter->census_.get(),
                        .workers = sources.workers,
                        .longest_wait = sources.longest_wait,
                        .store_patience = sources.store_patience});
  ASSIGN_OR_RETURN(
      exporter->server_,
      http::HttpServer::Start(
          {.address = address},
          [figures = sources.figures->registry(),
           state = exporter->state_](const http::Request& request) {
            if (request.path != "/metrics") {
              return http::Response{.status = 404,
                                    .body = "The metrics are at /metrics.\n"};
            }
            return MakeText(*figures, *state);
          }));
  return exporter;
}

Exporter::~Exporter() = default;

void Exporter::AwaitCensus() {
  if (census_ != nullptr) census_->AwaitIdle(absl::InfiniteDuration());
}

}  // namespace meshwright::metrics
