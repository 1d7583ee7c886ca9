#include "coordinator/planning/coverage.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/estimation/time_base.h"
#include "coordinator/planning/plan_pipeline.h"
#include "profiledb/store/row_time.h"
#include "profiledb/store/samples.h"

namespace meshwright::planning {
namespace {

// As many rows of the store are averaged; more say nothing new.
constexpr int kMaxAveragedRows = 2000;

// The average cost of rows.
class AverageCost {
 public:
  void Add(const v1::ProfileResult& row) {
    if (row.outcome() != v1::MEASURED) return;
    const v1::Measurement& it = row.measurement();
    // One run to warm up before each sample. The row's times are without the
    // launch of each run.
    const auto runs =
        static_cast<double>(store::CountSamples(it) *
                            (1 + std::max(1, it.executions_per_sample())));
    const auto run = static_cast<double>(store::GetTimeNs(it) + it.launch_ns());
    ++rows_;
    compile_seconds_ += static_cast<double>(it.compile_ns()) * 1e-9;
    measure_seconds_ += runs * run * 1e-9;
  }

  int rows() const { return rows_; }
  bool IsEnough() const { return rows_ >= kMinCoverageRows; }
  double compile_seconds() const { return compile_seconds_ / rows_; }
  double measure_seconds() const { return measure_seconds_ / rows_; }

 private:
  int rows_ = 0;
  double compile_seconds_ = 0;
  double measure_seconds_ = 0;
};

void SetSeconds(double compile_each, double measure_each, const char* basis,
                v1::CoverageReport& report) {
  const auto programs = static_cast<double>(report.unknown());
  report.set_compile_seconds(programs * compile_each);
  report.set_measure_seconds(programs * measure_each);
  report.set_basis(basis);
}

void SetSeconds(const AverageCost& cost, const char* basis,
                v1::CoverageReport& report) {
  SetSeconds(cost.compile_seconds(), cost.measure_seconds(), basis, report);
  report.set_basis_rows(cost.rows());
}

// `own`: of the model's programs that are known.
absl::Status EstimateRest(const AverageCost& own, const std::string& machine,
                          store::ProfileStore& store,
                          v1::CoverageReport& report) {
  if (own.IsEnough()) {
    SetSeconds(own, "the model's own rows", report);
    return absl::OkStatus();
  }
  AverageCost here, elsewhere;
  RETURN_IF_ERROR(store.ForEach(
      [&](const v1::ProfileResult& row, const store::Origin& origin) {
        if (origin.machine == machine) {
          here.Add(row);
        } else if (elsewhere.rows() < kMaxAveragedRows) {
          elsewhere.Add(row);
        }
        return here.rows() < kMaxAveragedRows;
      }));
  if (here.IsEnough()) {
    SetSeconds(here, "other rows of these devices", report);
    return absl::OkStatus();
  }
  report.set_is_guess(true);
  if (elsewhere.IsEnough()) {
    SetSeconds(elsewhere, "rows of other devices", report);
  } else {
    SetSeconds(kGuessedCompileSeconds, kGuessedMeasureSeconds, "no rows at all",
               report);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::CoverageReport> CoverPlan(
    const v1::PlanRequest& request, const PlanDependencies& dependencies) {
  if (request.has_stages()) {
    return absl::InvalidArgumentError(
        "a plan with stages has programs of several meshes; ask for the "
        "coverage of its meshes one by one, without --stages");
  }
  ASSIGN_OR_RETURN(const MeasuredStep step,
                   OpenStep(request, dependencies.measurer));
  std::vector<std::string> keys;
  for (const v1::Program& program : step.space.programs) {
    keys.push_back(program.key());
  }
  ASSIGN_OR_RETURN(const store::Results rows,
                   dependencies.store->Lookup(
                       keys, {.retry_failures = request.retry_failures(),
                              .retry_time_outs = true}));
  v1::CoverageReport report;
  report.set_model(request.model_name());
  for (const int64_t size : request.mesh().shape()) report.add_mesh(size);
  report.set_device(
      absl::StrCat(step.device.platform, " ", step.device.device_kind));
  report.set_programs(static_cast<int64_t>(keys.size()));
  AverageCost own;
  const estimation::TimeBase fastest = estimation::FindFastestAnchor(rows);
  for (const auto& [key, row] : rows) {
    // As Measuring::Lookup takes them.
    if (row.outcome() == v1::PRUNED) continue;
    if (row.outcome() == v1::MEASURED) {
      report.set_measured(report.measured() + 1);
      if (IsNoisy(row, fastest)) report.set_noisy(report.noisy() + 1);
    } else {
      report.set_failed(report.failed() + 1);
    }
    own.Add(row);
  }
  report.set_unknown(report.programs() - report.measured() - report.failed());
  if (report.unknown() == 0) return report;
  RETURN_IF_ERROR(EstimateRest(own, step.space.context.device_digest,
                               *dependencies.store, report));
  return report;
}

}  // namespace meshwright::planning
