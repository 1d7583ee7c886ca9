#include "coordinator/planning/measuring.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::planning {

Measuring::Measuring(const PlanDependencies& dependencies,
                     const v1::DeviceSpec& device,
                     const v1::MeasureOptions& options,
                     const jobs::ProgressFunction& progress)
    : dependencies_(dependencies),
      progress_(progress),
      device_(device),
      options_(options) {
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) == 0) origin_.host = host;
}

absl::Status Measuring::Lookup(const std::vector<v1::Program>& programs) {
  std::vector<std::string> keys;
  for (const v1::Program& program : programs) {
    if (!results_.contains(program.key())) keys.push_back(program.key());
  }
  ASSIGN_OR_RETURN(store::Results rows, dependencies_.store->Lookup(keys));
  for (auto& [key, row] : rows) {
    // A program that does not compile never will; one that crashed or timed out
    // may have met a bad moment of its machine. A program pruned elsewhere
    // had other rivals.
    if (row.outcome() == v1::CRASHED || row.outcome() == v1::TIMED_OUT ||
        row.outcome() == v1::PRUNED) {
      continue;
    }
    results_[key] = std::move(row);
    ++cached_;
  }
  return absl::OkStatus();
}

absl::Status Measuring::Measure(
    const std::vector<const v1::Program*>& programs) {
  v1::RunnerRequest batch;
  *batch.mutable_device() = device_;
  *batch.mutable_options() = options_;
  std::map<std::string, const v1::Program*> by_key;
  for (const v1::Program* program : programs) {
    if (results_.contains(program->key())) continue;
    if (!by_key.emplace(program->key(), program).second) continue;
    *batch.add_programs() = *program;
  }
  if (batch.programs().empty()) return absl::OkStatus();
  asked_ += batch.programs_size();
  absl::Status stored;
  RETURN_IF_ERROR(dependencies_.measurer->Measure(
      batch,
      [&](const v1::ProfileResult& result) {
        const absl::Status status = Take(*by_key.at(result.key()), result);
        if (stored.ok()) stored = status;
      },
      [&](const v1::RunnerEvent::Started& started) {
        if (started.phase() != v1::RunnerEvent::Started::COMPILE) return;
        compiled_ = std::min(compiled_ + 1, asked_);
        Show("compile", compiled_);
      }));
  return stored;
}

absl::Status Measuring::Take(const v1::Program& program,
                             const v1::ProfileResult& result) {
  if (result.outcome() == v1::MEASURED) {
    ++profiled_;
    compile_ns_ += result.measurement().compile_ns();
    const double seconds =
        static_cast<double>(result.measurement().minimum_ns()) * 1e-9;
    if (best_seconds_ == 0 || seconds < best_seconds_) best_seconds_ = seconds;
  } else {
    ++failed_;
    notes_.push_back(absl::StrCat(program.label(), ": ",
                                  v1::Outcome_Name(result.outcome()), ", ",
                                  result.reason()));
  }
  results_[result.key()] = result;
  Show("measure", profiled_ + failed_);
  origin_.recorded = std::chrono::system_clock::now();
  RETURN_IF_ERROR(dependencies_.store->Record(result, origin_));
  return dependencies_.store->RecordProgram(result.key(), program.hlo_module());
}

void Measuring::Show(const char* phase, int done) {
  v1::PlanProgress progress;
  progress.set_phase(phase);
  progress.set_done(done);
  progress.set_total(asked_);
  progress.set_cached(cached_);
  progress.set_best_seconds(best_seconds_);
  progress_(progress);
}

}  // namespace meshwright::planning
