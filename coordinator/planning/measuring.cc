#include "coordinator/planning/measuring.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failpoint.h"
#include "base/status_macros.h"
#include "coordinator/estimation/cross_mesh_estimate.h"
#include "profiledb/store/anchor_time.h"
#include "profiledb/store/row_time.h"
#include "profiledb/store/summary.h"

namespace meshwright::planning {

absl::Status CheckWanted(const PlanDependencies& dependencies) {
  if (!dependencies.measurer->StopToken().stop_requested()) {
    return absl::OkStatus();
  }
  return absl::CancelledError("the plan was stopped during its search");
}

search::Options MakeSearchOptions(const PlanDependencies& dependencies) {
  return {.deadline = {.stop = dependencies.measurer->StopToken()}};
}

Measuring::Measuring(const PlanDependencies& dependencies,
                     const v1::DeviceSpec& device,
                     const space::KeyContext& context,
                     const jobs::ProgressFunction& progress)
    : dependencies_(dependencies),
      progress_(progress),
      device_(device),
      options_(context.options),
      machine_(context.device_digest),
      mesh_(context.mesh),
      links_(context.links) {}

bool IsNoisy(const v1::ProfileResult& row,
             const estimation::TimeBase& fastest) {
  const v1::Measurement& it = row.measurement();
  return row.outcome() == v1::MEASURED &&
         (it.quality() == v1::NOISY || it.quality() == v1::SUSPECT ||
          estimation::IsOfSlowPeriod(fastest, it) ||
          static_cast<double>(it.spread_ns()) >
              kMaxSpread * static_cast<double>(store::GetTimeNs(it)));
}

bool IsWorthMeasuring(const v1::ProfileResult& row,
                      const estimation::TimeBase& fastest) {
  return IsNoisy(row, fastest) &&
         row.measurement().undisturbed() < kEnoughMeasurements;
}

absl::Status Measuring::Lookup(const std::vector<v1::Program>& programs,
                               bool retry_failures) {
  std::vector<std::string> keys;
  for (const v1::Program& program : programs) {
    if (!results_.contains(program.key())) keys.push_back(program.key());
  }
  // A program that times out may have met a bad moment of its machine; three
  // times, and it is in quarantine.
  ASSIGN_OR_RETURN(
      store::Results rows,
      dependencies_.store->Lookup(
          keys, {.retry_failures = retry_failures, .retry_time_outs = true}));
  std::vector<std::string> known;
  for (const v1::Program& program : programs) {
    const auto found = rows.find(program.key());
    if (found == rows.end() || results_.contains(program.key())) continue;
    v1::ProfileResult& row = found->second;
    // A program pruned elsewhere had other rivals.
    if (row.outcome() == v1::PRUNED) continue;
    if (row.outcome() != v1::MEASURED) NoteFailure(program, row);
    results_[program.key()] = Read(std::move(row));
    GoOnWith(program);
    known.push_back(program.key());
    ++cached_;
  }
  dependencies_.measurer->NoteRows(known);
  return absl::OkStatus();
}

bool Measuring::IsOfThisPlan(const v1::ProfileResult& row) const {
  const auto began = dependencies_.measurer->PlanBegan();
  return began.has_value() && row.outcome() == v1::MEASURED &&
         absl::FromUnixNanos(row.measurement().recorded_unix_ns()) >= *began;
}

void Measuring::GoOnWith(const v1::Program& program) {
  const v1::ProfileResult& row = results_.at(program.key());
  if (!IsOfThisPlan(row)) return;
  NoteAnchor(row.measurement());
  if (row.measurement().undisturbed() <= 1) once_.push_back(&program);
}

void Measuring::NoteAnchor(const v1::Measurement& measurement) {
  const auto anchor = store::FindAnchorTime(measurement);
  if (anchor.has_value()) anchors_.push_back(*anchor);
}

absl::Status Measuring::Measure(const Programs& programs) {
  Programs unknown;
  std::set<std::string> keys;
  for (const v1::Program* program : programs) {
    if (results_.contains(program->key())) continue;
    if (keys.insert(program->key()).second) unknown.push_back(program);
  }
  asked_ += static_cast<int>(unknown.size());
  const size_t before = anchors_.size();
  RETURN_IF_ERROR(RunBatch(unknown));
  const estimation::TimeBase speed = FindSpeedSince(before);
  if (speed.has_value()) repeated_ = std::min(repeated_, speed);
  once_.insert(once_.end(), unknown.begin(), unknown.end());
  return Repeat(TakeDoubtful());
}

absl::Status Measuring::Repeat(const Programs& doubtful) {
  const size_t before = anchors_.size();
  RETURN_IF_ERROR(RunBatch(doubtful));
  const estimation::TimeBase speed = FindSpeedSince(before);
  if (speed.has_value()) repeated_ = speed;
  return absl::OkStatus();
}

estimation::TimeBase Measuring::FindSpeedSince(size_t anchor) const {
  return estimation::FindFastest(
      {anchors_.begin() + static_cast<int64_t>(anchor), anchors_.end()});
}

Measuring::Programs Measuring::TakeDoubtful() {
  const estimation::TimeBase usual =
      std::max(estimation::FindFastest(anchors_), repeated_);
  const auto is_doubtful = [&](const v1::Program* program) {
    const auto row = results_.find(program->key());
    if (row == results_.end() || row->second.outcome() != v1::MEASURED) {
      return false;
    }
    const v1::Measurement& it = row->second.measurement();
    return (IsNoisy(row->second) && !store::IsDisturbed(it)) ||
           estimation::IsOfSlowPeriod(usual, it);
  };
  const auto end =
      std::stable_partition(once_.begin(), once_.end(), is_doubtful);
  Programs doubtful(once_.begin(), end);
  once_.erase(once_.begin(), end);
  return doubtful;
}

absl::Status Measuring::Heal(const std::vector<v1::Program>& programs) {
  Programs all;
  for (const v1::Program& program : programs) all.push_back(&program);
  return Heal(all);
}

absl::Status Measuring::Heal(const Programs& programs) {
  Programs noisy;
  std::set<std::string> keys;
  const estimation::TimeBase fastest = estimation::FindFastestAnchor(results_);
  for (const v1::Program* program : programs) {
    const auto row = results_.find(program->key());
    if (row == results_.end() || !IsWorthMeasuring(row->second, fastest) ||
        IsOfThisPlan(row->second)) {
      continue;
    }
    if (keys.insert(program->key()).second) noisy.push_back(program);
  }
  return Remeasure(noisy);
}

absl::Status Measuring::Remeasure(const Programs& programs) {
  asked_ += static_cast<int>(programs.size());
  return RunBatch(programs);
}

absl::Status Measuring::RunBatch(const Programs& programs) {
  if (programs.empty()) return absl::OkStatus();
  v1::RunnerRequest batch;
  *batch.mutable_device() = device_;
  *batch.mutable_options() = options_;
  ByKey by_key;
  for (const v1::Program* program : programs) {
    *batch.add_programs() = *program;
    by_key[program->key()] = program;
  }
  std::vector<std::string> keys;
  std::set<std::string> elsewhere;  // measured by another plan
  for (const auto& [key, program] : by_key) elsewhere.insert(key);
  const auto began = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(dependencies_.measurer->MeasureTogether(
      batch,
      [&](absl::Span<const v1::ProfileResult> results) {
        // First: where the store is away, the same results come again.
        RETURN_IF_ERROR(Record(by_key, results));
        for (const v1::ProfileResult& result : results) {
          Take(*by_key.at(result.key()), result);
          elsewhere.erase(result.key());
          if (result.outcome() == v1::MEASURED) keys.push_back(result.key());
        }
        return absl::OkStatus();
      },
      [&](const v1::RunnerEvent::Started& started) {
        if (started.phase() != v1::RunnerEvent::Started::COMPILE) return;
        compiled_ = std::min(compiled_ + 1, asked_);
        Show("compile", compiled_);
      }));
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - began;
  seconds_ += taken.count();
  for (const std::string& key : elsewhere) {
    keys.push_back(key);
    if (!results_.contains(key)) ++cached_;
  }
  // The store's rows from these and earlier measurements.
  ASSIGN_OR_RETURN(store::Results rows, dependencies_.store->Lookup(keys));
  for (auto& [key, row] : rows) results_[key] = Read(std::move(row));
  std::vector<std::string> known;
  for (const auto& [key, program] : by_key) {
    const auto row = results_.find(key);
    if (row == results_.end() || row->second.outcome() == v1::TRANSIENT) {
      continue;
    }
    known.push_back(key);
  }
  dependencies_.measurer->NoteRows(known);
  return absl::OkStatus();
}

v1::ProfileResult Measuring::Read(v1::ProfileResult row) const {
  if (!links_.empty()) estimation::AddLinkTimes(mesh_, links_, row);
  const auto began = dependencies_.measurer->PlanBegan();
  if (began.has_value() && row.outcome() == v1::MEASURED &&
      !store::IsDisturbed(row.measurement())) {
    const absl::Duration age =
        *began - absl::FromUnixNanos(row.measurement().recorded_unix_ns());
    if (age > absl::ZeroDuration() && age < kRest) {
      row.mutable_measurement()->set_undisturbed(kEnoughMeasurements);
    }
  }
  return row;
}

void Measuring::Take(const v1::Program& program,
                     const v1::ProfileResult& result) {
  const bool again = results_.contains(result.key());
  if (!again) measured_now_.insert(result.key());
  if (result.outcome() == v1::MEASURED) {
    NoteAnchor(result.measurement());
    (again ? remeasured_ : profiled_) += 1;
    compile_ns_ += result.measurement().compile_ns();
    const double seconds =
        static_cast<double>(store::GetTimeNs(result.measurement())) * 1e-9;
    if (best_seconds_ == 0 || seconds < best_seconds_) best_seconds_ = seconds;
  } else if (!again) {
    ++failed_;
    NoteFailure(program, result);
  }
  // A second measurement that failed leaves the first.
  if (!again || result.outcome() == v1::MEASURED) {
    results_[result.key()] = result;
  }
  Show("measure", profiled_ + failed_);
}

absl::Status Measuring::Record(const ByKey& programs,
                               absl::Span<const v1::ProfileResult> results) {
  std::vector<store::Entry> entries;
  std::deque<std::string> reasons;  // that entries have views of
  for (const v1::ProfileResult& result : results) {
    if (result.outcome() == v1::TRANSIENT) continue;
    const v1::Program& program = *programs.at(result.key());
    store::Entry& entry = entries.emplace_back();
    entry.result = result;
    entry.result.clear_log();
    entry.origin = store::MakeOrigin(result, machine_);
    entry.program = program.hlo_module();
    const bool is_late = result.outcome() == v1::TIMED_OUT;
    reasons.push_back(absl::StrCat(
        program.label(), ": ", is_late ? "timed out, " : "", result.reason()));
    if (is_late) {
      entry.crash = {.crashes = 1, .reason = reasons.back(), .log = ""};
    }
    if (result.outcome() == v1::CRASHED) {
      // The runner gives up on a program that so many of its children died in.
      entry.crash = {.crashes = store::kCrashesToQuarantine,
                     .reason = reasons.back(),
                     .log = result.log()};
    }
  }
  if (entries.empty()) return absl::OkStatus();
  base::Failpoint("row.uncommitted");
  absl::Status recorded = dependencies_.store->Record(entries);
  base::Failpoint("row.committed");
  return recorded;
}

void Measuring::NoteFailure(const v1::Program& program,
                            const v1::ProfileResult& row) {
  notes_.push_back(absl::StrCat(program.label(), ": ",
                                v1::Outcome_Name(row.outcome()), ", ",
                                row.reason()));
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
