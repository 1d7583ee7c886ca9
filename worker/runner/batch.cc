#include "worker/runner/batch.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "worker/pjrt/element_type.h"
#include "worker/runner/sequence.h"
#include "worker/runner/tensor_values.h"

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

// More than the device has, or more than others leave of it.
absl::Status NeedsTooMuch(int64_t needed, const BatchOptions& options) {
  if (needed > options.device_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the program needs ", needed >> 20, " MiB, the devices have ",
        options.device_bytes >> 20, " MiB"));
  }
  return absl::UnavailableError(
      absl::StrCat("the program needs ", needed >> 20, " MiB, of which ",
                   options.free_bytes >> 20, " MiB are free now"));
}

// What the inputs take of each device at least: every one is split over all.
int64_t CountLeastInputBytes(const v1::Program& program) {
  hlo::HloModuleProto module;
  if (!module.ParseFromString(program.hlo_module())) return 0;
  int64_t bytes = 0;
  for (const hlo::ShapeProto& shape :
       module.host_program_shape().parameters()) {
    bytes += pjrt::CountShapeBytes(shape);
  }
  return bytes / std::max(program.num_partitions(), 1);
}

}  // namespace

absl::Status Batch::Run() {
  if (request_.has_sequence()) return RunSequences();
  if (request_.has_reference()) {
    const absl::Status status = RunReference();
    if (absl::IsResourceExhausted(status)) {
      RefuseReference(status);
      return events_.status();
    }
    RETURN_IF_ERROR(status);
  }
  for (int begin = 0; begin < request_.programs_size(); begin += kPiece) {
    const int end = std::min(begin + kPiece, request_.programs_size());
    MeasureInGroups(Compile(begin, end));
    RETURN_IF_ERROR(events_.status());
  }
  return absl::OkStatus();
}

int Batch::CountPools(const BenchmarkedProgram& loaded) const {
  return options_.devices_share_memory ? 1 : loaded.resident_devices();
}

int64_t Batch::CountFootprint(const BenchmarkedProgram& loaded) const {
  return loaded.FootprintBytes() / CountPools(loaded);
}

absl::Status Batch::RunReference() {
  const v1::Program& program = request_.reference();
  const auto explain = [](const absl::Status& status) {
    return absl::Status(
        status.code(),
        absl::StrCat(absl::IsResourceExhausted(status)
                         ? "the reference run needs more memory than its "
                           "devices have: "
                         : "the reference run: ",
                     status.message()));
  };
  // Nothing of it is timed, but others may time meanwhile.
  const CompilePeriod period(options_.quiet, events_);
  events_.Started(program.key(), Started::COMPILE);
  auto loaded = BenchmarkedProgram::Load(client_, executables_, program);
  if (!loaded.ok()) return explain(loaded.status());
  if (CountFootprint(**loaded) > options_.device_bytes) {
    return explain(NeedsTooMuch(CountFootprint(**loaded), options_));
  }
  events_.Started(program.key(), Started::MEASURE);
  absl::Status uploaded = (*loaded)->UploadInputs(client_, inputs_, 1);
  if (!uploaded.ok()) return explain(uploaded);
  absl::Duration took;
  auto outputs = (*loaded)->RunAndRead(/*for_comparison=*/true, took);
  if (!outputs.ok()) return explain(outputs.status());
  reference_ = *std::move(outputs);
  return absl::OkStatus();
}

void Batch::RefuseReference(const absl::Status& status) {
  for (const v1::Program& program : request_.programs()) {
    v1::ProfileResult row = MakeFailureRow(
        program.key(), v1::TRANSIENT, absl::UnavailableError(status.message()));
    row.set_reference_too_large(true);
    events_.Result(row);
  }
}

absl::Status Batch::RunSequences() {
  BenchmarkedPrograms loaded_programs = Compile(0, request_.programs_size());
  QuietPeriod quiet(options_.quiet, patience_, events_);
  RETURN_IF_ERROR(FitCompanions(loaded_programs));
  std::vector<BenchmarkedProgram*> programs(
      request_.programs_size());  // null: not there
  for (const auto& loaded : loaded_programs) {
    programs[numbers_.at(loaded->program().key())] = loaded.get();
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
  std::vector<TimedProgram> programs_timed;
  for (std::unique_ptr<BenchmarkedProgram>& loaded : loaded_programs) {
    TimedProgram program = Open(std::move(loaded));
    const auto failure = failures.find(program.number);
    if (failure != failures.end()) {
      events_.Result(
          MakeFailureRow(program.result.key(), v1::CRASHED, failure->second));
      continue;
    }
    if (program.loaded->program().timed_only()) {
      Prepare(program, sets);
    } else if (timed.contains(program.number)) {
      Learn(program);
    } else {
      events_.Result(program.result);
      continue;
    }
    if (!program.failed) programs_timed.push_back(std::move(program));
  }
  Time(programs_timed, quiet);
  return absl::OkStatus();
}

absl::Status Batch::FitCompanions(BenchmarkedPrograms& loaded_programs) {
  int64_t footprint = 0;
  for (const auto& loaded : loaded_programs) {
    if (!loaded->program().timed_only()) {
      footprint += CountFootprint(*loaded);
    }
  }
  if (footprint > options_.free_bytes) {
    return NeedsTooMuch(footprint, options_);
  }
  std::erase_if(loaded_programs,
                [&](const std::unique_ptr<BenchmarkedProgram>& loaded) {
                  if (!loaded->program().timed_only()) return false;
                  const int64_t needed = CountFootprint(*loaded);
                  if (footprint + needed <= options_.free_bytes) {
                    footprint += needed;
                    return false;
                  }
                  events_.Result(MakeFailureRow(
                      loaded->program().key(), v1::TRANSIENT,
                      absl::UnavailableError("there is no memory left beside "
                                             "the sequence's programs")));
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
                       ComputeRelativeDifference(*results[i], *reference[i]));
    }
    event.mutable_compared()->add_relative_differences(difference);
  }
  events_.Write(event);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BenchmarkedProgram>> Batch::Load(
    const v1::Program& program) {
  if (!agreement_.is_alone() &&
      program.num_partitions() != client_.device_count()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the program has ", program.num_partitions(),
                     " partitions, and a gang runs it on all of its ",
                     client_.device_count(), " devices"));
  }
  return BenchmarkedProgram::Load(client_, executables_, program);
}

v1::Outcome Batch::FindCompileOutcome(const v1::Program& program,
                                      const absl::Status& status) const {
  const bool may_be_others =
      absl::IsResourceExhausted(status) && !options_.devices_share_memory &&
      CountLeastInputBytes(program) <= options_.device_bytes;
  return may_be_others ? v1::CRASHED : v1::COMPILE_FAILED;
}

Batch::BenchmarkedPrograms Batch::Compile(int begin, int end) {
  const CompilePeriod period(options_.quiet, events_);
  std::vector<std::unique_ptr<BenchmarkedProgram>> compiled(end - begin);
  std::vector<absl::Status> statuses(end - begin);
  const auto report = [&](int i) {
    const v1::Program& program = request_.programs(begin + i);
    if (!statuses[i].ok()) {
      events_.Result(MakeFailureRow(program.key(),
                                    FindCompileOutcome(program, statuses[i]),
                                    statuses[i]));
      compiled[i] = nullptr;
    } else if (program.compile_only()) {
      events_.Result(Row(*compiled[i]));
    }
  };
  const auto compile = [&](int i) {
    const v1::Program& program = request_.programs(begin + i);
    if (request_.has_sequence() && program.compile_only()) return;
    events_.Started(program.key(), Started::COMPILE);
    auto loaded = Load(program);
    if (options_.progress != nullptr) options_.progress->EndCompile();
    statuses[i] = loaded.status();
    if (loaded.ok()) compiled[i] = *std::move(loaded);
    if (agreement_.is_alone()) report(i);
  };
  base::ParallelFor(end - begin, compile, options_.compile_threads);
  for (int i = 0; i < end - begin && !agreement_.is_alone(); ++i) {
    statuses[i] = agreement_.Agree(statuses[i]);
    report(i);
  }
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
    // The members of a gang cut their programs into the same groups.
    const auto least = agreement_.FindSmallest(-CountFootprint(*loaded));
    if (!least.ok()) return;  // the gang is over
    const int64_t needed = -*least;
    if (needed > options_.free_bytes) {
      events_.Result(MakeFailureRow(loaded->program().key(), v1::TRANSIENT,
                                    NeedsTooMuch(needed, options_)));
      continue;
    }
    if (bytes + needed > options_.free_bytes && !group.empty()) {
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
    footprint += CountFootprint(*loaded);
    inputs += loaded->InputBytes() / CountPools(*loaded);
  }
  int sets = 1;
  while (sets < kBufferSets &&
         footprint + sets * inputs <= options_.free_bytes) {
    ++sets;
  }
  return sets;
}

TimedProgram Batch::Open(std::unique_ptr<BenchmarkedProgram> loaded) {
  TimedProgram program;
  program.loaded = std::move(loaded);
  program.result = Row(*program.loaded);
  program.number = numbers_.at(program.result.key());
  return program;
}

void Batch::MeasureGroup(BenchmarkedPrograms loaded_programs) {
  QuietPeriod quiet(options_.quiet, patience_, events_);
  const int buffer_sets = ChooseBufferSets(loaded_programs);
  std::vector<TimedProgram> programs;
  for (std::unique_ptr<BenchmarkedProgram>& loaded : loaded_programs) {
    programs.push_back(Open(std::move(loaded)));
    Prepare(programs.back(), buffer_sets);
  }
  Time(programs, quiet);
}

void Batch::Prepare(TimedProgram& program, int buffer_sets) {
  BenchmarkedProgram& loaded = *program.loaded;
  const std::string& key = loaded.program().key();
  events_.Started(key, Started::MEASURE);
  absl::Status status =
      agreement_.Agree(loaded.UploadInputs(client_, inputs_, buffer_sets));
  if (!status.ok()) {
    return Fail(
        program,
        absl::IsInvalidArgument(status) ? v1::COMPILE_FAILED : v1::CRASHED,
        status);
  }
  // Once more: making the inputs is not on the program's budget.
  events_.Started(key, Started::MEASURE);
  absl::Duration took;
  const bool compared =
      request_.has_reference() && !loaded.program().timed_only();
  const auto outputs = loaded.RunAndRead(compared, took);
  absl::StatusOr<timing::Sample> run = timing::Sample{took, took};
  if (!outputs.ok()) run = outputs.status();
  run = agreement_.Agree(run);
  if (!run.ok()) return Fail(program, v1::CRASHED, run.status());
  if (run->wall > protocol_.time_limit) {
    return Fail(program, v1::TIMED_OUT,
                absl::DeadlineExceededError(absl::StrCat(
                    "one run took ", absl::FormatDuration(run->wall))));
  }
  if (compared) {
    const auto difference = runner::Compare(*outputs, reference_);
    if (!difference.ok())
      return Fail(program, v1::CRASHED, difference.status());
    program.result.set_max_relative_difference(difference->largest);
    program.result.set_worst_output(difference->worst_output);
    program.result.mutable_output_relative_differences()->Assign(
        difference->relative.begin(), difference->relative.end());
  }
  Learn(program);
}

void Batch::Learn(TimedProgram& program) {
  BenchmarkedProgram& loaded = *program.loaded;
  events_.Started(loaded.program().key(), Started::MEASURE);
  // A collector tells; those of a device that is alone are estimated.
  if (options_.kernels != nullptr || client_.is_solo() ||
      !agreement_.is_alone()) {
    return;
  }
  const absl::Status status = collective_timer_.Learn(
      loaded.collectives(), loaded.program().num_partitions(), [&] {
        if (options_.progress != nullptr) {
          options_.progress->BeginRun(program.number);
        }
      });
  if (options_.progress != nullptr) options_.progress->EndRuns();
  // Once more: the collectives had time of their own.
  events_.Started(loaded.program().key(), Started::MEASURE);
  if (!status.ok()) Fail(program, v1::CRASHED, status);
}

void Batch::Fail(TimedProgram& program, v1::Outcome outcome,
                 const absl::Status& status) {
  events_.Result(
      MakeFailureRow(program.loaded->program().key(), outcome, status));
  program.failed = true;
  program.loaded->Release();
}

const Anchors* Batch::GetAnchors() {
  // An accelerator's sensors tell how fast it was; a small program launched
  // from the host would tell of the host.
  if (options_.kernels != nullptr) return nullptr;
  if (!std::exchange(anchors_tried_, true)) {
    auto anchors = Anchors::Load(client_, client_.resident_count());
    const bool is_agreed = agreement_.Agree(anchors.status()).ok();
    if (is_agreed) anchors_ = *std::move(anchors);
  }
  return anchors_.get();
}

void Batch::Time(std::vector<TimedProgram>& programs, QuietPeriod& quiet) {
  const TimingContext context{.protocol = protocol_,
                              .collectives = collective_timer_,
                              .events = events_,
                              .agreement = agreement_,
                              .anchors = GetAnchors(),
                              .progress = options_.progress,
                              .caches = options_.caches,
                              .sensors = options_.sensors,
                              .kernels = options_.kernels,
                              .machine_notes = options_.machine_notes,
                              .device_id = client_.device_name(),
                              .protocol_version = request_.options().version()};
  quiet.Begin();
  GroupTiming(context, quiet, programs).Run(request_.has_reference());
}

}  // namespace meshwright::worker::runner
