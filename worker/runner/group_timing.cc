#include "worker/runner/group_timing.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "worker/collect/kernel_times.h"
#include "worker/devices/machine.h"
#include "worker/timing/launch.h"
#include "worker/timing/quality.h"
#include "worker/timing/sample_set.h"

namespace meshwright::worker::runner {
namespace {

// Executions of a sample where each is run as a step runs it, with its data out
// of the caches: a sweep takes longer than a short program.
constexpr int kMostSwept = 4;

}  // namespace

v1::ProfileResult MakeFailureRow(const std::string& key, v1::Outcome outcome,
                                 const absl::Status& status) {
  v1::ProfileResult result;
  result.set_key(key);
  if (absl::IsResourceExhausted(status)) {
    outcome = outcome == v1::CRASHED ? v1::TRANSIENT : v1::OUT_OF_MEMORY;
  }
  result.set_outcome(outcome);
  result.set_reason(std::string(status.message()));
  return result;
}

void GroupTiming::Run(bool together) {
  const int count = static_cast<int>(programs_.size());
  std::vector<int> sets;
  for (const TimedProgram& program : programs_) {
    sets.push_back(program.failed ? 1 : program.loaded->buffer_sets());
  }
  const int anchors =
      context_.anchors == nullptr ? 0 : context_.anchors->count();
  sets.resize(count + anchors, 1);
  timing::RoundRobin rounds(context_.protocol, sets);
  if (together) rounds.EndTogether();
  // Alone they accompany nothing, and would end after one run.
  const bool has_others = std::any_of(
      programs_.begin(), programs_.end(), [](const TimedProgram& it) {
        return !it.failed && !it.loaded->program().timed_only();
      });
  for (int i = 0; i < count; ++i) {
    if (programs_[i].failed) {
      rounds.Abandon(i);
    } else if (has_others && programs_[i].loaded->program().timed_only()) {
      rounds.Accompany(i);
    }
  }
  for (int i = count; i < count + anchors; ++i) rounds.Accompany(i);
  if (context_.caches != nullptr) {
    for (int i = 0; i < count; ++i) rounds.ExecuteAtMost(i, kMostSwept);
  }
  // As a step is launched: once, with nothing in the caches.
  if (anchors > 0) rounds.ExecuteAtMost(count + Anchors::kLaunch, 1);
  while (const auto turn = rounds.Next()) {
    const absl::Status status = RunTurn(rounds, *turn);
    if (!status.ok()) {
      rounds.Abandon(turn->program);
      if (turn->program < count) {
        Fail(programs_[turn->program], v1::CRASHED, status);
      }
    }
    // Collecting disturbs what is timed after it.
    for (const int finished : rounds.TakeFinished()) {
      if (context_.kernels == nullptr) WriteRow(rounds, finished);
    }
  }
  if (context_.kernels != nullptr) {
    around_ = quiet_.LookAround();
    WatchKernels();
  }
  if (context_.progress != nullptr) context_.progress->EndRuns();
  for (int i = 0; i < count; ++i) WriteRow(rounds, i);
}

absl::Status GroupTiming::RunTurn(timing::RoundRobin& rounds,
                                  const timing::Turn& turn) {
  const int count = static_cast<int>(programs_.size());
  const bool sweeps = context_.caches != nullptr && !turn.warm_up;
  const auto run_once = [&](int set) -> absl::StatusOr<timing::Sample> {
    if (sweeps) context_.caches->Run();
    absl::StatusOr<pjrt::Execution> run;
    if (turn.program >= count) {
      if (context_.progress != nullptr) context_.progress->BeginOtherRun();
      run = context_.anchors->Run(turn.program - count);
    } else {
      TimedProgram& program = programs_[turn.program];
      if (context_.progress != nullptr) {
        context_.progress->BeginRun(program.number);
      }
      run = program.loaded->Run(set);
    }
    RETURN_IF_ERROR(run.status());
    return timing::Sample{run->wall_time, run->cpu_time};
  };
  return rounds.Execute(
      run_once, [&](const auto& own) { return context_.agreement.Agree(own); });
}

void GroupTiming::WatchKernels() {
  for (TimedProgram& program : programs_) {
    if (program.failed) continue;
    v1::Measurement& measurement = *program.result.mutable_measurement();
    const absl::Status status = context_.kernels->Watch(
        [&](int run) {
          if (context_.progress != nullptr) {
            context_.progress->BeginRun(program.number);
          }
          return context_.agreement.Agree(
              program.loaded->Run(run % program.loaded->buffer_sets())
                  .status());
        },
        program.loaded->collective_names(), measurement);
    if (!status.ok()) {
      Fail(program, v1::CRASHED, status);
      continue;
    }
    // The device still feels the runs.
    if (context_.sensors != nullptr) {
      *measurement.mutable_sensors() = context_.sensors->Read();
    }
  }
}

void GroupTiming::Fail(TimedProgram& program, v1::Outcome outcome,
                       const absl::Status& status) {
  context_.events.Result(MakeFailureRow(program.result.key(), outcome, status));
  program.failed = true;
  program.loaded->Release();
}

void GroupTiming::WriteRow(const timing::RoundRobin& rounds, int number) {
  TimedProgram& program = programs_[number];
  // Finished ones are written already, and marked so by their times.
  v1::Measurement& measurement = *program.result.mutable_measurement();
  if (program.failed || measurement.minimum_ns() > 0) return;
  const timing::Summary summary = rounds.Summarize(number);
  if (summary.kept.empty()) {
    return Fail(program, v1::TIMED_OUT,
                absl::DeadlineExceededError(absl::StrCat(
                    "warming up took all of the program's ",
                    absl::FormatDuration(context_.protocol.time_limit))));
  }
  measurement.set_minimum_ns(absl::ToInt64Nanoseconds(summary.minimum));
  measurement.set_median_ns(absl::ToInt64Nanoseconds(summary.median));
  measurement.set_time_ns(absl::ToInt64Nanoseconds(summary.low));
  measurement.set_mad_ns(absl::ToInt64Nanoseconds(summary.mad));
  for (const absl::Duration sample : summary.kept) {
    measurement.add_samples_ns(absl::ToInt64Nanoseconds(sample));
  }
  measurement.set_dropped_samples(summary.dropped);
  measurement.set_passes(rounds.passes(number));
  measurement.set_executions_per_sample(rounds.executions(number));
  timing::Surroundings around =
      around_.has_value() ? *around_ : quiet_.LookAround();
  around.throttled |= devices::IsThrottled(measurement.sensors());
  timing::JudgeQuality(summary, context_.protocol, around, measurement);
  timing::TakeOutLaunch(FindLaunch(rounds, measurement), measurement);
  measurement.set_device_id(context_.device_id);
  measurement.set_protocol_version(context_.protocol_version);
  AddAnchors(rounds, measurement);
  AddCollectives(*program.loaded, measurement);
  context_.events.Result(program.result);
}

absl::Duration GroupTiming::FindLaunch(
    const timing::RoundRobin& rounds,
    const v1::Measurement& measurement) const {
  if (context_.kernels != nullptr) {
    return absl::Nanoseconds(collect::FindLaunch(measurement));
  }
  if (context_.anchors == nullptr) return absl::ZeroDuration();
  const int count = static_cast<int>(programs_.size());
  const timing::Summary launches = rounds.Summarize(count + Anchors::kLaunch);
  // Without a sweep the executions of a sample are many, and come warm.
  const auto launch =
      context_.caches == nullptr
          ? launches.low
          : timing::FindLowOfMeans(launches.kept,
                                   measurement.executions_per_sample());
  return timing::LimitLaunch(launch, measurement);
}

void GroupTiming::AddAnchors(const timing::RoundRobin& rounds,
                             v1::Measurement& measurement) const {
  if (context_.anchors == nullptr) return;
  const int count = static_cast<int>(programs_.size());
  for (int i = 0; i < context_.anchors->count(); ++i) {
    const timing::Summary summary = rounds.Summarize(count + i);
    if (summary.kept.empty()) continue;
    v1::AnchorTime& anchor = *measurement.add_anchors();
    anchor.set_name(context_.anchors->name(i));
    anchor.set_minimum_ns(absl::ToInt64Nanoseconds(summary.minimum));
    anchor.set_median_ns(absl::ToInt64Nanoseconds(summary.median));
    anchor.set_time_ns(absl::ToInt64Nanoseconds(summary.low));
  }
}

void GroupTiming::AddCollectives(const BenchmarkedProgram& loaded,
                                 v1::Measurement& measurement) const {
  CollectiveTimer::Communication communication;
  if (context_.kernels == nullptr) {
    communication = context_.collectives.Sum(loaded.collectives(),
                                             loaded.program().num_partitions());
  } else {
    communication.total =
        absl::Nanoseconds(collect::FindExposedCommunication(measurement));
  }
  const int64_t communication_ns = std::min(
      absl::ToInt64Nanoseconds(communication.total), measurement.time_ns());
  measurement.set_communication_ns(communication_ns);
  measurement.set_compute_ns(measurement.time_ns() - communication_ns);
  std::string state =
      absl::StrCat(devices::DescribeState(), context_.machine_notes);
  if (!communication.left_out.empty()) {
    absl::StrAppend(&state, "; communication leaves out ",
                    absl::StrJoin(communication.left_out, ", "));
  }
  measurement.set_device_state(std::move(state));
}

}  // namespace meshwright::worker::runner
