#include "coordinator/metrics/state_families.h"

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "base/enum_words.h"
#include "base/log/log.h"

namespace meshwright::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using Families = std::vector<MetricFamily>;

MetricFamily Gauge(const std::string& name, const std::string& help) {
  return {name, help, prometheus::MetricType::Gauge, {}};
}

void Set(MetricFamily& family, double value,
         std::vector<ClientMetric::Label> labels = {}) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.gauge.value = value;
  family.metric.push_back(std::move(metric));
}

void Add(Families& families, const std::string& name, const std::string& help,
         double value) {
  families.push_back(Gauge(name, help));
  Set(families.back(), value);
}

void AddByLabel(Families& families, const std::string& name,
                const std::string& help, const std::string& label,
                const std::map<std::string, int64_t>& values) {
  families.push_back(Gauge(name, help));
  for (const auto& [value, count] : values) {
    Set(families.back(), static_cast<double>(count), {{label, value}});
  }
}

using PlanCounts = std::map<v1::PlanState, int64_t>;

void AddPlans(const absl::StatusOr<PlanCounts>& counts, Families& families) {
  Add(families, "meshwright_store_up",
      "Whether the store of plans answered this reading.", counts.ok() ? 1 : 0);
  if (!counts.ok()) {
    base::LogWarning("metrics: the plans were not counted: ",
                     counts.status().message());
    return;
  }
  std::map<std::string, int64_t> by_name;
  for (int i = v1::QUEUED; i <= v1::CANCELLED; ++i) {
    const auto state = static_cast<v1::PlanState>(i);
    const auto found = counts->find(state);
    by_name[absl::AsciiStrToLower(v1::PlanState_Name(state))] =
        found == counts->end() ? 0 : found->second;
  }
  AddByLabel(families, "meshwright_plans", "Plans in the store, by state.",
             "state", by_name);
}

std::string NameState(v1::WorkerSummary::State state) {
  return absl::AsciiStrToLower(v1::WorkerSummary::State_Name(state));
}

void AddPrograms(const jobs::JobQueue& queue, Families& families) {
  const jobs::QueueCounts counts = queue.Count();
  Add(families, "meshwright_programs_waiting",
      "Programs that wait for a worker.",
      static_cast<double>(counts.programs_waiting));
  Add(families, "meshwright_programs_leased",
      "Programs that a worker has, without a result so far.",
      static_cast<double>(counts.programs_leased));
}

void AddWorkers(const std::vector<v1::WorkerSummary>& summaries,
                Families& families) {
  std::map<std::string, int64_t> workers;
  for (int i = v1::WorkerSummary::IDLE; i <= v1::WorkerSummary::QUARANTINED;
       ++i) {
    workers[NameState(static_cast<v1::WorkerSummary::State>(i))] = 0;
  }
  for (const v1::WorkerSummary& worker : summaries) {
    ++workers[NameState(worker.state())];
  }
  AddByLabel(families, "meshwright_workers", "Workers, by state.", "state",
             workers);
}

void AddStore(const StoreCensus::Count& count, Families& families) {
  const store::Statistics& statistics = count.figures;
  Add(families, "meshwright_store_counted_timestamp_seconds",
      "When the rows of the store were counted last.",
      absl::ToDoubleSeconds(count.when - absl::UnixEpoch()));
  std::map<std::string, int64_t> outcomes = {{"measured", 0}};
  for (const auto& [outcome, rows] : statistics.profiles) {
    outcomes[absl::AsciiStrToLower(v1::Outcome_Name(outcome))] = rows;
  }
  AddByLabel(families, "meshwright_store_rows", "Rows, by outcome.", "outcome",
             outcomes);
  std::map<std::string, int64_t> rows = {
      {"good", 0}, {"noisy", 0}, {"suspect", 0}};
  std::map<std::string, int64_t> bytes = rows;
  for (const auto& [quality, counted] : statistics.measured) {
    rows[base::LowerName(v1::Quality_Name(quality))] = counted.rows;
    bytes[base::LowerName(v1::Quality_Name(quality))] = counted.bytes;
  }
  AddByLabel(families, "meshwright_store_measured_rows",
             "Measured rows, by quality.", "quality", rows);
  AddByLabel(families, "meshwright_store_measured_bytes",
             "What the summaries of measured rows take, by quality.", "quality",
             bytes);
  Add(families, "meshwright_store_programs", "Programs that the store keeps.",
      static_cast<double>(statistics.programs));
  Add(families, "meshwright_store_program_bytes",
      "What the programs take, compressed.",
      static_cast<double>(statistics.compressed_program_bytes));
}

class StateFamilies : public prometheus::Collectable {
 public:
  explicit StateFamilies(const StateSources& sources)
      : sources_(sources), plans_wait_(sources.store_patience) {}

  Families Collect() const override {
    Families families;
    AddPlans(plans_wait_.Ask<PlanCounts>(
                 [plans = sources_.plans] { return plans->CountByState(); }),
             families);
    Add(families, "meshwright_plans_longest_wait_seconds",
        "The longest wait for devices of the plans that wait for some.",
        sources_.longest_wait ? absl::ToDoubleSeconds(sources_.longest_wait())
                              : 0);
    AddPrograms(*sources_.queue, families);
    AddWorkers(sources_.workers(), families);
    if (sources_.census == nullptr) return families;
    const auto count = sources_.census->Newest();
    if (count.has_value()) AddStore(*count, families);
    return families;
  }

 private:
  const StateSources sources_;
  mutable StoreWait plans_wait_;
};

}  // namespace

std::shared_ptr<prometheus::Collectable> NewStateFamilies(
    const StateSources& sources) {
  return std::make_shared<StateFamilies>(sources);
}

}  // namespace meshwright::metrics
