#include "cli/local/program_checks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "cli/flags/time_limit.h"
#include "worker/runner/small_modules.h"

namespace meshwright::cli {
namespace {

using State = Check::State;

// The checks' names are the programs' keys.
constexpr char kProgram[] = "program";
constexpr char kAllReduce[] = "all-reduce";

constexpr int64_t kColumns = int64_t{1} << 16;
constexpr double kTolerance = 1e-6;  // of a sum of a few ones
// Of one run; the first one also joins the devices.
constexpr absl::Duration kRunLimit = absl::Seconds(15);

v1::Program MakeProgram(const std::string& key, int64_t rows, int devices) {
  v1::Program program;
  program.set_key(key);
  program.set_hlo_module(worker::runner::MakeSumModule(rows, kColumns, devices)
                             .SerializeAsString());
  program.set_num_partitions(devices);
  v1::InputSpec& ones = *program.add_inputs();
  ones.set_kind(v1::InputSpec::CONSTANT);
  ones.set_value(1);
  return program;
}

v1::RunnerRequest MakeTrial(const v1::DeviceSpec& device, int devices) {
  v1::RunnerRequest request;
  *request.mutable_device() = device;
  request.mutable_device()->set_device_count(devices);
  v1::MeasureOptions& options = *request.mutable_options();
  options.set_warm_up_runs(1);
  options.set_minimum_samples(1);
  options.set_maximum_samples(1);
  options.set_minimum_time_ns(1);
  options.set_program_time_limit_ns(absl::ToInt64Nanoseconds(kRunLimit));
  // Every device has something to add up by itself.
  const int64_t rows = int64_t{2} * devices;
  *request.mutable_reference() = MakeProgram("reference", rows, 1);
  *request.add_programs() = MakeProgram(kProgram, rows, 1);
  if (devices > 1) {
    *request.add_programs() = MakeProgram(kAllReduce, rows, devices);
  }
  return request;
}

struct TrialOutcome {
  std::map<std::string, v1::ProfileResult> rows;
  absl::Status status;
  bool is_late = false;
  std::string last_started;  // program
  std::string waited_for;    // last, as another process's timing
  absl::Duration waited;     // in all
  bool waits_at_end = false;

  bool HasFailedRow() const {
    return std::any_of(rows.begin(), rows.end(), [](const auto& row) {
      return row.second.outcome() != v1::MEASURED;
    });
  }
};

TrialOutcome RunTrial(const v1::RunnerRequest& request,
                      const worker::BatchFunction& run_batch,
                      absl::Duration limit) {
  TrialOutcome outcome;
  const TimeLimit time(limit);
  const base::SteadyClock clock;
  std::optional<absl::Time> waits_since;
  const auto end_wait = [&] {
    if (waits_since.has_value()) outcome.waited += clock.Now() - *waits_since;
    waits_since.reset();
  };
  outcome.status = run_batch(
      request,
      [&](const v1::RunnerEvent& event) {
        end_wait();
        if (event.has_waiting()) {
          outcome.waited_for = event.waiting().reason();
          waits_since = clock.Now();
        }
        if (event.has_started()) outcome.last_started = event.started().key();
        if (event.has_result()) {
          outcome.rows[event.result().key()] = event.result();
        }
      },
      time.token());
  outcome.waits_at_end = waits_since.has_value();
  end_wait();
  outcome.is_late = time.has_passed();
  return outcome;
}

std::string FindWayOut(const std::string& name, const std::string& platform) {
  if (platform != "cuda") {
    return "build again, or give another PJRT plugin with --plugin";
  }
  return name == kAllReduce
             ? "run all_reduce_perf of NVIDIA's nccl-tests here: it shows "
               "which link or setting of NCCL is at fault"
             : "see what dmesg and nvidia-smi -q say of the GPU";
}

// The detail of a failure; empty: the program ran right.
std::string FindFault(const v1::ProfileResult& row) {
  if (row.outcome() != v1::MEASURED) {
    return row.reason().empty() ? v1::Outcome_Name(row.outcome())
                                : row.reason();
  }
  if (row.max_relative_difference() <= kTolerance) return "";
  return absl::StrFormat("its sum is wrong by %.3g %%",
                         100 * row.max_relative_difference());
}

// Of a program without a row.
Check ExplainNoRow(const std::string& name, const TrialOutcome& outcome,
                   const std::string& platform, absl::Duration limit) {
  if (outcome.is_late && (outcome.waits_at_end || outcome.waited > limit / 2)) {
    return {name, State::kWarn,
            absl::StrCat("waiting took its ", absl::FormatDuration(limit), ": ",
                         outcome.waited_for),
            "run doctor again later"};
  }
  if (absl::IsCancelled(outcome.status) && !outcome.is_late) {
    return {name, State::kWarn, "it was stopped", "run doctor again"};
  }
  if (outcome.is_late && outcome.HasFailedRow()) {
    return {name, State::kWarn, "the other one took the time",
            "see the other check of a program"};
  }
  // One of two is to blame: the one that has no row, or was at work.
  const bool was_at_it =
      (name == kAllReduce) == (outcome.last_started == kAllReduce);
  if (outcome.rows.empty() && !was_at_it) {
    return {name, State::kWarn, "it did not come to its end",
            "see the other check of a program"};
  }
  std::string fault = "it has no result";
  if (!outcome.status.ok()) fault = std::string(outcome.status.message());
  if (outcome.is_late) {
    fault = absl::StrCat("it did not end within ", absl::FormatDuration(limit));
  }
  return {name, State::kFail, fault, FindWayOut(name, platform)};
}

}  // namespace

std::vector<Check> CheckPrograms(
    const v1::DeviceSpec& device,
    const absl::StatusOr<v1::RunnerEvent::Ready>& ready,
    const worker::BatchFunction& run_batch, absl::Duration limit) {
  if (!ready.ok()) {
    return {Check{kProgram, State::kWarn, "no runner started",
                  "see the check of the plugin"}};
  }
  const v1::RunnerRequest request = MakeTrial(device, ready->device_count());
  const TrialOutcome outcome = RunTrial(request, run_batch, limit);
  std::vector<Check> checks;
  for (const v1::Program& program : request.programs()) {
    const std::string& name = program.key();
    const auto row = outcome.rows.find(name);
    if (row == outcome.rows.end()) {
      checks.push_back(ExplainNoRow(name, outcome, device.platform(), limit));
      continue;
    }
    const std::string fault = FindFault(row->second);
    if (!fault.empty()) {
      checks.push_back(
          {name, State::kFail, fault, FindWayOut(name, device.platform())});
      continue;
    }
    checks.push_back({name, State::kOk,
                      absl::StrCat("ran on ", program.num_partitions(), " of ",
                                   ready->device_count(), " devices"),
                      ""});
  }
  return checks;
}

}  // namespace meshwright::cli
