#include "worker/runner/batch.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "worker/devices/machine.h"
#include "worker/runner/sequence.h"
#include "worker/runner/tensor_values.h"
#include "worker/timing/round_robin.h"

namespace meshwright::worker::runner {
namespace {

using Started = v1::RunnerEvent::Started;

// Programs compiled, then timed, together: a whole layer's configurations, so
// that a slow period of the machine meets some passes of all of them instead of
// all passes of some.
constexpr int kPiece = 128;
constexpr int kBufferSets = 3;

v1::ProfileResult Row(const BenchmarkedProgram& loaded) {
  v1::ProfileResult result;
  result.set_key(loaded.program().key());
  result.set_outcome(v1::MEASURED);
  v1::Measurement& measurement = *result.mutable_measurement();
  *measurement.mutable_memory() = loaded.memory();
  measurement.mutable_collectives()->Assign(loaded.collectives().begin(),
                                            loaded.collectives().end());
  measurement.set_compile_ns(absl::ToInt64Nanoseconds(loaded.compile_time()));
  return result;
}

v1::ProfileResult Failure(const std::string& key, v1::Outcome outcome,
                          const absl::Status& status) {
  v1::ProfileResult result;
  result.set_key(key);
  result.set_outcome(absl::IsResourceExhausted(status) ? v1::OUT_OF_MEMORY
                                                       : outcome);
  result.set_reason(std::string(status.message()));
  return result;
}

absl::Status NeedsTooMuch(int64_t needed, int64_t available) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the program needs ", needed >> 20, " MiB, ",
                   available >> 20, " MiB are free"));
}

}  // namespace

absl::Status Batch::Run() {
  if (request_.has_sequence()) return RunSequences();
  if (request_.has_reference()) RETURN_IF_ERROR(RunReference());
  for (int begin = 0; begin < request_.programs_size(); begin += kPiece) {
    const int end = std::min(begin + kPiece, request_.programs_size());
    MeasureInGroups(Compile(begin, end));
    RETURN_IF_ERROR(events_.status());
  }
  return absl::OkStatus();
}

absl::Status Batch::RunReference() {
  const v1::Program& program = request_.reference();
  const auto explain = [](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat("the reference run: ", status.message()));
  };
  events_.Started(program.key(), Started::COMPILE);
  auto loaded = BenchmarkedProgram::Load(client_, program);
  if (!loaded.ok()) return explain(loaded.status());
  events_.Started(program.key(), Started::MEASURE);
  absl::Status uploaded = (*loaded)->UploadInputs(client_, 1);
  if (!uploaded.ok()) return explain(uploaded);
  absl::Duration took;
  auto outputs = (*loaded)->RunAndRead(took);
  if (!outputs.ok()) return explain(outputs.status());
  reference_ = *std::move(outputs);
  return absl::OkStatus();
}

absl::Status Batch::RunSequences() {
  BenchmarkedPrograms loaded_programs = Compile(0, request_.programs_size());
  const devices::ScopedSpin awake(options_.cores);
  RETURN_IF_ERROR(FitCompanions(loaded_programs));
  std::map<std::string, int> numbers;  // of all programs, by key
  for (int i = 0; i < request_.programs_size(); ++i) {
    numbers[request_.programs(i).key()] = i;
  }
  std::vector<BenchmarkedProgram*> programs(
      request_.programs_size());  // null: not there
  for (const auto& loaded : loaded_programs) {
    programs[numbers.at(loaded->program().key())] = loaded.get();
  }
  const int sets = ChooseBufferSets(loaded_programs);
  ASSIGN_OR_RETURN(const SequenceRun reference,
                   RunSequence(request_.reference_sequence(), client_, 1,
                               programs, events_));
  ASSIGN_OR_RETURN(
      const SequenceRun run,
      RunSequence(request_.sequence(), client_, sets, programs, events_));
  RETURN_IF_ERROR(Compare(run.results, reference.results));
  std::map<int, absl::Status> failures = run.failures;
  failures.insert(reference.failures.begin(), reference.failures.end());
  std::set<int> timed;
  for (const auto& call : request_.sequence().calls()) {
    timed.insert(call.program());
  }
  std::vector<Entry> entries;
  for (std::unique_ptr<BenchmarkedProgram>& loaded : loaded_programs) {
    Entry entry;
    entry.loaded = std::move(loaded);
    entry.result = Row(*entry.loaded);
    const int number = numbers.at(entry.result.key());
    const auto failure = failures.find(number);
    if (failure != failures.end()) {
      events_.Result(Failure(entry.result.key(), v1::CRASHED, failure->second));
      continue;
    }
    if (entry.loaded->program().timed_only()) {
      Prepare(entry, sets);
    } else if (timed.contains(number)) {
      Learn(entry);
    } else {
      events_.Result(entry.result);
      continue;
    }
    if (!entry.failed) entries.push_back(std::move(entry));
  }
  Time(entries);
  for (Entry& entry : entries) {
    if (!entry.failed) events_.Result(entry.result);
  }
  return absl::OkStatus();
}

absl::Status Batch::FitCompanions(BenchmarkedPrograms& loaded_programs) {
  int64_t footprint = 0;
  for (const auto& loaded : loaded_programs) {
    if (!loaded->program().timed_only()) {
      footprint += loaded->FootprintBytes();
    }
  }
  if (footprint > options_.memory_bytes) {
    return NeedsTooMuch(footprint, options_.memory_bytes);
  }
  std::erase_if(
      loaded_programs, [&](const std::unique_ptr<BenchmarkedProgram>& loaded) {
        if (!loaded->program().timed_only()) return false;
        const int64_t needed = loaded->FootprintBytes();
        if (footprint + needed <= options_.memory_bytes) {
          footprint += needed;
          return false;
        }
        events_.Result(
            Failure(loaded->program().key(), v1::OUT_OF_MEMORY,
                    NeedsTooMuch(needed, options_.memory_bytes - footprint)));
        return true;
      });
  return absl::OkStatus();
}

absl::Status Batch::Compare(
    const std::vector<std::optional<pjrt::HostArray>>& results,
    const std::vector<std::optional<pjrt::HostArray>>& reference) {
  if (results.size() != reference.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the sequence has ", results.size(),
                     " results, the reference ", reference.size()));
  }
  v1::RunnerEvent event;
  for (size_t i = 0; i < results.size(); ++i) {
    double difference = std::numeric_limits<double>::quiet_NaN();
    if (results[i].has_value() && reference[i].has_value()) {
      ASSIGN_OR_RETURN(difference,
                       RelativeDifference(*results[i], *reference[i]));
    }
    event.mutable_compared()->add_relative_differences(difference);
  }
  events_.Write(event);
  return absl::OkStatus();
}

Batch::BenchmarkedPrograms Batch::Compile(int begin, int end) {
  std::vector<std::unique_ptr<BenchmarkedProgram>> compiled(end - begin);
  const auto compile = [&](int i) {
    const v1::Program& program = request_.programs(begin + i);
    if (request_.has_sequence() && program.compile_only()) return;
    events_.Started(program.key(), Started::COMPILE);
    auto loaded = BenchmarkedProgram::Load(client_, program);
    if (loaded.ok()) {
      if (program.compile_only()) events_.Result(Row(**loaded));
      compiled[i] = *std::move(loaded);
    } else {
      events_.Result(
          Failure(program.key(), v1::COMPILE_FAILED, loaded.status()));
    }
  };
  base::ParallelFor(end - begin, compile, options_.compile_threads);
  std::erase_if(compiled,
                [](const std::unique_ptr<BenchmarkedProgram>& loaded) {
                  return loaded == nullptr || loaded->program().compile_only();
                });
  return compiled;
}

void Batch::MeasureInGroups(BenchmarkedPrograms loaded_programs) {
  BenchmarkedPrograms group;
  int64_t bytes = 0;
  for (std::unique_ptr<BenchmarkedProgram>& loaded : loaded_programs) {
    const int64_t needed = loaded->FootprintBytes();
    if (needed > options_.memory_bytes) {
      events_.Result(Failure(loaded->program().key(), v1::OUT_OF_MEMORY,
                             NeedsTooMuch(needed, options_.memory_bytes)));
      continue;
    }
    if (bytes + needed > options_.memory_bytes && !group.empty()) {
      MeasureGroup(std::exchange(group, {}));
      bytes = 0;
    }
    bytes += needed;
    group.push_back(std::move(loaded));
  }
  if (!group.empty()) MeasureGroup(std::move(group));
}

int Batch::ChooseBufferSets(const BenchmarkedPrograms& loaded_programs) const {
  int64_t footprint = 0;
  int64_t inputs = 0;
  for (const auto& loaded : loaded_programs) {
    footprint += loaded->FootprintBytes();
    inputs += loaded->InputBytes();
  }
  int sets = 1;
  while (sets < kBufferSets &&
         footprint + sets * inputs <= options_.memory_bytes) {
    ++sets;
  }
  return sets;
}

void Batch::MeasureGroup(BenchmarkedPrograms loaded_programs) {
  const devices::ScopedSpin awake(options_.cores);
  const int buffer_sets = ChooseBufferSets(loaded_programs);
  std::vector<Entry> entries;
  for (std::unique_ptr<BenchmarkedProgram>& loaded : loaded_programs) {
    Entry& entry = entries.emplace_back();
    entry.loaded = std::move(loaded);
    entry.result = Row(*entry.loaded);
    Prepare(entry, buffer_sets);
  }
  Time(entries);
  for (Entry& entry : entries) {
    if (!entry.failed) events_.Result(entry.result);
  }
}

void Batch::Prepare(Entry& entry, int buffer_sets) {
  BenchmarkedProgram& loaded = *entry.loaded;
  const std::string& key = loaded.program().key();
  events_.Started(key, Started::MEASURE);
  absl::Status status = loaded.UploadInputs(client_, buffer_sets);
  if (!status.ok()) return Fail(entry, v1::COMPILE_FAILED, status);
  // Once more: making the inputs is not on the program's budget.
  events_.Started(key, Started::MEASURE);
  absl::Duration took;
  const auto outputs = loaded.RunAndRead(took);
  if (!outputs.ok()) return Fail(entry, v1::CRASHED, outputs.status());
  if (took > protocol_.time_limit) {
    return Fail(entry, v1::TIMED_OUT,
                absl::DeadlineExceededError(
                    absl::StrCat("one run took ", absl::FormatDuration(took))));
  }
  if (request_.has_reference() && !loaded.program().timed_only()) {
    const auto difference = runner::Compare(*outputs, reference_);
    if (!difference.ok()) return Fail(entry, v1::CRASHED, difference.status());
    entry.result.set_max_relative_difference(difference->largest);
    entry.result.set_worst_output(difference->worst_output);
    entry.result.mutable_output_relative_differences()->Assign(
        difference->relative.begin(), difference->relative.end());
  }
  Learn(entry);
}

void Batch::Learn(Entry& entry) {
  BenchmarkedProgram& loaded = *entry.loaded;
  events_.Started(loaded.program().key(), Started::MEASURE);
  const absl::Status status = collective_timer_.Learn(
      loaded.collectives(), loaded.program().num_partitions());
  if (!status.ok()) Fail(entry, v1::CRASHED, status);
}

void Batch::Fail(Entry& entry, v1::Outcome outcome,
                 const absl::Status& status) {
  events_.Result(Failure(entry.loaded->program().key(), outcome, status));
  entry.failed = true;
  entry.loaded->Release();
}

void Batch::Time(std::vector<Entry>& entries) {
  std::vector<int> sets;
  for (const Entry& entry : entries) {
    sets.push_back(entry.loaded->buffer_sets());
  }
  timing::RoundRobin rounds(protocol_, sets);
  if (request_.has_reference()) rounds.EndTogether();
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].failed) rounds.Abandon(static_cast<int>(i));
    if (entries[i].loaded->program().timed_only()) {
      rounds.Accompany(static_cast<int>(i));
    }
  }
  while (const auto turn = rounds.Next()) {
    Entry& entry = entries[turn->program];
    const std::string& key = entry.loaded->program().key();
    events_.Started(key, Started::MEASURE);
    const auto run = entry.loaded->Run(turn->buffer_set);
    if (run.ok()) {
      rounds.Record({run->wall_time, run->cpu_time});
      continue;
    }
    Fail(entry, v1::CRASHED, run.status());
    rounds.Abandon(turn->program);
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    if (entry.failed) continue;
    const timing::Summary summary = rounds.Summarize(static_cast<int>(i));
    if (summary.kept.empty()) {
      events_.Result(Failure(entry.result.key(), v1::TIMED_OUT,
                             absl::DeadlineExceededError(absl::StrCat(
                                 "warming up took all of the program's ",
                                 absl::FormatDuration(protocol_.time_limit)))));
      entry.failed = true;
      continue;
    }
    v1::Measurement& measurement = *entry.result.mutable_measurement();
    measurement.set_minimum_ns(absl::ToInt64Nanoseconds(summary.minimum));
    measurement.set_median_ns(absl::ToInt64Nanoseconds(summary.median));
    measurement.set_mad_ns(absl::ToInt64Nanoseconds(summary.mad));
    for (const absl::Duration sample : summary.kept) {
      measurement.add_samples_ns(absl::ToInt64Nanoseconds(sample));
    }
    measurement.set_dropped_samples(summary.dropped);
    measurement.set_passes(rounds.passes(static_cast<int>(i)));
    TimeCollectives(entry);
  }
}

void Batch::TimeCollectives(Entry& entry) {
  v1::Measurement& measurement = *entry.result.mutable_measurement();
  const CollectiveTimer::Communication communication = collective_timer_.Sum(
      entry.loaded->collectives(), entry.loaded->program().num_partitions());
  const int64_t communication_ns = std::min(
      absl::ToInt64Nanoseconds(communication.total), measurement.minimum_ns());
  measurement.set_communication_ns(communication_ns);
  measurement.set_compute_ns(measurement.minimum_ns() - communication_ns);
  std::string state = devices::DescribeState();
  if (options_.cores != nullptr) {
    absl::StrAppend(&state, ", ", options_.cores->count(), " cores kept awake");
  }
  absl::StrAppend(&state, ", allocator ", options_.allocator);
  if (!communication.left_out.empty()) {
    absl::StrAppend(&state, "; communication leaves out ",
                    absl::StrJoin(communication.left_out, ", "));
  }
  measurement.set_device_state(std::move(state));
}

}  // namespace meshwright::worker::runner
