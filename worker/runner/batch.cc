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

v1::ProfileResult Row(const Subject& subject) {
  v1::ProfileResult result;
  result.set_key(subject.program().key());
  result.set_outcome(v1::MEASURED);
  v1::Measurement& measurement = *result.mutable_measurement();
  *measurement.mutable_memory() = subject.memory();
  measurement.mutable_collectives()->Assign(subject.collectives().begin(),
                                            subject.collectives().end());
  measurement.set_compile_ns(absl::ToInt64Nanoseconds(subject.compile_time()));
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
  auto subject = Subject::Load(client_, program);
  if (!subject.ok()) return explain(subject.status());
  events_.Started(program.key(), Started::MEASURE);
  absl::Status fed = (*subject)->Feed(client_, 1);
  if (!fed.ok()) return explain(fed);
  absl::Duration took;
  auto outputs = (*subject)->RunAndRead(took);
  if (!outputs.ok()) return explain(outputs.status());
  reference_ = *std::move(outputs);
  return absl::OkStatus();
}

absl::Status Batch::RunSequences() {
  Subjects subjects = Compile(0, request_.programs_size());
  const devices::ScopedSpin awake(options_.cores);
  RETURN_IF_ERROR(FitCompanions(subjects));
  std::map<std::string, int> numbers;  // of all programs, by key
  for (int i = 0; i < request_.programs_size(); ++i) {
    numbers[request_.programs(i).key()] = i;
  }
  std::vector<Subject*> programs(request_.programs_size());  // null: not there
  for (const auto& subject : subjects) {
    programs[numbers.at(subject->program().key())] = subject.get();
  }
  const int sets = BufferSetsOf(subjects);
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
  for (std::unique_ptr<Subject>& subject : subjects) {
    Entry entry;
    entry.subject = std::move(subject);
    entry.result = Row(*entry.subject);
    const int number = numbers.at(entry.result.key());
    const auto failure = failures.find(number);
    if (failure != failures.end()) {
      events_.Result(Failure(entry.result.key(), v1::CRASHED, failure->second));
      continue;
    }
    if (entry.subject->program().timed_only()) {
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

absl::Status Batch::FitCompanions(Subjects& subjects) {
  int64_t footprint = 0;
  for (const auto& subject : subjects) {
    if (!subject->program().timed_only()) {
      footprint += subject->FootprintBytes();
    }
  }
  if (footprint > options_.memory_bytes) {
    return NeedsTooMuch(footprint, options_.memory_bytes);
  }
  std::erase_if(subjects, [&](const std::unique_ptr<Subject>& subject) {
    if (!subject->program().timed_only()) return false;
    const int64_t needed = subject->FootprintBytes();
    if (footprint + needed <= options_.memory_bytes) {
      footprint += needed;
      return false;
    }
    events_.Result(
        Failure(subject->program().key(), v1::OUT_OF_MEMORY,
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

Batch::Subjects Batch::Compile(int begin, int end) {
  std::vector<std::unique_ptr<Subject>> loaded(end - begin);
  const auto compile = [&](int i) {
    const v1::Program& program = request_.programs(begin + i);
    if (request_.has_sequence() && program.compile_only()) return;
    events_.Started(program.key(), Started::COMPILE);
    auto subject = Subject::Load(client_, program);
    if (subject.ok()) {
      if (program.compile_only()) events_.Result(Row(**subject));
      loaded[i] = *std::move(subject);
    } else {
      events_.Result(
          Failure(program.key(), v1::COMPILE_FAILED, subject.status()));
    }
  };
  base::ParallelFor(end - begin, compile, options_.compile_threads);
  std::erase_if(loaded, [](const std::unique_ptr<Subject>& subject) {
    return subject == nullptr || subject->program().compile_only();
  });
  return loaded;
}

void Batch::MeasureInGroups(Subjects subjects) {
  Subjects group;
  int64_t bytes = 0;
  for (std::unique_ptr<Subject>& subject : subjects) {
    const int64_t needed = subject->FootprintBytes();
    if (needed > options_.memory_bytes) {
      events_.Result(Failure(subject->program().key(), v1::OUT_OF_MEMORY,
                             NeedsTooMuch(needed, options_.memory_bytes)));
      continue;
    }
    if (bytes + needed > options_.memory_bytes && !group.empty()) {
      MeasureGroup(std::exchange(group, {}));
      bytes = 0;
    }
    bytes += needed;
    group.push_back(std::move(subject));
  }
  if (!group.empty()) MeasureGroup(std::move(group));
}

int Batch::BufferSetsOf(const Subjects& subjects) const {
  int64_t footprint = 0;
  int64_t inputs = 0;
  for (const auto& subject : subjects) {
    footprint += subject->FootprintBytes();
    inputs += subject->InputBytes();
  }
  int sets = 1;
  while (sets < kBufferSets &&
         footprint + sets * inputs <= options_.memory_bytes) {
    ++sets;
  }
  return sets;
}

void Batch::MeasureGroup(Subjects subjects) {
  const devices::ScopedSpin awake(options_.cores);
  const int buffer_sets = BufferSetsOf(subjects);
  std::vector<Entry> entries;
  for (std::unique_ptr<Subject>& subject : subjects) {
    Entry& entry = entries.emplace_back();
    entry.subject = std::move(subject);
    entry.result = Row(*entry.subject);
    Prepare(entry, buffer_sets);
  }
  Time(entries);
  for (Entry& entry : entries) {
    if (!entry.failed) events_.Result(entry.result);
  }
}

void Batch::Prepare(Entry& entry, int buffer_sets) {
  Subject& subject = *entry.subject;
  const std::string& key = subject.program().key();
  events_.Started(key, Started::MEASURE);
  absl::Status status = subject.Feed(client_, buffer_sets);
  if (!status.ok()) return Fail(entry, v1::COMPILE_FAILED, status);
  // Once more: making the inputs is not on the program's budget.
  events_.Started(key, Started::MEASURE);
  absl::Duration took;
  const auto outputs = subject.RunAndRead(took);
  if (!outputs.ok()) return Fail(entry, v1::CRASHED, outputs.status());
  if (took > protocol_.time_limit) {
    return Fail(entry, v1::TIMED_OUT,
                absl::DeadlineExceededError(
                    absl::StrCat("one run took ", absl::FormatDuration(took))));
  }
  if (request_.has_reference() && !subject.program().timed_only()) {
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
  Subject& subject = *entry.subject;
  events_.Started(subject.program().key(), Started::MEASURE);
  const absl::Status status = collective_timer_.Learn(
      subject.collectives(), subject.program().num_partitions());
  if (!status.ok()) Fail(entry, v1::CRASHED, status);
}

void Batch::Fail(Entry& entry, v1::Outcome outcome,
                 const absl::Status& status) {
  events_.Result(Failure(entry.subject->program().key(), outcome, status));
  entry.failed = true;
  entry.subject->Release();
}

void Batch::Time(std::vector<Entry>& entries) {
  std::vector<int> sets;
  for (const Entry& entry : entries) {
    sets.push_back(entry.subject->buffer_sets());
  }
  timing::RoundRobin rounds(protocol_, sets);
  if (request_.has_reference()) rounds.EndTogether();
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].failed) rounds.Abandon(static_cast<int>(i));
    if (entries[i].subject->program().timed_only()) {
      rounds.Accompany(static_cast<int>(i));
    }
  }
  while (const auto turn = rounds.Next()) {
    Entry& entry = entries[turn->program];
    const std::string& key = entry.subject->program().key();
    events_.Started(key, Started::MEASURE);
    const auto run = entry.subject->Run(turn->buffer_set);
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
      entry.subject->collectives(), entry.subject->program().num_partitions());
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
